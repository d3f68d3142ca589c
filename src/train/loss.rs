//! Cross-entropy a real target token, and what choosing adds to it. Padding never comes here: it is left out
//! before the logits.

use burn::tensor::Tensor;

use super::batch::Batch;
use super::reward::{Baseline, Policy, policy};
use crate::kernels::cross_entropy::cross_entropy;
use crate::model::Seq2Seq;

/// What a loss is made of besides model and batch.
#[derive(Clone, Copy, Debug)]
pub struct Objective {
    /// ε of label smoothing.
    pub smoothing: f64,
    /// What a nat of entropy of a hard choice is worth, in nats.
    pub entropy_bonus: f64,
    /// What hard choices are compared with.
    pub baseline: Baseline,
    /// Target tokens of all batches that make an update: sums are divided by them.
    pub tokens: usize,
}

/// What a batch adds to the mean loss.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Cross-entropy, in nats, `[1]`.
    pub cross_entropy: Tensor<1>,
    /// What choosing adds; only in training of hard attention.
    pub policy: Option<Policy>,
}

impl Loss {
    /// What gradients come from, `[1]`.
    pub fn total(&self) -> Tensor<1> {
        let cross_entropy = self.cross_entropy.clone();
        self.policy.as_ref().map_or(cross_entropy.clone(), |policy| cross_entropy + policy.loss.clone())
    }
}

/// The mean cross-entropy a target token of a batch, in nats, `[1]`.
pub fn batch_loss(model: &Seq2Seq, batch: &Batch, smoothing: f64) -> Tensor<1> {
    let (memory, state) = model.encode(&batch.source);
    let readouts = model.regularized(model.readouts(&batch.inputs, state, &memory).values);
    cross_entropy(readouts, model.output(), batch.targets.clone(), smoothing, batch.tokens)
}

/// What a batch adds to the mean loss of several.
pub fn part_of_loss(model: &Seq2Seq, batch: &Batch, objective: &Objective) -> Loss {
    let Objective { smoothing, entropy_bonus, baseline, tokens } = *objective;
    let (memory, state) = model.encode(&batch.source);
    let found = model.readouts(&batch.inputs, state, &memory);
    let (readouts, output) = (model.regularized(found.values), model.output());
    let policy =
        found.drawn.map(|drawn| policy(readouts.clone(), &output, drawn, batch, baseline, entropy_bonus, tokens));
    Loss { cross_entropy: cross_entropy(readouts, output, batch.targets.clone(), smoothing, tokens), policy }
}
