//! What a device can take, told before training starts rather than after hours.

use crate::error::{Error, Result};

/// The most that a graphics processor takes. (How many pieces of work run beside each other is no limit: burn spreads them over
/// three dimensions of workgroups.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one tensor.
    pub tensor_bytes: u64,
}

/// A tensor that will be needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is, for messages.
    pub what: String,
    /// Its values.
    pub values: u64,
    /// How to need less.
    pub way_out: &'static str,
}

impl Need {
    /// Each parameter of a model, by name and number of values.
    pub fn of_parameters(parameters: &[(String, usize)], way_out: &'static str) -> Vec<Self> {
        let need = |(name, values): &(String, usize)| Self {
            what: format!("the parameter {name}"),
            values: *values as u64,
            way_out,
        };
        parameters.iter().map(need).collect()
    }
}

impl Limits {
    /// Of a device that does not say.
    pub const NONE: Self = Self { tensor_bytes: u64::MAX };

    /// Refuses what would not fit.
    ///
    /// # Errors
    /// Names the tensor, the size needed and the size allowed, and the way out.
    pub fn check(&self, needs: &[Need]) -> Result<()> {
        for Need { what, values, way_out } in needs {
            let bytes = values.saturating_mul(size_of::<f32>() as u64);
            if bytes > self.tensor_bytes {
                return Err(Error::Device(format!(
                    "{what} needs {}, and this device takes {} in one piece: {way_out}, or --device cpu",
                    mib(bytes),
                    mib(self.tensor_bytes)
                )));
            }
        }
        Ok(())
    }
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / (1 << 20) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known fault B9: a table of 65,536 × 1024 on a device that binds 128 MiB.
    #[test]
    fn what_does_not_fit_is_told_with_both_sizes() {
        let limits = Limits { tensor_bytes: 128 << 20 };
        let need = |values| Need { what: "the table".into(), values, way_out: "take fewer" };
        assert!(limits.check(&[need((128 << 20) / 4)]).is_ok());
        let told = limits.check(&[need(65_536 * 1024)]).unwrap_err().to_string();
        assert_eq!(
            told,
            "the table needs 256.0 MiB, and this device takes 128.0 MiB in one piece: take fewer, or --device cpu"
        );
        assert!(Limits::NONE.check(&[need(u64::MAX / 2)]).is_ok());
    }
}
