//! What the training loop says, and to whom.

use serde::{Deserialize, Serialize};

use super::state::State;
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
        /// Updates that were made before, where it goes on.
        done: usize,
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// What a validation says of a model.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// Updates so far.
    pub step: usize,
    /// Whether it is the best so far.
    pub best: bool,
    /// The updates after which the models to keep were scored (`checkpoint.keep_best`), best first.
    pub kept: &'a [usize],
}

/// Who is told what happens in training.
pub trait Observer {
    /// Something happened.
    ///
    /// # Errors
    /// Whatever should end training, such as a full disk.
    fn event(&mut self, event: &Event) -> Result<()>;

    /// The model, without gradients, was scored.
    ///
    /// # Errors
    /// Whatever should end training, such as a full disk.
    fn scored(&mut self, model: &Seq2Seq, standing: Standing<'_>) -> Result<()>;

    /// All that training would need to go on from here.
    ///
    /// # Errors
    /// Whatever should end training, such as a full disk.
    fn checkpoint(&mut self, state: &State) -> Result<()>;

    /// Whether training should stop after this update.
    fn stop(&self) -> bool;
}
