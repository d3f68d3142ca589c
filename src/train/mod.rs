//! Training, in one sitting: [`train`] is the loop; its parts stand beside it.
//!
//! The loop knows neither the terminal nor any file: it speaks in [`Event`]s to an [`Observer`], and hands over its [`State`],
//! from which it can go on.

pub mod average;
pub mod batch;
pub mod clip;
pub mod config;
pub mod event;
pub mod examples;
mod exchange;
pub mod feed;
pub mod freeze;
mod gradients;
pub mod guided;
pub mod loss;
mod number;
pub mod optimizer;
mod progress;
pub mod reward;
pub mod sampling;
pub mod schedule;
pub mod share;
pub mod state;
pub mod update;
pub mod validate;

use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;

use crate::error::Result;
use crate::kernels::cores;
use crate::ranks::Ranks;
pub use config::{BatchConfig, CheckpointConfig, Choice, LogConfig, StartConfig, TrainConfig};
pub use event::{Event, Observer, Standing, StopReason, Summary};
use examples::Examples;
use feed::Feed;
pub use progress::Progress;
use progress::{Asked, Clock};
pub use schedule::{Decay, Schedule};
use share::{Share, Team};
pub use state::State;
use update::{Step, update};
use validate::DevSet;

/// What is trained on, and how.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// What the model learns from.
    pub examples: &'a Examples,
    /// What it is scored on.
    pub dev: &'a DevSet,
    /// How it is trained.
    pub config: &'a TrainConfig,
    /// When it is written down.
    pub checkpoint: &'a CheckpointConfig,
    /// Where it is computed.
    pub device: &'a Device,
    /// The processes that train together. All come here with the same state and data, each does its share of every batch, and
    /// all keep the same weights.
    pub ranks: &'a Ranks,
}

/// Trains a model from a state on and hands every scored one, and now and then its state, to the observer.
///
/// # Errors
/// What the observer can't do; a config that can't be meant; token ids that the model has no vectors for; numbers that stay
/// not finite; other processes that do not answer.
pub fn train(state: State, task: Task<'_>, observer: &mut dyn Observer) -> Result<Summary> {
    let Task { examples, dev, config, checkpoint, ranks, .. } = task;
    for example in &dev.examples {
        state.model.check_ids(&example.source, &example.target)?;
    }
    let device = task.device.clone().autodiff();
    let team = Team::meet(ranks, cores(&device))?;
    let mut state = state.on(&device);
    state.model = freeze::frozen(exchange::follow(ranks, state.model)?, &config.freeze)?;
    let mut feed = Feed::new(examples, config.batching()?, config.seed, state.progress.position);
    let steps_per_epoch = feed.batches()?.div_ceil(config.accumulate);
    let total = config.max_steps.unwrap_or(usize::MAX).min(config.max_epochs.saturating_mul(steps_per_epoch));
    let schedule = Schedule::new(config, total);
    let clock = Clock::start(config.max_minutes, state.progress.elapsed);
    let done = state.progress.step;
    observer.event(&Event::Started { steps_per_epoch, total_steps: total, pairs: examples.len(), done })?;

    let mut saved = None;
    let reason = loop {
        let asked = Asked { to_stop: observer.stop(), by_the_clock: clock.is_over() }.of_any(ranks)?;
        if let Some(reason) = state.progress.over(asked, config) {
            break reason;
        }
        let started = Instant::now();
        let batches = feed.take(config.accumulate)?;
        state.progress.position = feed.position();
        let is_due =
            |every: Option<usize>, step: usize| every.is_some_and(|every| step.is_multiple_of(every.max(1)));
        // The end of an epoch, or an update.
        let validates = if batches.is_empty() {
            config.validate_every.is_none()
        } else {
            state.progress.step += 1;
            let step = state.progress.step;
            let rate = schedule.rate(step) * state.progress.plateau.factor;
            let shares = deal(&batches, &state, &team, &device)?;
            let how = Step {
                rate,
                noise: config.noise(step),
                baseline: state.progress.baseline,
                sampling: sampling::share(config.scheduled_sampling, config.sampling_warmup, step),
            };
            let (model, seen) = update(state.model, &mut state.optimizer, &shares, how, config, ranks)?;
            state.model = model;
            state.average = state.average.map(|old| average::moved(old, &state.model.valid(), config.ema, step));
            let progress = &mut state.progress;
            progress.baseline = progress.baseline.after(seen.log_prob, config.baseline_decay);
            progress.count(shares.iter().map(|share| share.tokens).sum(), seen, started.elapsed())?;
            if is_due(Some(config.report_every), step) {
                observer.event(&progress.report(rate))?;
            }
            is_due(config.validate_every, step)
        };
        if validates {
            validate(&mut state, task, observer)?;
        }
        state.progress.elapsed = clock.elapsed();
        let is_made = !batches.is_empty();
        let due = checkpoint.every.map_or(validates, |_| is_made && is_due(checkpoint.every, state.progress.step));
        if due && clip::is_sound(&state.model) {
            state.progress.note_due(checkpoint.keep_last);
            observer.checkpoint(&state)?;
            saved = Some(state.progress.position);
        }
    };
    // What was learnt since the last validation counts too, unless somebody is waiting for the end.
    if state.progress.validated_at < state.progress.step && reason != StopReason::Interrupted {
        validate(&mut state, task, observer)?;
        saved = None;
    }
    state.progress.elapsed = clock.elapsed();
    if saved != Some(state.progress.position) && clip::is_sound(&state.model) {
        observer.checkpoint(&state)?;
    }
    let summary = state.progress.summary(reason);
    observer.event(&Event::Finished(summary.clone()))?;
    Ok(summary)
}

/// This process's shares of some batches.
fn deal(batches: &[Vec<batch::Example>], state: &State, team: &Team, device: &Device) -> Result<Vec<Share>> {
    let share = |batch: &Vec<batch::Example>| {
        for example in batch {
            state.model.check_ids(&example.source, &example.target)?;
        }
        Ok(Share::deal(&batch.iter().collect::<Vec<_>>(), team, device))
    };
    batches.iter().map(share).collect()
}

/// Scores the model on the dev set and hands it over.
fn validate(state: &mut State, task: Task<'_>, observer: &mut dyn Observer) -> Result<()> {
    let Task { dev, config, checkpoint, device, ranks, .. } = task;
    state.model = exchange::follow(ranks, state.model.clone())?;
    state.average = state.average.take().map(|average| exchange::follow(ranks, average)).transpose()?;
    let plain = state.scored();
    // Which model is the best, and whether patience is out, is for all to know alike.
    let scores = ranks.tell(Some(dev.score(&plain, &device.clone().without_autodiff(), ranks)?))?;
    let best = state.progress.score(scores, config, checkpoint.keep_best);
    let step = state.progress.step;
    observer.event(&Event::Validated { step, scores, best })?;
    let kept: Vec<usize> = state.progress.kept.iter().map(|(step, _)| *step).collect();
    observer.scored(&plain, Standing { step, best, kept: &kept })
}
