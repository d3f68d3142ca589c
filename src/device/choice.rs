//! What a person asks for, by name.

use std::str::FromStr;

use super::{DeviceKind, Opened, check};
use crate::error::{Error, Result};

/// What `--device` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceChoice {
    /// The best that answers.
    Auto,
    /// One kind; of several of its devices the one at a place, from 0.
    Named(DeviceKind, Option<usize>),
}

impl DeviceChoice {
    /// The device, and of what was tried before it why it was passed over. What has a place takes that of this `process`
    /// among those of its machine, where the choice names none.
    ///
    /// # Errors
    /// It does not answer, or computes wrongly ([`check()`]).
    pub fn open(self, process: Option<usize>) -> Result<(Opened, Vec<String>)> {
        let opened = match self {
            Self::Auto => return best(process),
            Self::Named(kind, Some(place)) => kind.open(Some(place))?,
            Self::Named(kind, None) => shared(kind, process)?,
        };
        check(&opened)?;
        Ok((opened, Vec::new()))
    }
}

/// The first hardware that answers and computes rightly, else the processor: a program that plays a graphics processor is
/// slower than the processor itself.
fn best(process: Option<usize>) -> Result<(Opened, Vec<String>)> {
    let mut passed_over = Vec::new();
    for &kind in DeviceKind::ALL.iter().filter(|kind| !kind.is_processor()) {
        let tried = shared(kind, process).and_then(|opened| match &opened.adapter {
            Some(adapter) if adapter.software => Err(Error::Device(format!("{opened}"))),
            _ => check(&opened).map(|()| opened),
        });
        match tried {
            Ok(opened) => return Ok((opened, passed_over)),
            Err(why) => passed_over.push(why.to_string()),
        }
    }
    if passed_over.is_empty() {
        passed_over.push("this build knows no other: --features wgpu".into());
    }
    Ok((DeviceKind::Cpu.open(None)?, passed_over))
}

/// The device of a process: its own where there are so many that are alike, else one that it shares.
fn shared(kind: DeviceKind, process: Option<usize>) -> Result<Opened> {
    match (process, kind.alike()) {
        (Some(process), alike) if alike > 0 => kind.open(Some(process % alike)),
        _ => kind.open(None),
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
