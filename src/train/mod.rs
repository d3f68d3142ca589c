//! Training, in one sitting: [`train`] is the loop; its parts stand beside it.
//!
//! The loop knows neither the terminal nor any file: it speaks in [`Event`]s to an [`Observer`].

pub mod adam;
pub mod batch;
pub mod clip;
pub mod config;
pub mod event;
mod exchange;
mod gradients;
pub mod loss;
mod progress;
pub mod reward;
pub mod schedule;
pub mod share;
pub mod update;
pub mod validate;

use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;

use crate::error::Result;
use crate::kernels::cores;
use crate::model::Seq2Seq;
use crate::ranks::Ranks;
use crate::rng::Rng;
use adam::Adam;
use batch::Example;
pub use config::{Choice, TrainConfig};
pub use event::{Event, Observer, StopReason, Summary};
use progress::{Asked, Clock, Progress};
use reward::Baseline;
pub use schedule::{Decay, Schedule};
use share::{Share, Team};
use update::{Step, update};
use validate::DevSet;

/// Trains a model and hands the best one, by validation, to the observer. Where several processes train together, all
/// come here with the same model and data, each does its share of every batch, and all keep the same weights.
///
/// # Errors
/// What the observer can't do; a config that can't be meant; token ids that the model has no vectors for; numbers that stay
/// not finite; other processes that do not answer.
pub fn train(
    model: Seq2Seq,
    examples: &[Example],
    dev: &DevSet,
    config: &TrainConfig,
    device: &Device,
    ranks: &Ranks,
    observer: &mut dyn Observer,
) -> Result<Summary> {
    let batching = config.batching()?;
    for example in examples.iter().chain(&dev.examples) {
        model.check_ids(&example.source, &example.target)?;
    }
    let device = device.clone().autodiff();
    let team = Team::meet(ranks, cores(&device))?;
    let mut model = exchange::follow(ranks, model.fork(&device).train())?;
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
            let asked = Asked { to_stop: observer.stop(), by_the_clock: clock.is_over() }.of_any(ranks)?;
            if let Some(reason) = progress.over(asked, total, config.patience) {
                progress.reason = reason;
                break 'training;
            }
            progress.step += 1;
            let started = Instant::now();
            let chosen: Vec<&Example> = places.iter().map(|&i| &examples[i]).collect();
            let share = Share::deal(&chosen, &team, &device);
            let rate = schedule.rate(progress.step);
            let step = Step { rate, noise: config.noise(progress.step), baseline };
            let (next, seen) = update(model, &mut adam, &share, step, config, ranks)?;
            model = next;
            baseline = baseline.after(seen.log_prob, config.baseline_decay);
            progress.count(share.tokens, seen, started.elapsed())?;

            if progress.step.is_multiple_of(config.report_every.max(1)) {
                observer.event(&progress.report(epoch, rate))?;
            }
            if config.validate_every.is_some_and(|every| progress.step.is_multiple_of(every.max(1))) {
                model = validate(model, dev, config, &device, ranks, &mut progress, observer)?;
            }
        }
        if config.validate_every.is_none() {
            model = validate(model, dev, config, &device, ranks, &mut progress, observer)?;
        }
    }
    // What was learnt since the last validation counts too, unless somebody is waiting for the end.
    if progress.validated_at < progress.step && progress.reason != StopReason::Interrupted {
        validate(model, dev, config, &device, ranks, &mut progress, observer)?;
    }
    let summary = progress.summary(clock.elapsed());
    observer.event(&Event::Finished(summary.clone()))?;
    Ok(summary)
}

/// Scores the model on the dev set; hands it over if it is the best so far.
fn validate(
    model: Seq2Seq,
    dev: &DevSet,
    config: &TrainConfig,
    device: &Device,
    ranks: &Ranks,
    progress: &mut Progress,
    observer: &mut dyn Observer,
) -> Result<Seq2Seq> {
    let model = exchange::follow(ranks, model)?;
    let plain = model.valid();
    let scores = dev.score(&plain, &device.clone().without_autodiff(), ranks)?;
    // Which model is the best, and whether patience is out, is for all to know alike.
    let scores = ranks.tell(Some(scores))?;
    let best = scores.beats(progress.best.as_ref(), config.choose_by);
    progress.validated_at = progress.step;
    progress.without_gain = if best { 0 } else { progress.without_gain + 1 };
    observer.event(&Event::Validated { step: progress.step, scores, best })?;
    if best {
        progress.best = Some(scores);
        progress.best_step = progress.step;
        observer.best(&plain)?;
    }
    Ok(model)
}
