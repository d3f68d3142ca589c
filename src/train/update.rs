//! One update of the weights.

use burn::optim::GradientsParams;
use rayon::prelude::*;

use super::adam::Adam;
use super::batch::Batch;
use super::{TrainConfig, clip, gradients, loss};
use crate::model::Seq2Seq;
use crate::rng::Rng;

/// What an update saw.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The mean loss a target token, in nats.
    pub loss: f64,
    /// The norm of all gradients before clipping.
    pub norm: f64,
}

impl Seen {
    /// Whether the weights were moved: not if a number was no number.
    pub fn usable(self) -> bool {
        self.norm.is_finite() && self.loss.is_finite()
    }
}

/// Moves the weights of a model (on an autodiff device) at a learning rate by batches that are taken as one, each
/// by a core of its own: cores that share every product wait for each other at every product. Dropout follows
/// from `noise`.
pub fn update(
    model: Seq2Seq,
    adam: &mut Adam,
    batches: &[Batch],
    rate: f64,
    noise: u64,
    config: &TrainConfig,
) -> (Seq2Seq, Seen) {
    let tokens = batches.iter().map(|batch| batch.tokens).sum();
    let copies: Vec<Seq2Seq> =
        (0..batches.len()).map(|part| model.noisy(Rng::new(noise, part as u64).bits())).collect();
    let found: Vec<(f64, GradientsParams)> = copies
        .into_par_iter()
        .zip(batches)
        .with_max_len(1)
        .map(|(copy, batch)| {
            let loss = loss::part_of_loss(&copy, batch, config.label_smoothing, tokens);
            let gradients = GradientsParams::from_grads(loss.backward(), &copy);
            (loss.into_scalar(), gradients)
        })
        .collect();
    let loss = found.iter().map(|(loss, _)| loss).sum();
    let gradients = gradients::sum(found.into_iter().map(|(_, gradients)| gradients), &model);
    let seen = Seen { loss, norm: clip::global_norm(&gradients, &model) };
    if !seen.usable() {
        tracing::debug!(loss = seen.loss, norm = seen.norm, "an update is left out: not finite");
        return (model, seen);
    }
    let scale = clip::scale(seen.norm, config.clip_norm);
    (adam.step(model, gradients, rate, scale), seen)
}
