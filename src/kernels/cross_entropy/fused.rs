//! The loss in row blocks: a block's logits are made, summed up and turned into their own gradient while they
//! are in the cache, and leave only what they say to readouts and weight. Where gradients are wanted they are
//! computed on the way forward, for a loss whose own gradient is 1; backward multiplies by what it really is.

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
use crate::kernels::product::{Matrix, Write, wide};
use crate::kernels::simd::{self, PIECE};

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait CrossEntropyOps: Backend {
    /// Readouts `[N, R]`, weight `[R, V]` (tied: `[V, R]`), targets `[N]`, what the target and what every
    /// other id gets, what the sum is divided by → the loss `[1]`.
    fn cross_entropy(
        readouts: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        targets: IntTensor<Self>,
        parts: Vec<f32>,
        tied: bool,
        tokens: usize,
    ) -> FloatTensor<Self>;
}

impl CrossEntropyOps for Flex {
    fn cross_entropy(
        readouts: FlexTensor,
        weight: FlexTensor,
        targets: FlexTensor,
        parts: Vec<f32>,
        tied: bool,
        tokens: usize,
    ) -> FlexTensor {
        let (readouts, weight) = (readouts.to_contiguous(), weight.to_contiguous());
        let task = Task::new(&readouts, &weight, ids(&targets), &parts, tied, tokens);
        tensor(vec![task.loss(None)], [1])
    }
}

impl<C: CheckpointStrategy> CrossEntropyOps for Autodiff<Flex, C> {
    fn cross_entropy(
        readouts: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        targets: IntTensor<Self>,
        parts: Vec<f32>,
        tied: bool,
        tokens: usize,
    ) -> FloatTensor<Self> {
        // The nodes keep their tensors' places in the graph until the new step is registered.
        let nodes = [readouts.node(), weight.node()];
        let step = CrossEntropyBackward.prepare::<C>(nodes).compute_bound().stateful();
        let readouts = readouts.into_primitive().to_contiguous();
        let weight = weight.into_primitive().to_contiguous();
        let task = Task::new(&readouts, &weight, ids(&targets), &parts, tied, tokens);
        match step {
            OpsKind::Tracked(step) => {
                let mut gradients =
                    Found { readouts: vec![0.0; task.readouts.len()], weight: vec![0.0; task.weight.len()] };
                let loss = task.loss(Some(&mut gradients));
                let shape = |tensor: &FlexTensor| tensor.layout().shape().dims::<2>();
                let saved = Saved {
                    readouts: tensor(gradients.readouts, shape(&readouts)),
                    weight: tensor(gradients.weight, shape(&weight)),
                };
                step.finish(saved, tensor(vec![loss], [1]))
            }
            OpsKind::UnTracked(step) => step.finish(tensor(vec![task.loss(None)], [1])),
        }
    }
}

#[derive(Debug)]
struct CrossEntropyBackward;

/// The gradients, for a loss whose own is 1.
#[derive(Clone, Debug)]
struct Saved {
    readouts: FlexTensor,
    weight: FlexTensor,
}

impl Backward<Flex, 2> for CrossEntropyBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 2>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let upstream = floats(&upstream)[0];
        for (parent, mut found) in ops.parents.into_iter().zip([ops.state.readouts, ops.state.weight]) {
            let Some(parent) = parent else { continue };
            // The end of the graph, where the loss is what is minimised.
            if upstream != 1.0 {
                found.storage_mut::<f32>().par_chunks_mut(PIECE).for_each(|part| {
                    part.iter_mut().for_each(|x| *x *= upstream);
                });
            }
            gradients.register::<Flex>(parent.id, found);
        }
    }
}

/// Rows whose logits stand in memory at a time.
const BLOCK: usize = 512;

/// What one loss is computed from.
struct Task<'a> {
    readouts: &'a [f32],
    weight: &'a [f32],
    targets: Vec<usize>,
    smoothing: Smoothing,
    /// R and V.
    sizes: [usize; 2],
    tied: bool,
    /// What the sum is divided by.
    tokens: f32,
}

