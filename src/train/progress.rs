//! What the loop remembers, and when it must end.

use std::time::{Duration, Instant};

use super::event::{Event, StopReason, Summary};
use super::update::Seen;
use super::validate::Scores;
use crate::error::{Error, Result};
use crate::ranks::Ranks;

/// When training must end.
pub(super) struct Clock {
    started: Instant,
    limit: Option<Duration>,
}

impl Clock {
    pub fn start(minutes: Option<f64>) -> Self {
        let limit = minutes.map(|minutes| Duration::from_secs_f64((60.0 * minutes).clamp(0.0, 1e9)));
        Self { started: Instant::now(), limit }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
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

/// What the loop remembers.
#[derive(Default)]
pub(super) struct Progress {
    /// Updates so far.
    pub step: usize,
    /// The update after which the model was last scored.
    pub validated_at: usize,
    /// Validations since the best one.
    pub without_gain: usize,
    /// The best scores.
    pub best: Option<Scores>,
    /// The update after which they were reached.
    pub best_step: usize,
    /// Why training ended.
    pub reason: StopReason,
    tokens: usize,
    busy: Duration,
    skipped: usize,
    skipped_in_a_row: usize,
    since_report: SinceReport,
}

/// What has happened since the last report.
#[derive(Default)]
struct SinceReport {
    tokens: usize,
    loss: f64,
    norm: f64,
    busy: Duration,
}

impl Progress {
    /// Counts an update.
    ///
    /// # Errors
    /// Too many in a row could not be used.
    pub fn count(&mut self, tokens: usize, seen: Seen, busy: Duration) -> Result<()> {
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

    pub fn report(&mut self, epoch: usize, learning_rate: f64) -> Event {
        let since = std::mem::take(&mut self.since_report);
        Event::Progress {
            step: self.step,
            epoch,
            // NaN if no update could be used.
            loss: since.loss / since.tokens as f64,
            learning_rate,
            gradient_norm: since.norm,
            tokens_per_second: since.tokens as f64 / since.busy.as_secs_f64().max(1e-9),
            skipped: self.skipped,
        }
    }

    /// Why training must end before the next update, if it must.
    pub fn over(&self, asked: Asked, total: usize, patience: Option<usize>) -> Option<StopReason> {
        let out_of_patience = patience.is_some_and(|patience| self.without_gain >= patience.max(1));
        if asked.to_stop {
            Some(StopReason::Interrupted)
        } else if out_of_patience {
            Some(StopReason::Patience)
        } else if self.step >= total {
            Some(StopReason::Steps)
        } else {
            asked.by_the_clock.then_some(StopReason::Minutes)
        }
    }

    pub fn summary(&self, elapsed: Duration) -> Summary {
        Summary {
            steps: self.step,
            seconds: elapsed.as_secs_f64(),
            tokens_per_second: self.tokens as f64 / self.busy.as_secs_f64().max(1e-9),
            best_step: self.best_step,
            best: self.best,
            skipped: self.skipped,
            reason: self.reason,
        }
    }
}
