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
use batch::Example;
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
    let means = Means { task, schedule: Schedule::new(config, total), team, device };
    let clock = Clock::start(config.max_minutes, state.progress.elapsed);
    let done = state.progress.step;
    observer.event(&Event::Started { steps_per_epoch, total_steps: total, pairs: examples.len(), done })?;

    let mut saved = None;
    let reason = loop {
        let asked = Asked { to_stop: observer.stop(), by_the_clock: clock.is_over() }.of_any(ranks)?;
        if let Some(reason) = state.progress.over(asked, config) {
            break reason;
        }
        let batches = feed.take(config.accumulate)?;
        state.progress.position = feed.position();
        let ended = batches.is_empty();
        if !ended {
            state = learn(state, &batches, &means, observer)?;
        }
        let step = state.progress.step;
        let is_due = |every: Option<usize>, otherwise: bool| {
            every.map_or(otherwise, |every| !ended && step.is_multiple_of(every.max(1)))
        };
        let validates = is_due(config.validate_every, ended);
        if validates {
            validate(&mut state, task, observer)?;
        }
        state.progress.elapsed = clock.elapsed();
        if is_due(checkpoint.every, validates) && clip::is_sound(&state.model) {
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

/// What updates are made with.
struct Means<'a> {
    task: Task<'a>,
    schedule: Schedule,
    team: Team,
    device: Device,
}

/// Makes an update of some batches.
fn learn(
    mut state: State,
    batches: &[Vec<Example>],
    means: &Means<'_>,
    observer: &mut dyn Observer,
) -> Result<State> {
    let (config, started) = (means.task.config, Instant::now());
    let step = state.progress.step + 1;
    let shares = deal(batches, &state, &means.team, &means.device)?;
    let how = Step {
        rate: means.schedule.rate(step) * state.progress.plateau.factor,
        noise: config.noise(step),
        baseline: state.progress.baseline,
        sampling: sampling::share(config.scheduled_sampling, config.sampling_warmup, step),
    };
    let (model, seen) = update(state.model, &mut state.optimizer, &shares, how, config, means.task.ranks)?;
    state.average = state.average.map(|old| average::moved(old, &model.valid(), config.ema, step));
    state.model = model;
    let progress = &mut state.progress;
    progress.step = step;
    progress.baseline = progress.baseline.after(seen.log_prob, config.baseline_decay);
    progress.count(shares.iter().map(|share| share.tokens).sum(), seen, started.elapsed())?;
    if step.is_multiple_of(config.report_every.max(1)) {
        observer.event(&progress.report(how.rate))?;
    }
    Ok(state)
}

/// This process's shares of some batches.
fn deal(batches: &[Vec<Example>], state: &State, team: &Team, device: &Device) -> Result<Vec<Share>> {
    let share = |batch: &Vec<Example>| {
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
