//! Σ x² of a tensor in one visit: what the norm of all gradients is made of.

use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::flex::{can_take, floats, tensor};
use super::simd::{self, PIECE};

/// Implemented for flex; gradients carry no graph.
#[backend_extension(Flex)]
trait SquareSumOps: Backend {
    fn square_sum(values: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl SquareSumOps for Flex {
    fn square_sum(values: FlexTensor) -> FlexTensor {
        let values = values.to_contiguous();
        let parts: Vec<f64> =
            floats(&values).par_chunks(PIECE).map(|part| f64::from(simd::square_sum(part))).collect();
        tensor(vec![parts.iter().sum::<f64>() as f32], [1])
    }
}

/// Σ x², `[1]`, of a tensor without a graph.
pub fn square_sum<const D: usize>(values: Tensor<D>) -> Tensor<1> {
    if can_take(&values) {
        return Tensor::from_dispatch(<Dispatch as SquareSumOps>::square_sum(values.into_dispatch()));
    }
    values.square().sum()
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[test]
    fn is_the_sum_of_squares() {
        for n in [1, 33, 40_000] {
            let values: Vec<f32> = (0..n).map(|i| (i % 5) as f32 - 2.0).collect();
            let expected: f32 = values.iter().map(|x| x * x).sum();
            let found = square_sum(Tensor::<1>::from_floats(values.as_slice(), &Device::flex()));
            assert_eq!(found.into_scalar::<f32>(), expected);
        }
    }
}
