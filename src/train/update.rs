//! One update of the weights.

use burn::optim::GradientsParams;
use rayon::prelude::*;

use super::adam::Adam;
use super::batch::Batch;
use super::loss::{self, Objective};
use super::reward::Baseline;
use super::{TrainConfig, clip, gradients};
use crate::model::Seq2Seq;
use crate::rng::Rng;

/// What an update saw.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The mean loss a target token, in nats.
    pub loss: f64,
    /// The norm of all gradients before clipping.
    pub norm: f64,
    /// The mean log-probability a target token, where choices are rewarded by it.
    pub log_prob: Option<f64>,
}

impl Seen {
    /// Whether the weights were moved: not if a number was no number.
    pub fn usable(self) -> bool {
        self.norm.is_finite() && self.loss.is_finite()
    }
}

/// Moves the weights of a model (on an autodiff device) at a learning rate by batches that are taken as one, each
/// by a core of its own: cores that share every product wait for each other at every product. Dropout and what attention
/// draws follow from `noise`; hard choices are compared with `baseline`.
pub fn update(
    model: Seq2Seq,
    adam: &mut Adam,
    batches: &[Batch],
    rate: f64,
    noise: u64,
    baseline: Baseline,
    config: &TrainConfig,
) -> (Seq2Seq, Seen) {
    let tokens = batches.iter().map(|batch| batch.tokens).sum();
    let (smoothing, entropy_bonus) = (config.label_smoothing, config.entropy_bonus);
    let objective = Objective { smoothing, entropy_bonus, baseline, tokens };
    let copies: Vec<Seq2Seq> =
        (0..batches.len()).map(|part| model.noisy(Rng::new(noise, part as u64).bits())).collect();
    let found: Vec<Part> = copies
        .into_par_iter()
        .zip(batches)
        .with_max_len(1)
        .map(|(copy, batch)| part(copy, batch, &objective))
        .collect();
    let loss = found.iter().map(|part| part.loss).sum();
    let log_prob: Option<f64> = found.iter().map(|part| part.log_prob).sum();
    let gradients = gradients::sum(found.into_iter().map(|part| part.gradients), &model);
    let log_prob = log_prob.map(|sum| sum / tokens as f64);
    let seen = Seen { loss, norm: clip::global_norm(&gradients, &model), log_prob };
    if !seen.usable() {
        tracing::debug!(loss = seen.loss, norm = seen.norm, "an update is left out: not finite");
        return (model, seen);
    }
    let scale = clip::scale(seen.norm, config.clip_norm);
    (adam.step(model, gradients, rate, scale), seen)
}

/// What one core found.
struct Part {
    loss: f64,
    log_prob: Option<f64>,
    gradients: GradientsParams,
}

fn part(model: Seq2Seq, batch: &Batch, objective: &Objective) -> Part {
    let loss = loss::part_of_loss(&model, batch, objective);
    let gradients = GradientsParams::from_grads(loss.total().backward(), &model);
    let log_prob = loss.policy.map(|policy| policy.log_prob);
    Part { loss: loss.cross_entropy.into_scalar(), log_prob, gradients }
}
