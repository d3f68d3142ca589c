//! A linear map with what usually follows it: activation(x W + b).

mod composed;
mod fused;

use burn::backend::Dispatch;
use burn::nn::Linear;
use burn::tensor::{Tensor, assert_shape};

use fused::LinearOps;

/// What is done with each number of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    Identity,
    /// The hyperbolic tangent.
    Tanh,
}

/// Inputs `[N, I]`, weight `[I, O]`, bias `[O]` → `[N, O]`.
pub fn linear(inputs: Tensor<2>, weight: Tensor<2>, bias: Option<Tensor<1>>, activation: Activation) -> Tensor<2> {
    let ([_, i], [_, o]) = (inputs.dims(), weight.dims());
    assert_shape!(weight, [i, o]);
    assert!(bias.as_ref().is_none_or(|bias| bias.dims() == [o]), "one bias an output");
    if super::flex::can_take(&inputs) && super::flex::can_take(&weight) {
        let bias = bias.unwrap_or_else(|| Tensor::empty([0], &inputs.device()));
        let (inputs, weight, bias) = (inputs.into_dispatch(), weight.into_dispatch(), bias.into_dispatch());
        return Tensor::from_dispatch(<Dispatch as LinearOps>::linear(inputs, weight, bias, activation));
    }
    composed::linear(inputs, weight, bias, activation)
}

/// A module's map over the last dimension of inputs.
pub fn apply<const D: usize>(map: &Linear, inputs: Tensor<D>, activation: Activation) -> Tensor<D> {
    let mut shape = inputs.dims();
    let [i, o] = map.weight.dims();
    let rows = inputs.reshape([shape[..D - 1].iter().product(), i]);
    shape[D - 1] = o;
    linear(rows, map.weight.val(), map.bias.as_ref().map(|bias| bias.val()), activation).reshape(shape)
}

#[cfg(test)]
mod tests;
