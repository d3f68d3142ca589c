//! Training, in one sitting: [`train`] is the loop; its parts stand beside it.
//!
//! The loop knows neither the terminal nor any file: it speaks in [`Event`]s to an [`Observer`].

pub mod adam;
pub mod batch;
pub mod clip;
pub mod config;
pub mod event;
mod gradients;
pub mod loss;
mod progress;
pub mod reward;
pub mod schedule;
pub mod update;
pub mod validate;

use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;

use crate::error::Result;
use crate::kernels::cores;
use crate::model::Seq2Seq;
use crate::rng::Rng;
use adam::Adam;
use batch::{Batch, Example};
pub use config::{Choice, TrainConfig};
pub use event::{Event, Observer, StopReason, Summary};
use progress::{Clock, Progress};
use reward::Baseline;
pub use schedule::{Decay, Schedule};
use update::update;
use validate::DevSet;

/// Trains a model and hands the best one, by validation, to the observer.
///
/// # Errors
/// What the observer can't do; a config that can't be meant.
pub fn train(
    model: Seq2Seq,
    examples: &[Example],
    dev: &DevSet,
    config: &TrainConfig,
    device: &Device,
    observer: &mut dyn Observer,
) -> Result<Summary> {
    let batching = config.batching()?;
    let device = device.clone().autodiff();
    let mut model = model.fork(&device).train();
    let mut adam = Adam::default();
    let steps_per_epoch = batching.plan(examples, &mut Rng::new(config.seed, 1)).len();
    let total = config.max_steps.unwrap_or(usize::MAX).min(config.max_epochs.saturating_mul(steps_per_epoch));
    let schedule = Schedule::new(config, total);
    let clock = Clock::start(config.max_minutes);
    let mut progress = Progress::default();
    let mut baseline = Baseline::new(model.output().vocabulary());
    observer.event(&Event::Started { steps_per_epoch, total_steps: total, pairs: examples.len() })?;

    'training: for epoch in 1..=config.max_epochs {
        // Stream 0 of the seed drew the weights.
        for places in batching.plan(examples, &mut Rng::new(config.seed, epoch as u64)) {
            if let Some(reason) = progress.over(&clock, total, config.patience, observer.stop()) {
                progress.reason = reason;
                break 'training;
            }
            progress.step += 1;
            let started = Instant::now();
            let chosen: Vec<&Example> = places.iter().map(|&i| &examples[i]).collect();
            let batches = Batch::deal(&chosen, cores(&device), &device);
            let rate = schedule.rate(progress.step);
            let noise = config.noise(progress.step);
            let (next, seen) = update(model, &mut adam, &batches, rate, noise, baseline, config);
            model = next;
            baseline = baseline.after(seen.log_prob, config.baseline_decay);
            progress.count(batches.iter().map(|batch| batch.tokens).sum(), seen, started.elapsed());

            if progress.step.is_multiple_of(config.report_every.max(1)) {
                observer.event(&progress.report(epoch, rate))?;
            }
            if config.validate_every.is_some_and(|every| progress.step.is_multiple_of(every.max(1))) {
                validate(&model, dev, config, &device, &mut progress, observer)?;
            }
        }
        if config.validate_every.is_none() {
            validate(&model, dev, config, &device, &mut progress, observer)?;
        }
    }
    // What was learnt since the last validation counts too, unless somebody is waiting for the end.
    if progress.validated_at < progress.step && progress.reason != StopReason::Interrupted {
        validate(&model, dev, config, &device, &mut progress, observer)?;
    }
    let summary = progress.summary(clock.elapsed());
    observer.event(&Event::Finished(summary.clone()))?;
    Ok(summary)
}

/// Scores the model on the dev set; hands it over if it is the best so far.
fn validate(
    model: &Seq2Seq,
    dev: &DevSet,
    config: &TrainConfig,
    device: &Device,
    progress: &mut Progress,
    observer: &mut dyn Observer,
) -> Result<()> {
    let model = model.valid();
    let scores = dev.score(&model, &device.clone().without_autodiff())?;
    let best = scores.beats(progress.best.as_ref(), config.choose_by);
    progress.validated_at = progress.step;
    progress.without_gain = if best { 0 } else { progress.without_gain + 1 };
    observer.event(&Event::Validated { step: progress.step, scores, best })?;
    if best {
        progress.best = Some(scores);
        progress.best_step = progress.step;
        observer.best(&model)?;
    }
    Ok(())
}
