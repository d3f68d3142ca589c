//! What the loop remembers, and when it must end.

use std::time::{Duration, Instant};

use super::event::{Event, StopReason, Summary};
use super::update::Seen;
use super::validate::Scores;

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

    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.elapsed() >= limit)
    }
}

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
    pub fn count(&mut self, tokens: usize, seen: Seen, busy: Duration) {
        self.tokens += tokens;
        self.busy += busy;
        self.since_report.busy += busy;
        self.since_report.norm = seen.norm;
        if seen.usable() {
            self.since_report.tokens += tokens;
            self.since_report.loss += seen.loss * tokens as f64;
        } else {
            self.skipped += 1;
        }
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
    pub fn over(
        &self,
        clock: &Clock,
        total: usize,
        patience: Option<usize>,
        interrupted: bool,
    ) -> Option<StopReason> {
        let out_of_patience = patience.is_some_and(|patience| self.without_gain >= patience.max(1));
        if interrupted {
            Some(StopReason::Interrupted)
        } else if out_of_patience {
            Some(StopReason::Patience)
        } else if self.step >= total {
            Some(StopReason::Steps)
        } else {
            clock.is_over().then_some(StopReason::Minutes)
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
