//! Cross-entropy a real target token, and what choosing adds to it. Padding never comes here: it is left out
//! before the logits.

use burn::tensor::Tensor;

use super::batch::Batch;
use super::guided::guided;
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
    /// What a nat of attention's cross-entropy with links is worth, in nats.
    pub guided: f64,
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
    /// What looking elsewhere than links say adds; only where alignment is taught.
    pub guided: Option<Tensor<1>>,
}

impl Loss {
    /// What gradients come from, `[1]`.
    pub fn total(&self) -> Tensor<1> {
        let others = self.policy.iter().map(|policy| &policy.loss).chain(&self.guided);
        others.fold(self.cross_entropy.clone(), |sum, other| sum + other.clone())
    }
}

/// The mean cross-entropy a target token of a batch, in nats, `[1]`.
pub fn batch_loss(model: &Seq2Seq, batch: &Batch, smoothing: f64) -> Tensor<1> {
    let (memory, state) = model.encode(&batch.source);
    let readouts = model.readouts(&batch.inputs, state, &memory).values;
    let readouts = model.regularized(readouts, &batch.inputs.lengths);
    cross_entropy(readouts, model.output(), batch.targets.clone(), smoothing, batch.tokens)
}

/// What a batch adds to the mean loss of several.
pub fn part_of_loss(model: &Seq2Seq, batch: &Batch, objective: &Objective) -> Loss {
    let Objective { smoothing, entropy_bonus, baseline, tokens, .. } = *objective;
    let (memory, state) = model.encode(&batch.source);
    let guide = batch.guide.as_ref().filter(|_| objective.guided > 0.0);
    let (found, weights) = match guide {
        Some(_) => model.watched(&batch.inputs, state, &memory),
        None => (model.readouts(&batch.inputs, state, &memory), None),
    };
    let guided =
        weights.zip(guide).map(|(weights, guide)| guided(&weights, guide, tokens).mul_scalar(objective.guided));
    let (readouts, output) = (model.regularized(found.values, &batch.inputs.lengths), model.output());
    let policy =
        found.drawn.map(|drawn| policy(readouts.clone(), &output, drawn, batch, baseline, entropy_bonus, tokens));
    Loss {
        cross_entropy: cross_entropy(readouts, output, batch.targets.clone(), smoothing, tokens),
        policy,
        guided,
    }
}
