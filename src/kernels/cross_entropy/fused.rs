//! Cross-entropy in two visits of the logits: forward keeps one number a row, backward writes the gradient
//! over the logits.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::{FloatTensor, IntTensor};
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use burn::tensor::DType;
use rayon::prelude::*;

use super::{FIRST, Smoothing};
use crate::kernels::flex::{floats, tensor};
use crate::kernels::simd;

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait CrossEntropyOps: Backend {
    /// Logits `[N, V]`, targets `[N]`, what the target and what every other id gets → losses `[N]`.
    fn cross_entropy(logits: FloatTensor<Self>, targets: IntTensor<Self>, parts: Vec<f32>) -> FloatTensor<Self>;
}

impl CrossEntropyOps for Flex {
    fn cross_entropy(logits: FlexTensor, targets: FlexTensor, parts: Vec<f32>) -> FlexTensor {
        forward(&logits.to_contiguous(), &ids(&targets), smoothing(&parts)).0
    }
}

impl<C: CheckpointStrategy> CrossEntropyOps for Autodiff<Flex, C> {
    fn cross_entropy(logits: FloatTensor<Self>, targets: IntTensor<Self>, parts: Vec<f32>) -> FloatTensor<Self> {
        // The node keeps the logits' place in the graph until the new step is registered.
        let step = CrossEntropyBackward.prepare::<C>([logits.node()]).compute_bound().stateful();
        let logits = logits.into_primitive().to_contiguous();
        let (targets, smoothing) = (ids(&targets), smoothing(&parts));
        let (losses, log_sums) = forward(&logits, &targets, smoothing);
        match step {
            OpsKind::Tracked(step) => step.finish(Saved { logits, targets, log_sums, smoothing }, losses),
            OpsKind::UnTracked(step) => step.finish(losses),
        }
    }
}

#[derive(Debug)]
struct CrossEntropyBackward;

/// What backward needs of forward.
#[derive(Clone, Debug)]
struct Saved {
    logits: FlexTensor,
    targets: Vec<usize>,
    /// ln Σ eˣ of each row.
    log_sums: Vec<f32>,
    smoothing: Smoothing,
}

impl Backward<Flex, 1> for CrossEntropyBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 1>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        if let [Some(logits)] = ops.parents {
            gradients.register::<Flex>(logits.id, backward(ops.state, floats(&upstream)));
        }
    }
}

/// The loss of each row and its ln Σ eˣ: since all parts sum to 1, the loss is
/// ln Σ eˣ − target·x_target − other·(the sum of the rest but padding).
fn forward(logits: &FlexTensor, targets: &[usize], smoothing: Smoothing) -> (FlexTensor, Vec<f32>) {
    let vocabulary = logits.layout().shape()[1];
    let (losses, log_sums): (Vec<f32>, Vec<f32>) = floats(logits)
        .par_chunks(vocabulary)
        .zip(targets)
        .map(|(row, &target)| {
            let log_sum = simd::log_sum_exp(row);
            let others = match smoothing.other {
                0.0 => 0.0,
                part => part * (simd::sum(&row[FIRST..]) - row[target]),
            };
            (log_sum - smoothing.target * row[target] - others, log_sum)
        })
        .unzip();
    (tensor(losses, [targets.len()]), log_sums)
}

/// upstream · (softmax − parts), written over the logits (copied only if somebody else still holds them).
fn backward(saved: Saved, upstream: &[f32]) -> FlexTensor {
    let Saved { mut logits, targets, log_sums, smoothing } = saved;
    let vocabulary = logits.layout().shape()[1];
    logits.storage_mut::<f32>().par_chunks_mut(vocabulary).zip(&targets).zip(&log_sums).zip(upstream).for_each(
        |(((row, &target), &log_sum), &upstream)| {
            let padding = upstream * simd::exp(row[FIRST - 1] - log_sum);
            simd::run(
                #[inline(always)]
                || row.iter_mut().for_each(|x| *x = upstream * (simd::exp(*x - log_sum) - smoothing.other)),
            );
            row[FIRST - 1] = padding;
            row[target] -= upstream * (smoothing.target - smoothing.other);
        },
    );
    logits
}

fn smoothing(parts: &[f32]) -> Smoothing {
    Smoothing { target: parts[0], other: parts[1] }
}

/// Targets as indices.
fn ids(targets: &FlexTensor) -> Vec<usize> {
    let targets = targets.to_contiguous();
    let wide = |ids: Option<&[i64]>| ids.map(|ids| ids.iter().map(|&id| id as usize).collect());
    let narrow = |ids: Option<&[i32]>| ids.map(|ids| ids.iter().map(|&id| id as usize).collect());
    let found = match targets.dtype() {
        DType::I64 => wide(targets.as_slice()),
        DType::I32 => narrow(targets.as_slice()),
        _ => None,
    };
    found.unwrap_or_else(|| unreachable!("flex holds ids in 32 or 64 bits"))
}
