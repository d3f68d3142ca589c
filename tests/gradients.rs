//! Gradients of every model against central differences in 64 bits: in a process of its own, because a
//! device's float type is set once.

#![allow(clippy::unwrap_used, clippy::expect_used)]

#[path = "support/gradients.rs"]
mod gradients;
#[path = "support/variants.rs"]
mod variants;

use burn::tensor::{Device, FloatDType};
use gradients::{Exactness, check_all};

#[test]
fn gradients_are_central_differences_in_64_bits() {
    let mut device = Device::flex();
    device.configure(FloatDType::F64).unwrap();
    let worst = check_all(&device.autodiff(), Exactness { step: 1e-4, tolerance: 1e-6, least: 1e-3 });
    eprintln!("worst relative error {worst:.1e}");
}