/// Gradients, filled on the way.
struct Found {
    readouts: Vec<f32>,
    weight: Vec<f32>,
}

impl<'a> Task<'a> {
    fn new(
        readouts: &'a FlexTensor,
        weight: &'a FlexTensor,
        targets: Vec<usize>,
        parts: &[f32],
        tied: bool,
        tokens: usize,
    ) -> Self {
        let [a, b] = weight.layout().shape().dims();
        Self {
            readouts: floats(readouts),
            weight: floats(weight),
            targets,
            smoothing: Smoothing { target: parts[0], other: parts[1] },
            sizes: if tied { [b, a] } else { [a, b] },
            tied,
            tokens: tokens as f32,
        }
    }

    /// The weight as `[R, V]`.
    fn output(&self) -> Matrix<'a> {
        let [r, v] = self.sizes;
        if self.tied { Matrix::new(self.weight, [v, r]).transposed() } else { Matrix::new(self.weight, [r, v]) }
    }

    /// The loss; with gradients, if there is where to put them.
    fn loss(&self, mut gradients: Option<&mut Found>) -> f32 {
        let ([r, v], n) = (self.sizes, self.targets.len());
        let mut logits = vec![0.0; BLOCK.min(n) * v];
        let mut sum = 0.0;
        for (block, targets) in self.targets.chunks(BLOCK).enumerate() {
            let (first, rows) = (block * BLOCK, targets.len());
            let logits = &mut logits[..rows * v];
            let readouts = Matrix::new(&self.readouts[first * r..][..rows * r], [rows, r]);
            wide(readouts, self.output(), logits, Write::Replace);
            let losses: Vec<f32> = match &gradients {
                None => logits.par_chunks(v).zip(targets).map(|(row, &target)| self.row(row, target).0).collect(),
                Some(_) => {
                    let rows = logits.par_chunks_mut(v).zip(targets);
                    rows.map(|(row, &target)| self.row_with_gradient(row, target)).collect()
                }
            };
            sum += losses.iter().map(|&loss| f64::from(loss)).sum::<f64>();
            if let Some(Found { readouts: of_readouts, weight: of_weight }) = gradients.as_deref_mut() {
                let logits = Matrix::new(logits, [rows, v]);
                let of_readouts = &mut of_readouts[first * r..][..rows * r];
                wide(logits, self.output().transposed(), of_readouts, Write::Replace);
                let write = if block == 0 { Write::Replace } else { Write::Add };
                match self.tied {
                    true => wide(logits.transposed(), readouts, of_weight, write),
                    false => wide(readouts.transposed(), logits, of_weight, write),
                }
            }
        }
        (sum / f64::from(self.tokens)) as f32
    }

    /// The loss of a row of logits and its ln Σ eˣ: since all parts sum to 1, the loss is
    /// ln Σ eˣ − target·x_target − other·(the sum of the rest but padding).
    fn row(&self, row: &[f32], target: usize) -> (f32, f32) {
        let log_sum = simd::log_sum_exp(row);
        let others = match self.smoothing.other {
            0.0 => 0.0,
            part => part * (simd::sum(&row[FIRST..]) - row[target]),
        };
        (log_sum - self.smoothing.target * row[target] - others, log_sum)
    }

    /// The loss of a row, which becomes (softmax − parts) / tokens.
    fn row_with_gradient(&self, row: &mut [f32], target: usize) -> f32 {
        let (loss, log_sum) = self.row(row, target);
        let (part, other) = (1.0 / self.tokens, self.smoothing.other);
        let padding = part * simd::exp(row[FIRST - 1] - log_sum);
        simd::run(
            #[inline(always)]
            || {
                for x in row.iter_mut() {
                    *x = part * (simd::exp(*x - log_sum) - other);
                }
            },
        );
        row[FIRST - 1] = padding;
        row[target] -= part * (self.smoothing.target - other);
        loss
    }
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
