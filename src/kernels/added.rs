//! The sum of two tensors over all cores, in the memory of the first: what gradients of parts of a batch become.

use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Dispatch, Flex, backend_extension};
use burn::tensor::Tensor;
use rayon::prelude::*;

use super::flex::{can_take, contiguous, floats};
use super::simd::{self, PIECE};

/// Implemented for flex; gradients carry no graph.
#[backend_extension(Flex)]
trait AddedOps: Backend {
    fn added(to: FloatTensor<Self>, more: FloatTensor<Self>) -> FloatTensor<Self>;
}

impl AddedOps for Flex {
    fn added(to: FlexTensor, more: FlexTensor) -> FlexTensor {
        let (mut to, more) = (contiguous(to), contiguous(more));
        to.storage_mut::<f32>().par_chunks_mut(PIECE).zip(floats(&more).par_chunks(PIECE)).for_each(
            |(to, more)| {
                simd::run(
                    #[inline(always)]
                    || {
                        for (sum, x) in to.iter_mut().zip(more) {
                            *sum += x;
                        }
                    },
                );
            },
        );
        to
    }
}

/// to + more, of tensors without a graph.
pub fn added<const D: usize>(to: Tensor<D>, more: Tensor<D>) -> Tensor<D> {
    assert_eq!(more.dims(), to.dims(), "tensors of one shape");
    if can_take(&to) && can_take(&more) {
        return Tensor::from_dispatch(<Dispatch as AddedOps>::added(to.into_dispatch(), more.into_dispatch()));
    }
    to + more
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[test]
    fn is_the_sum_also_of_what_is_turned() {
        let device = Device::flex();
        let one = Tensor::<2>::from_floats([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], &device);
        let turned = Tensor::<2>::from_floats([[10.0, 40.0], [20.0, 50.0], [30.0, 60.0]], &device).transpose();
        let expected = [11.0, 22.0, 33.0, 44.0, 55.0, 66.0];
        for sum in [added(one.clone(), turned.clone()), added(turned, one)] {
            assert_eq!(sum.into_data().try_to_vec::<f32>().unwrap(), expected);
        }
    }
}
