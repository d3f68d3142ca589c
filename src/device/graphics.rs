//! Graphics processors through wgpu.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use burn::tensor::wgpu::wgpu::DeviceType;
use burn::tensor::wgpu::{WgpuBackend, WgpuInitError, WgpuSetup};
use burn::tensor::{Device, DeviceKind as AdapterKind};

use super::{Adapter, DeviceKind, Limits, Opened, missing};
use crate::error::Result;

/// What has been opened: burn starts each adapter once in a process.
static OPENED: LazyLock<Mutex<HashMap<(DeviceKind, AdapterKind), Opened>>> = LazyLock::new(Mutex::default);

/// The adapter at a place, or the one that the driver likes best.
pub(super) fn open(kind: DeviceKind, place: Option<usize>) -> Result<Opened> {
    match place {
        None => start(kind, AdapterKind::DefaultDevice).map_err(|why| match why {
            WgpuInitError::AdapterUnavailable { .. } => missing(kind, "no graphics adapter was found"),
            // Of a long message the first line says it.
            other => missing(kind, other.to_string().lines().next().unwrap_or_default()),
        }),
        Some(place) => adapters(kind)
            .nth(place)
            .ok_or_else(|| missing(kind, &format!("there is no graphics adapter {place}"))),
    }
}

/// All adapters that answer, the fastest sort first; last the program that plays one.
fn adapters(kind: DeviceKind) -> impl Iterator<Item = Opened> {
    let sorts = [AdapterKind::DiscreteGpu, AdapterKind::IntegratedGpu, AdapterKind::VirtualGpu];
    let of_sort = move |sort: fn(usize) -> AdapterKind| (0..).map_while(move |i| start(kind, sort(i)).ok());
    sorts
        .into_iter()
        .flat_map(of_sort)
        .chain(std::iter::once_with(move || start(kind, AdapterKind::Cpu).ok()).flatten())
}

fn start(kind: DeviceKind, which: AdapterKind) -> std::result::Result<Opened, WgpuInitError> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = opened.get(&(kind, which.clone())) {
        return Ok(known.clone());
    }
    let options = Device::wgpu_options().device_kind(which.clone()).graphics_api(api(kind));
    let (device, setup) = options.init_with_setup()?;
    let new = Opened { kind, device, adapter: Some(adapter(&setup)) };
    opened.insert((kind, which), new.clone());
    Ok(new)
}

fn api(kind: DeviceKind) -> WgpuBackend {
    match kind {
        #[cfg(feature = "vulkan")]
        DeviceKind::Vulkan => WgpuBackend::Vulkan,
        #[cfg(feature = "metal")]
        DeviceKind::Metal => WgpuBackend::Metal,
        _ => WgpuBackend::Auto,
    }
}

fn adapter(setup: &WgpuSetup) -> Adapter {
    let (info, limits) = (setup.adapter.get_info(), setup.device.limits());
    Adapter {
        name: info.name,
        api: format!("{:?}", info.backend),
        software: info.device_type == DeviceType::Cpu,
        limits: Limits {
            tensor_bytes: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size),
            products: u64::from(limits.max_compute_workgroups_per_dimension),
        },
    }
}
