//! Where tensors live: one run-time value, chosen by name.

use std::fmt;
use std::str::FromStr;

use burn::tensor::Device;

use crate::error::{Error, Result};

/// A device that this build can use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DeviceChoice {
    /// burn's flex on the processor: the default and the reference.
    #[default]
    Cpu,
    /// burn's ndarray on the processor.
    Ndarray,
}

impl DeviceChoice {
    /// Every device of this build.
    pub const ALL: [Self; 2] = [Self::Cpu, Self::Ndarray];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Ndarray => "ndarray",
        }
    }

    /// What it is, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cpu => "this machine's processor (burn flex), the default",
            Self::Ndarray => "this machine's processor (burn ndarray), to compare with",
        }
    }

    /// The device itself, without gradients.
    // burn 0.22.1 calls ndarray deprecated in favour of flex; as a second opinion it still serves.
    #[allow(deprecated)]
    pub fn device(self) -> Device {
        match self {
            Self::Cpu => Device::flex(),
            Self::Ndarray => Device::ndarray(),
        }
    }
}

impl FromStr for DeviceChoice {
    type Err = Error;

    /// `auto` is the best device of the build.
    fn from_str(name: &str) -> Result<Self> {
        if name == "auto" {
            return Ok(Self::default());
        }
        Self::ALL.into_iter().find(|device| device.name() == name).ok_or_else(|| {
            let known = Self::ALL.map(Self::name).join(", ");
            Error::Usage(format!("this build has no device `{name}`; it has: {known}, auto"))
        })
    }
}

impl fmt::Display for DeviceChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
