//! What the training loop says, and to whom.

use serde::Serialize;

use super::validate::Scores;
use crate::error::Result;
use crate::model::Seq2Seq;

/// Something that happened in training.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Training begins.
    Started {
        /// Updates in a pass over the data.
        steps_per_epoch: usize,
        /// Updates at most.
        total_steps: usize,
        /// Pairs to train on.
        pairs: usize,
    },
    /// Some updates were made.
    Progress {
        /// Updates so far.
        step: usize,
        /// The pass over the data, from 1.
        epoch: usize,
        /// Mean loss a target token since the last report, label smoothing included, in nats; not a number
        /// if no update could be used.
        loss: f64,
        /// The rate of the last update.
        learning_rate: f64,
        /// The norm of the last update's gradients before clipping.
        gradient_norm: f64,
        /// Target tokens (ends of sentences counted, padding not) a second, validation left out.
        tokens_per_second: f64,
        /// Updates left out so far because loss or gradients were not finite.
        skipped: usize,
    },
    /// The model was scored on the dev set.
    Validated {
        /// Updates so far.
        step: usize,
        /// The scores.
        scores: Scores,
        /// Whether they are the best so far.
        best: bool,
    },
    /// Training is over.
    Finished(Summary),
}

/// What came of training.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Updates.
    pub steps: usize,
    /// Wall time, validation included.
    pub seconds: f64,
    /// Target tokens a second, validation left out.
    pub tokens_per_second: f64,
    /// The update after which the best model was found.
    pub best_step: usize,
    /// The best model's scores; nothing if none was ever scored.
    pub best: Option<Scores>,
    /// Updates left out because loss or gradients were not finite.
    pub skipped: usize,
    /// Why it ended.
    pub reason: StopReason,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopReason {
    /// All epochs were done.
    #[default]
    Epochs,
    /// `train.max_steps`.
    Steps,
    /// `train.max_minutes`.
    Minutes,
    /// `train.patience`.
    Patience,
    /// Somebody asked.
    Interrupted,
}

/// Who is told what happens in training.
pub trait Observer {
    /// Something happened.
    ///
    /// # Errors
    /// Whatever should end training, such as a full disk.
    fn event(&mut self, event: &Event) -> Result<()>;

    /// The model, without gradients, is the best so far.
    ///
    /// # Errors
    /// Whatever should end training, such as a full disk.
    fn best(&mut self, model: &Seq2Seq) -> Result<()>;

    /// Whether training should stop after this update.
    fn stop(&self) -> bool;
}
