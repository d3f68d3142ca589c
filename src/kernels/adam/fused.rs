//! Adam in one visit: every number is read once and written once, where it lies.

use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Backend, Flex, backend_extension};
use rayon::prelude::*;

use super::{BETA_1, BETA_2};
use crate::kernels::flex::floats;
use crate::kernels::simd::{self, PIECE};

/// Implemented for flex; the parameters of a step carry no graph.
#[backend_extension(Flex)]
pub(super) trait AdamOps: Backend {
    /// Parameter, gradient, first and second moment, all `[N]`, and rate, ε and scale → parameter and moments.
    fn adam(
        parameter: FloatTensor<Self>,
        gradient: FloatTensor<Self>,
        first: FloatTensor<Self>,
        second: FloatTensor<Self>,
        factors: Vec<f32>,
    ) -> (FloatTensor<Self>, FloatTensor<Self>, FloatTensor<Self>);
}

impl AdamOps for Flex {
    fn adam(
        parameter: FlexTensor,
        gradient: FlexTensor,
        first: FlexTensor,
        second: FlexTensor,
        factors: Vec<f32>,
    ) -> (FlexTensor, FlexTensor, FlexTensor) {
        let (rate, epsilon, scale) = (factors[0], factors[1], factors[2]);
        let gradient = gradient.to_contiguous();
        let [mut parameter, mut first, mut second] =
            [parameter, first, second].map(|tensor| tensor.to_contiguous());
        parameter
            .storage_mut::<f32>()
            .par_chunks_mut(PIECE)
            .zip(floats(&gradient).par_chunks(PIECE))
            .zip(first.storage_mut::<f32>().par_chunks_mut(PIECE))
            .zip(second.storage_mut::<f32>().par_chunks_mut(PIECE))
            .for_each(|(((parameter, gradient), first), second)| {
                simd::run(
                    #[inline(always)]
                    || {
                        for (((p, g), m), v) in parameter.iter_mut().zip(gradient).zip(first).zip(second) {
                            let g = g * scale;
                            *m = BETA_1 * *m + (1.0 - BETA_1) * g;
                            *v = BETA_2 * *v + (1.0 - BETA_2) * g * g;
                            *p -= rate * *m / (v.sqrt() + epsilon);
                        }
                    },
                );
            });
        (parameter, first, second)
    }
}
