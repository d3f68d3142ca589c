//! Adam from ordinary tensor operations: for every device and float type, the reference in tests.

use burn::tensor::Tensor;

use super::{BETA_1, BETA_2, Factors, Moments};

pub(super) fn step(
    parameter: Tensor<1>,
    gradient: Tensor<1>,
    moments: Moments,
    factors: Factors,
) -> (Tensor<1>, Moments) {
    let gradient = gradient.mul_scalar(factors.scale);
    let first = moments.first.mul_scalar(BETA_1) + gradient.clone().mul_scalar(1.0 - BETA_1);
    let second = moments.second.mul_scalar(BETA_2) + gradient.square().mul_scalar(1.0 - BETA_2);
    let change = first.clone().mul_scalar(factors.rate) / second.clone().sqrt().add_scalar(factors.epsilon);
    (parameter - change, Moments { first, second })
}
