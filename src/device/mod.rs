//! Where tensors live: one run-time value, chosen by name.

mod check;
#[cfg(feature = "wgpu")]
mod graphics;
mod limits;
mod measure;

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;

use crate::error::{Error, Result};

pub use check::check;
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

/// What `--device` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best that answers.
    Auto,
    /// One kind; of several of its devices the one at a place, from 0.
    Named(DeviceKind, Option<usize>),
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
            Self::Metal => "graphics processors, Metal shaders",
            #[cfg(feature = "vulkan")]
            Self::Vulkan => "graphics processors, Vulkan shaders (SPIR-V)",
            #[cfg(feature = "wgpu")]
            Self::Wgpu => "graphics processors, WebGPU shaders (WGSL) over Vulkan, Metal or DirectX",
        }
    }

    /// Whether it is the processor, of which there is one.
    pub fn is_processor(self) -> bool {
        matches!(self, Self::Cpu | Self::Ndarray)
    }

    /// The device at a place among those of this kind.
    ///
    /// # Errors
    /// None such answers.
    // burn 0.22.1 calls ndarray deprecated in favour of flex; as a second opinion it still serves.
    #[allow(deprecated)]
    pub fn open(self, place: Option<usize>) -> Result<Opened> {
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

/// CUDA has no way to ask that does not panic: burn's own is tried, and its panic becomes an answer.
#[cfg(feature = "cuda")]
fn cuda(place: usize) -> Result<Opened> {
    let device = Device::cuda(place);
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let asked = std::panic::catch_unwind({
        let device = device.clone();
        move || burn::tensor::Tensor::<1>::ones([1], &device).into_scalar::<f32>()
    });
    std::panic::set_hook(hook);
    match asked {
        Ok(_) => {
            let (name, api) = (format!("device {place}"), "CUDA".to_owned());
            let adapter = Adapter { name, api, software: false, limits: Limits::NONE };
            Ok(Opened { kind: DeviceKind::Cuda, device, adapter: Some(adapter) })
        }
        Err(_) => Err(missing(DeviceKind::Cuda, &format!("CUDA device {place} does not answer"))),
    }
}

/// The one line for a device that is not there.
#[cfg(any(feature = "wgpu", feature = "cuda"))]
fn missing(kind: DeviceKind, why: &str) -> Error {
    Error::Device(format!("--device {}: {why}; the processor always works: --device cpu", kind.name()))
}

impl DeviceChoice {
    /// The device. What has a place takes `place` where the choice names none: with several processes on a machine
    /// each takes its own.
    ///
    /// # Errors
    /// It does not answer, or computes wrongly ([`check`]).
    pub fn open(self, place: Option<usize>) -> Result<Opened> {
        let opened = match self {
            Self::Auto => return Self::best(place),
            Self::Named(kind, Some(place)) => kind.open(Some(place))?,
            // More processes than adapters share the first.
            Self::Named(kind, None) => match place {
                Some(place) => kind.open(Some(place)).or_else(|_| kind.open(None))?,
                None => kind.open(None)?,
            },
        };
        check(&opened)?;
        Ok(opened)
    }

    /// The first hardware that answers and computes rightly, else the processor: a program that plays a graphics
    /// processor is slower than the processor itself.
    fn best(place: Option<usize>) -> Result<Opened> {
        let hardware = |opened: &Opened| opened.adapter.as_ref().is_some_and(|adapter| !adapter.software);
        let candidates = DeviceKind::ALL.iter().filter(|kind| !kind.is_processor());
        let answers = candidates.filter_map(|kind| kind.open(place).ok());
        match answers.into_iter().find(|opened| hardware(opened) && check(opened).is_ok()) {
            Some(opened) => Ok(opened),
            None => DeviceKind::Cpu.open(None),
        }
    }
}

impl Default for DeviceChoice {
    fn default() -> Self {
        Self::Named(DeviceKind::default(), None)
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    /// `auto`, a kind, or a kind and a place: `wgpu:1`.
    fn from_str(text: &str) -> Result<Self> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        let (name, place) = text.split_once(':').map_or((text, None), |(name, place)| (name, Some(place)));
        let Some(&kind) = DeviceKind::ALL.iter().find(|kind| kind.name() == name) else {
            let known: Vec<&str> = DeviceKind::ALL.iter().map(|kind| kind.name()).collect();
            let missing = ["wgpu", "vulkan", "metal", "cuda"].contains(&name);
            let way = if missing { format!("; build with --features {name} for it") } else { String::new() };
            return Err(Error::Usage(format!(
                "this build has no device `{name}`; it has: {}, auto{way}",
                known.join(", ")
            )));
        };
        let place = match place {
            None => None,
            Some(_) if kind.is_processor() => {
                return Err(Error::Usage(format!("there is one processor: --device {name}, without a number")));
            }
            Some(place) => Some(place.parse().map_err(|_| {
                Error::Usage(format!("--device {text}: after the colon comes a number from 0, as in {name}:1"))
            })?),
        };
        Ok(Self::Named(kind, place))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_mistakes_are_told() {
        assert_eq!("auto".parse::<DeviceChoice>().unwrap(), DeviceChoice::Auto);
        assert_eq!("cpu".parse::<DeviceChoice>().unwrap(), DeviceChoice::default());
        let told = |name: &str| name.parse::<DeviceChoice>().unwrap_err().to_string();
        assert!(
            told("gpu").starts_with("this build has no device `gpu`; it has: cpu, ndarray"),
            "{}",
            told("gpu")
        );
        assert_eq!(told("cpu:1"), "there is one processor: --device cpu, without a number");
        #[cfg(not(feature = "wgpu"))]
        assert!(told("wgpu:1").ends_with("build with --features wgpu for it"), "{}", told("wgpu:1"));
        #[cfg(feature = "wgpu")]
        {
            assert_eq!("wgpu:1".parse::<DeviceChoice>().unwrap(), DeviceChoice::Named(DeviceKind::Wgpu, Some(1)));
            assert!(told("wgpu:x").contains("a number from 0, as in wgpu:1"), "{}", told("wgpu:x"));
        }
    }
}
