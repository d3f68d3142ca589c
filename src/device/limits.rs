//! What a device can take, told before training starts rather than after hours.

use crate::error::{Error, Result};

/// The most that a graphics processor takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one tensor.
    pub tensor_bytes: u64,
    /// Products in one batch of products: each takes a workgroup of its own.
    pub products: u64,
}

/// A tensor that will be needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// What it is, for messages.
    pub what: String,
    /// Its values.
    pub values: u64,
    /// Products that run beside each other to make it.
    pub products: u64,
    /// How to need less.
    pub way_out: &'static str,
}

impl Limits {
    /// Of a device that does not say.
    pub const NONE: Self = Self { tensor_bytes: u64::MAX, products: u64::MAX };

    /// Refuses what would not fit.
    ///
    /// # Errors
    /// Names the tensor, the size needed and the size allowed, and the way out.
    pub fn check(&self, needs: &[Need]) -> Result<()> {
        for Need { what, values, products, way_out } in needs {
            let bytes = values.saturating_mul(size_of::<f32>() as u64);
            if bytes > self.tensor_bytes {
                return Err(Error::Device(format!(
                    "{what} needs {}, and this device takes {} in one piece: {way_out}, or --device cpu",
                    mib(bytes),
                    mib(self.tensor_bytes)
                )));
            }
            if *products > self.products {
                return Err(Error::Device(format!(
                    "{what} is {products} products at a time, and this device takes {}: {way_out}, or --device cpu",
                    self.products
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
        let limits = Limits { tensor_bytes: 128 << 20, products: 65_535 };
        let need = |values, products| Need { what: "the table".into(), values, products, way_out: "take fewer" };
        assert!(limits.check(&[need((128 << 20) / 4, 65_535)]).is_ok());
        let told = limits.check(&[need(65_536 * 1024, 1)]).unwrap_err().to_string();
        assert_eq!(
            told,
            "the table needs 256.0 MiB, and this device takes 128.0 MiB in one piece: take fewer, or --device cpu"
        );
        let told = limits.check(&[need(1, 81_920)]).unwrap_err().to_string();
        assert!(told.contains("81920 products at a time, and this device takes 65535"), "{told}");
        assert!(Limits::NONE.check(&[need(u64::MAX / 2, u64::MAX)]).is_ok());
    }
}
