//! Graphics processors through wgpu.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use burn::tensor::wgpu::wgpu::DeviceType as AdapterSort;
use burn::tensor::wgpu::{WgpuBackend, WgpuInitError, WgpuSetup};
use burn::tensor::{Device, DeviceKind as AdapterKind, DeviceType};

use super::{Adapter, DeviceKind, Limits, Opened, missing};
use crate::error::Result;

/// What has been opened: burn starts each adapter once in a process.
static OPENED: LazyLock<Mutex<HashMap<(DeviceKind, AdapterKind), Opened>>> = LazyLock::new(Mutex::default);

/// The adapter at a place of [`adapters`], or the one that the driver likes best.
pub(super) fn open(kind: DeviceKind, place: Option<usize>) -> Result<Opened> {
    match (place, place.and_then(|place| adapters(kind).into_iter().nth(place))) {
        // What the driver can't classify is in no list and still works.
        (None | Some(0), None) => start(kind, AdapterKind::DefaultDevice),
        (Some(place), None) => Err(missing(kind, &format!("there is no graphics adapter {place}"))),
        (_, Some(adapter)) => start(kind, adapter),
    }
}

/// How many adapters there are.
pub(super) fn count(kind: DeviceKind) -> usize {
    adapters(kind).len()
}

/// How many of the first ones are hardware of the same sort, for processes to take one each.
pub(super) fn alike(kind: DeviceKind) -> usize {
    let listed = adapters(kind);
    let first = listed.first().map(std::mem::discriminant);
    let alike = listed.iter().take_while(|&adapter| Some(std::mem::discriminant(adapter)) == first).count();
    if listed.first() == Some(&AdapterKind::Cpu) { 0 } else { alike }
}

/// The adapters that the system lists, the fastest sort first; last the program that plays one. None of them is started.
fn adapters(kind: DeviceKind) -> Vec<AdapterKind> {
    let listed: Vec<Device> = Device::enumerate(listing(kind)).into_iter().collect();
    let is_listed = |adapter: &AdapterKind| listed.contains(&device(kind, adapter.clone()));
    let sorts = [AdapterKind::DiscreteGpu, AdapterKind::IntegratedGpu, AdapterKind::VirtualGpu];
    let hardware = sorts.into_iter().flat_map(|sort| (0..).map(sort).take_while(is_listed).collect::<Vec<_>>());
    hardware.chain(Some(AdapterKind::Cpu).filter(is_listed)).collect()
}

fn start(kind: DeviceKind, which: AdapterKind) -> Result<Opened> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = opened.get(&(kind, which.clone())) {
        return Ok(known.clone());
    }
    let options = Device::wgpu_options().device_kind(which.clone()).graphics_api(api(kind));
    let (device, setup) = options.init_with_setup().map_err(|why| match why {
        WgpuInitError::AdapterUnavailable { .. } => missing(kind, "no graphics adapter was found"),
        // Of a long message the first line says it.
        other => missing(kind, other.to_string().lines().next().unwrap_or_default()),
    })?;
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

fn listing(kind: DeviceKind) -> DeviceType {
    match kind {
        #[cfg(feature = "vulkan")]
        DeviceKind::Vulkan => DeviceType::Vulkan,
        #[cfg(feature = "metal")]
        DeviceKind::Metal => DeviceType::Metal,
        _ => DeviceType::Wgpu,
    }
}

/// The handle of an adapter, which starts nothing.
fn device(kind: DeviceKind, adapter: AdapterKind) -> Device {
    match kind {
        #[cfg(feature = "vulkan")]
        DeviceKind::Vulkan => Device::vulkan(adapter),
        #[cfg(feature = "metal")]
        DeviceKind::Metal => Device::metal(adapter),
        _ => Device::wgpu(adapter),
    }
}

fn adapter(setup: &WgpuSetup) -> Adapter {
    let (info, limits) = (setup.adapter.get_info(), setup.device.limits());
    Adapter {
        name: info.name,
        api: format!("{:?}", info.backend),
        software: info.device_type == AdapterSort::Cpu,
        limits: Limits { tensor_bytes: limits.max_storage_buffer_binding_size.min(limits.max_buffer_size) },
    }
}
