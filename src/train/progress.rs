//! What the loop remembers, and when it must end.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::TrainConfig;
use super::event::{Event, StopReason, Summary};
use super::feed::Position;
use super::reward::Baseline;
use super::schedule::Plateau;
use super::update::Seen;
use super::validate::Scores;
use crate::error::{Error, Result};
use crate::ranks::Ranks;

/// How long training has taken, and when it must end.
pub(super) struct Clock {
    started: Instant,
    /// What was spent before this process began.
    before: Duration,
    limit: Option<Duration>,
}

impl Clock {
    pub fn start(minutes: Option<f64>, before: Duration) -> Self {
        let limit = minutes.map(|minutes| Duration::from_secs_f64((60.0 * minutes).clamp(0.0, 1e9)));
        Self { started: Instant::now(), before, limit }
    }

    pub fn elapsed(&self) -> Duration {
        self.before + self.started.elapsed()
    }

    pub fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.elapsed() >= limit)
    }
}

/// What would end training before its time.
#[derive(Clone, Copy)]
pub(super) struct Asked {
    pub to_stop: bool,
    pub by_the_clock: bool,
}

impl Asked {
    /// Whether any process was asked: all must end after the same update.
    pub fn of_any(self, ranks: &Ranks) -> Result<Self> {
        let [to_stop, by_the_clock] = ranks.any([self.to_stop, self.by_the_clock])?;
        Ok(Self { to_stop, by_the_clock })
    }
}

/// Updates that may be left out one after the other. A single bad batch is no reason to stop; weights that hold a
/// number that is none never recover.
const MOST_LEFT_OUT: usize = 50;

/// The numbers that the loop remembers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Progress {
    /// Updates so far.
    pub step: usize,
    /// Where in the data the next one begins.
    pub position: Position,
    /// The update after which the model was last scored.
    pub validated_at: usize,
    /// Validations since the best one.
    pub without_gain: usize,
    /// The best scores.
    pub best: Option<Scores>,
    /// The update after which they were reached.
    pub best_step: usize,
    /// The models that are kept, the best first: updates and scores.
    pub kept: Vec<(usize, Scores)>,
    /// What hard choices are compared with.
    pub baseline: Baseline,
    /// By how much the rate has fallen because nothing got better.
    pub plateau: Plateau,
    /// The updates after which checkpoints were due, the newest last: those that are kept beside the newest of all.
    pub due: Vec<usize>,
    /// How long it has taken, validation included.
    pub elapsed: Duration,
    tokens: usize,
    busy: Duration,
    skipped: usize,
    skipped_in_a_row: usize,
    since_report: SinceReport,
}

/// What has happened since the last report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SinceReport {
    tokens: usize,
    loss: f64,
    #[serde(with = "super::number")]
    norm: f64,
    busy: Duration,
}

impl Progress {
    /// Before the first update of a model with a vocabulary of this size.
    pub fn new(vocabulary: usize) -> Self {
        Self {
            step: 0,
            position: Position::default(),
            validated_at: 0,
            without_gain: 0,
            best: None,
            best_step: 0,
            kept: Vec::new(),
            baseline: Baseline::new(vocabulary),
            plateau: Plateau::default(),
            due: Vec::new(),
            elapsed: Duration::ZERO,
            tokens: 0,
            busy: Duration::ZERO,
            skipped: 0,
            skipped_in_a_row: 0,
            since_report: SinceReport::default(),
        }
    }

    /// Takes in the scores of a validation; whether they are the best so far.
    pub fn score(&mut self, scores: Scores, config: &TrainConfig, keep: usize) -> bool {
        let best = scores.beats(self.best.as_ref(), config.choose_by);
        self.validated_at = self.step;
        self.without_gain = if best { 0 } else { self.without_gain + 1 };
        self.plateau = self.plateau.after(best, config);
        if best {
            (self.best, self.best_step) = (Some(scores), self.step);
        }
        // Of equals the older one stays before the newer.
        let place = self.kept.iter().position(|(_, other)| scores.beats(Some(other), config.choose_by));
        self.kept.insert(place.unwrap_or(self.kept.len()), (self.step, scores));
        self.kept.retain(|(_, scores)| scores.loss.is_finite());
        // The best one always: a run that goes on needs it.
        self.kept.truncate(keep.max(1));
        best
    }

    /// Counts an update.
    ///
    /// # Errors
    /// Too many in a row could not be used.
    pub(super) fn count(&mut self, tokens: usize, seen: Seen, busy: Duration) -> Result<()> {
        self.tokens += tokens;
        self.busy += busy;
        self.since_report.busy += busy;
        self.since_report.norm = seen.norm;
        if seen.usable() {
            self.since_report.tokens += tokens;
            self.since_report.loss += seen.loss * tokens as f64;
            self.skipped_in_a_row = 0;
        } else {
            self.skipped += 1;
            self.skipped_in_a_row += 1;
        }
        if self.skipped_in_a_row < MOST_LEFT_OUT {
            return Ok(());
        }
        Err(Error::Model(format!(
            "the last {MOST_LEFT_OUT} updates, to step {}, were left out because loss or gradients were not finite: \
             lower train.learning_rate or train.clip_norm, or try another device",
            self.step
        )))
    }

    /// What is told now and then.
    pub(super) fn report(&mut self, learning_rate: f64) -> Event {
        let since = std::mem::take(&mut self.since_report);
        Event::Progress {
            step: self.step,
            epoch: self.position.epoch,
            // NaN if no update could be used.
            loss: since.loss / since.tokens as f64,
            learning_rate,
            gradient_norm: since.norm,
            tokens_per_second: since.tokens as f64 / since.busy.as_secs_f64().max(1e-9),
            skipped: self.skipped,
        }
    }

    /// Why training must end before the next update, if it must.
    pub(super) fn over(&self, asked: Asked, config: &TrainConfig) -> Option<StopReason> {
        let out_of_patience = config.patience.is_some_and(|patience| self.without_gain >= patience.max(1));
        let all_steps = config.max_steps.is_some_and(|most| self.step >= most);
        let reasons = [
            (asked.to_stop, StopReason::Interrupted),
            (out_of_patience, StopReason::Patience),
            (all_steps, StopReason::Steps),
            (self.position.epoch > config.max_epochs, StopReason::Epochs),
            (asked.by_the_clock, StopReason::Minutes),
        ];
        reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
    }

    /// Takes note of a checkpoint that is due, of which so many are kept.
    pub(super) fn note_due(&mut self, keep: usize) {
        self.due.push(self.step);
        let more = self.due.len().saturating_sub(keep);
        self.due.drain(..more);
    }

    /// What came of it.
    pub fn summary(&self, reason: StopReason) -> Summary {
        Summary {
            steps: self.step,
            seconds: self.elapsed.as_secs_f64(),
            tokens_per_second: self.tokens as f64 / self.busy.as_secs_f64().max(1e-9),
            best_step: self.best_step,
            best: self.best,
            skipped: self.skipped,
            reason,
        }
    }
}
