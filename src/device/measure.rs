//! What a device is worth, measured.

use std::time::Instant;

use burn::tensor::{Device, Distribution, Tensor};

use super::{DeviceKind, Opened};
use crate::kernels::product_rate;

/// Rows, columns and depth of the product that is timed.
const SIZE: usize = 1024;
/// How long the device works at least between two looks at the clock, in seconds: each waits for it.
const BETWEEN: f64 = 0.05;
/// Looks at the clock.
const LOOKS: usize = 5;

impl Opened {
    /// The best rate of a matrix product in 32 bits, in 10⁹ operations a second.
    pub fn product_gflops(&self) -> f64 {
        if self.kind == DeviceKind::Cpu {
            return product_rate();
        }
        let of = |device: &Device| Tensor::<2>::random([SIZE, SIZE], Distribution::Uniform(-1.0, 1.0), device);
        let (left, right) = (of(&self.device), of(&self.device));
        let timed = |products: usize| {
            let started = Instant::now();
            // One number of each: none can be left out, and reading it waits.
            let numbers = (0..products).map(|_| left.clone().matmul(right.clone()).slice([0..1, 0..1]));
            let read = numbers.reduce(|a, b| a + b).map(|sum| sum.try_into_scalar::<f32>());
            (started.elapsed().as_secs_f64(), read)
        };
        // The first compiles; then as many at a time as take long enough.
        let (mut products, _) = (1, timed(1));
        while timed(products).0 < BETWEEN {
            products *= 2;
        }
        let best = (0..LOOKS).map(|_| timed(products).0).fold(f64::INFINITY, f64::min);
        2.0 * products as f64 * (SIZE as f64).powi(3) / best / 1e9
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
