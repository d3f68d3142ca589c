//! One update of the weights.

use burn::optim::GradientsParams;

use super::adam::Adam;
use super::batch::Batch;
use super::{TrainConfig, clip, loss};
use crate::model::Seq2Seq;

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

/// Moves the weights of a model (on an autodiff device) by one batch at a learning rate.
pub fn update(model: Seq2Seq, adam: &mut Adam, batch: &Batch, rate: f64, config: &TrainConfig) -> (Seq2Seq, Seen) {
    let loss = loss::batch_loss(&model, batch, config.label_smoothing);
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    let seen = Seen { loss: loss.into_scalar::<f64>(), norm: clip::global_norm(&gradients, &model) };
    if !seen.usable() {
        tracing::debug!(loss = seen.loss, norm = seen.norm, "an update is left out: not finite");
        return (model, seen);
    }
    let scale = clip::scale(seen.norm, config.clip_norm);
    (adam.step(model, gradients, rate, scale), seen)
}
