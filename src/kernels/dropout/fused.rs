//! Dropout in one visit on flex: what is dropped follows from a seed and a number's place, so nothing is kept
//! for the way back.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use rayon::prelude::*;

use crate::kernels::flex::contiguous;
use crate::kernels::simd::{self, PIECE};

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait DropoutOps: Backend {
    /// `[N]` → `[N]`.
    fn dropout(input: FloatTensor<Self>, share: f64, seed: u64) -> FloatTensor<Self>;
}

impl DropoutOps for Flex {
    fn dropout(input: FlexTensor, share: f64, seed: u64) -> FlexTensor {
        Dropped { share, seed }.apply(input)
    }
}

impl<C: CheckpointStrategy> DropoutOps for Autodiff<Flex, C> {
    fn dropout(input: FloatTensor<Self>, share: f64, seed: u64) -> FloatTensor<Self> {
        let step = DropoutBackward.prepare::<C>([input.node()]).compute_bound().stateful();
        let dropped = Dropped { share, seed };
        let output = dropped.apply(input.into_primitive());
        match step {
            OpsKind::Tracked(step) => step.finish(dropped, output),
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

#[derive(Debug)]
struct DropoutBackward;

impl Backward<Flex, 1> for DropoutBackward {
    type State = Dropped;

    fn backward(self, ops: Ops<Dropped, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = gradients.consume::<Flex>(&ops.node);
        if let [Some(parent)] = ops.parents {
            gradients.register::<Flex>(parent.id, ops.state.apply(upstream));
        }
    }
}

/// What is dropped.
#[derive(Clone, Copy, Debug)]
struct Dropped {
    share: f64,
    seed: u64,
}

impl Dropped {
    /// Drops and scales, in the same memory where nobody else holds it.
    fn apply(self, values: FlexTensor) -> FlexTensor {
        let mut values = contiguous(values);
        let (scale, limit) = ((1.0 / (1.0 - self.share)) as f32, (self.share * 4_294_967_296.0) as u32);
        let (low, high) = (self.seed as u32, (self.seed >> 32) as u32);
        values.storage_mut::<f32>().par_chunks_mut(PIECE).enumerate().for_each(|(chunk, values)| {
            simd::run(
                #[inline(always)]
                || {
                    let first = (chunk * PIECE) as u32;
                    for (i, x) in values.iter_mut().enumerate() {
                        let kept = hash(first.wrapping_add(i as u32), low, high) >= limit;
                        *x *= if kept { scale } else { 0.0 };
                    }
                },
            );
        });
        values
    }
}

/// A number that looks random for each place and seed: Wang & Degski's 32-bit mixer (constants of
/// C. Wellons' "prospector" search), twice.
#[inline(always)]
fn hash(place: u32, low: u32, high: u32) -> u32 {
    let mix = |x: u32| {
        let x = (x ^ (x >> 16)).wrapping_mul(0x7feb_352d);
        let x = (x ^ (x >> 15)).wrapping_mul(0x846c_a68b);
        x ^ (x >> 16)
    };
    mix(mix(place ^ low).wrapping_add(high))
}
