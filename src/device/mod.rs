//! Where tensors live: one run-time value, chosen by name.

mod check;
mod choice;
#[cfg(feature = "wgpu")]
mod graphics;
mod limits;
mod measure;

use std::fmt;

use burn::tensor::Device;

#[cfg(any(feature = "wgpu", feature = "cuda"))]
use crate::error::Error;
use crate::error::Result;

pub use check::check;
pub use choice::DeviceChoice;
pub use limits::{Limits, Need};
pub use measure::memory_mib;

/// A kind of device that this build can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum DeviceKind {
    /// burn's flex on the processor: the default and the reference.
    #[default]
    Cpu,
    /// burn's ndarray on the processor.
    Ndarray,
    /// NVIDIA's graphics processors.
    #[cfg(feature = "cuda")]
    Cuda,
    /// Graphics processors through Metal's own shaders.
    #[cfg(feature = "metal")]
    Metal,
    /// Graphics processors through Vulkan's own shaders.
    #[cfg(feature = "vulkan")]
    Vulkan,
    /// Graphics processors through whatever the system offers.
    #[cfg(feature = "wgpu")]
    Wgpu,
}

/// A device that answered.
#[derive(Clone, Debug)]
pub struct Opened {
    /// Its kind.
    pub kind: DeviceKind,
    /// The device itself, without gradients.
    pub device: Device,
    /// Its own name and how it is reached; nothing on the processor.
    pub adapter: Option<Adapter>,
}

/// What a driver says of a graphics processor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its name.
    pub name: String,
    /// How it is reached, such as Vulkan.
    pub api: String,
    /// Whether it is no hardware but a program that plays it on the processor.
    pub software: bool,
    /// What it can take.
    pub limits: Limits,
}

impl DeviceKind {
    /// Every kind of this build; after the processor's, the best first.
    pub const ALL: &[Self] = &[
        Self::Cpu,
        Self::Ndarray,
        #[cfg(feature = "cuda")]
        Self::Cuda,
        #[cfg(feature = "metal")]
        Self::Metal,
        #[cfg(feature = "vulkan")]
        Self::Vulkan,
        #[cfg(feature = "wgpu")]
        Self::Wgpu,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Ndarray => "ndarray",
            #[cfg(feature = "cuda")]
            Self::Cuda => "cuda",
            #[cfg(feature = "metal")]
            Self::Metal => "metal",
            #[cfg(feature = "vulkan")]
            Self::Vulkan => "vulkan",
            #[cfg(feature = "wgpu")]
            Self::Wgpu => "wgpu",
        }
    }

    /// What it is, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cpu => "this machine's processor (burn flex), the default",
            Self::Ndarray => "this machine's processor (burn ndarray), to compare with",
            #[cfg(feature = "cuda")]
            Self::Cuda => "NVIDIA graphics processors",
            #[cfg(feature = "metal")]
            Self::Metal => "graphics processors over Metal, with its own shaders",
            #[cfg(feature = "vulkan")]
            Self::Vulkan => "graphics processors over Vulkan, compiled to SPIR-V",
            #[cfg(feature = "wgpu")]
            Self::Wgpu => "graphics processors over Vulkan, Metal, DirectX or OpenGL, whichever answers (wgpu)",
        }
    }

    /// Whether it is the processor, of which there is one.
    pub fn is_processor(self) -> bool {
        matches!(self, Self::Cpu | Self::Ndarray)
    }

    /// How many there are, without starting any.
    pub fn count(self) -> usize {
        match self {
            Self::Cpu | Self::Ndarray => 1,
            #[cfg(feature = "cuda")]
            Self::Cuda => Device::enumerate(burn::tensor::DeviceType::Cuda).into_iter().count(),
            #[cfg(feature = "metal")]
            Self::Metal => graphics::count(self),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => graphics::count(self),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => graphics::count(self),
        }
    }

    /// How many are alike, so that processes which share a machine may take one each.
    fn alike(self) -> usize {
        match self {
            #[cfg(feature = "metal")]
            Self::Metal => graphics::alike(self),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => graphics::alike(self),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => graphics::alike(self),
            _ => self.count(),
        }
    }

    /// The device at a place among those of this kind.
    ///
    /// # Errors
    /// None such answers.
    // burn 0.22.1 calls ndarray deprecated in favour of flex; as a second opinion it still serves.
    #[allow(deprecated)]
    pub fn open(self, place: Option<usize>) -> Result<Opened> {
        // There is one processor, and a build may have nothing else.
        let _ = place;
        let on_processor = |device| Ok(Opened { kind: self, device, adapter: None });
        match self {
            Self::Cpu => on_processor(Device::flex()),
            Self::Ndarray => on_processor(Device::ndarray()),
            #[cfg(feature = "cuda")]
            Self::Cuda => cuda(place.unwrap_or(0)),
            #[cfg(feature = "metal")]
            Self::Metal => graphics::open(self, place),
            #[cfg(feature = "vulkan")]
            Self::Vulkan => graphics::open(self, place),
            #[cfg(feature = "wgpu")]
            Self::Wgpu => graphics::open(self, place),
        }
    }
}

/// The CUDA device at a place. burn tells whether there is one; starting it panics where the driver refuses.
#[cfg(feature = "cuda")]
fn cuda(place: usize) -> Result<Opened> {
    if place >= DeviceKind::Cuda.count() {
        return Err(missing(DeviceKind::Cuda, &format!("there is no CUDA device {place}")));
    }
    let device = Device::cuda(place);
    let name = device.identity().map_or_else(|| format!("device {place}"), |identity| identity.name);
    let adapter = Adapter { name, api: "CUDA".to_owned(), software: false, limits: Limits::NONE };
    Ok(Opened { kind: DeviceKind::Cuda, device, adapter: Some(adapter) })
}

/// The one line for a device that is not there.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn missing(kind: DeviceKind, why: &str) -> Error {
    Error::Device(format!("--device {}: {why}; the processor always works: --device cpu", kind.name()))
}

impl fmt::Display for Opened {
    /// Its kind, and what the driver says of it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        match &self.adapter {
            None => Ok(()),
            Some(Adapter { name, api, software, .. }) => {
                let software = if *software { ", a software adapter: it computes on the processor" } else { "" };
                write!(f, " ({name}, {api}{software})")
            }
        }
    }
}
