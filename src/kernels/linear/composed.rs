//! The map from ordinary tensor operations: for every device and float type, the reference in tests.

use burn::tensor::Tensor;

use super::Activation;

pub(super) fn linear(
    inputs: Tensor<2>,
    weight: Tensor<2>,
    bias: Option<Tensor<1>>,
    activation: Activation,
) -> Tensor<2> {
    let mapped = inputs.matmul(weight);
    let mapped = match bias {
        Some(bias) => mapped + bias.unsqueeze(),
        None => mapped,
    };
    match activation {
        Activation::Identity => mapped,
        Activation::Tanh => mapped.tanh(),
    }
}
