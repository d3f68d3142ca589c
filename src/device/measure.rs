//! What a device is worth, measured.

use std::time::Instant;

use burn::tensor::{Device, Distribution, Tensor};

use super::{DeviceKind, Opened};
use crate::kernels::product_rate;

/// Rows, columns and depth of the product that is timed.
const SIZE: usize = 1024;
/// The time that it is repeated for, at most.
const SECONDS: f64 = 0.5;
/// Products between two looks at the clock, which wait for the device: what waits for each measures the wait.
const AT_ONCE: usize = 4;

impl Opened {
    /// The best rate of a matrix product in 32 bits, in 10⁹ operations a second.
    pub fn product_gflops(&self) -> f64 {
        if self.kind == DeviceKind::Cpu {
            return product_rate();
        }
        let of = |device: &Device| Tensor::<2>::random([SIZE, SIZE], Distribution::Uniform(-1.0, 1.0), device);
        let (left, right) = (of(&self.device), of(&self.device));
        let timed = || {
            let started = Instant::now();
            let products = (0..AT_ONCE).map(|_| left.clone().matmul(right.clone()));
            // One number of each: none can be left out, and reading it waits.
            let sum = products.map(|product| product.slice([0..1, 0..1])).reduce(|a, b| a + b);
            let read = sum.map(Tensor::into_scalar::<f32>);
            (started.elapsed().as_secs_f64(), read)
        };
        // The first compiles.
        let (mut best, mut spent) = (f64::INFINITY, -timed().0);
        while spent < SECONDS {
            let (seconds, _) = timed();
            best = best.min(seconds);
            spent = spent.max(0.0) + seconds;
        }
        2.0 * AT_ONCE as f64 * (SIZE as f64).powi(3) / best / 1e9
    }
}

/// The memory of this machine and what of it is free, in MiB, where the system tells.
pub fn memory_mib() -> Option<[f64; 2]> {
    let info = std::fs::read_to_string("/proc/meminfo").ok()?;
    let of = |name: &str| -> Option<f64> {
        let line = info.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kib| kib / 1024.0)
    };
    Some([of("MemTotal:")?, of("MemAvailable:")?])
}
