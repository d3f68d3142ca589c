//! Training, in one sitting: [`train`] is the loop; its parts stand beside it.
//!
//! The loop knows neither the terminal nor any file: it speaks in [`Event`]s to an [`Observer`].

pub mod batch;
pub mod clip;
pub mod event;
pub mod loss;
pub mod schedule;
pub mod validate;

use std::time::{Duration, Instant};

use burn::module::Module;
use burn::optim::{AdamConfig, GradientsParams, ModuleOptimizer};
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::Seq2Seq;
use crate::rng::Rng;
use batch::{Batch, Batching, Example};
pub use event::{Event, Observer, StopReason, Summary};
pub use schedule::{Decay, Schedule};
use validate::{DevSet, Scores};

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Decides first weights, order of batches and dropout.
    pub seed: u64,
    /// The most passes over the training data.
    pub max_epochs: usize,
    /// The most updates.
    pub max_steps: Option<usize>,
    /// The most minutes, validation included.
    pub max_minutes: Option<f64>,
    /// Sentences in a batch; or else …
    pub batch_sentences: Option<usize>,
    /// … target tokens in a batch, about.
    pub batch_tokens: Option<usize>,
    /// Sentences with more tokens on a side are left out.
    pub max_tokens: usize,
    /// The highest learning rate.
    pub learning_rate: f64,
    /// Updates in which the rate rises to it.
    pub warmup_steps: usize,
    /// How the rate falls afterwards.
    pub decay: Decay,
    /// ε, the share of the target's probability that is spread over the other tokens.
    pub label_smoothing: f64,
    /// The largest norm of all gradients together; 0 for no limit.
    pub clip_norm: f64,
    /// Updates between validations; without it one after each epoch.
    pub validate_every: Option<usize>,
    /// Validations without a better score after which training stops.
    pub patience: Option<usize>,
    /// By which score the best model is chosen.
    pub choose_by: Choice,
    /// Updates between reports.
    pub report_every: usize,
}

impl Default for TrainConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            max_epochs: 20,
            max_steps: None,
            max_minutes: None,
            batch_sentences: None,
            batch_tokens: None,
            max_tokens: 200,
            learning_rate: 1e-3,
            warmup_steps: 100,
            decay: Decay::Constant,
            label_smoothing: 0.0,
            clip_norm: 1.0,
            validate_every: None,
            patience: None,
            choose_by: Choice::Bleu,
            report_every: 20,
        }
    }
}

/// By which score models are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Choice {
    /// The highest BLEU of greedy translations; of equals the lower loss.
    #[default]
    Bleu,
    /// The lowest validation loss.
    Loss,
}

impl TrainConfig {
    /// Refuses what can't be trained with.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        let refuse = |what: &str| Err(Error::Config(format!("train.{what}")));
        match self.max_minutes {
            _ if !(self.learning_rate.is_finite() && self.learning_rate >= 0.0) => {
                refuse("learning_rate must be a number of at least 0")
            }
            _ if !(0.0..1.0).contains(&self.label_smoothing) => {
                refuse("label_smoothing must be at least 0 and less than 1")
            }
            _ if !(self.clip_norm.is_finite() && self.clip_norm >= 0.0) => {
                refuse("clip_norm must be a number of at least 0")
            }
            Some(minutes) if !(minutes.is_finite() && minutes >= 0.0) => {
                refuse("max_minutes must be a number of at least 0")
            }
            _ => self.batching().map(|_| ()),
        }
    }

    /// How batches are made: 64 sentences where the config says nothing.
    ///
    /// # Errors
    /// Both ways at once, or nothing in a batch.
    pub fn batching(&self) -> Result<Batching> {
        match (self.batch_sentences, self.batch_tokens) {
            (Some(_), Some(_)) => Err(Error::Config(
                "train.batch_sentences and train.batch_tokens can't both be set: leave one out".into(),
            )),
            (Some(0), _) | (_, Some(0)) => Err(Error::Config("a batch must hold something".into())),
            (_, Some(tokens)) => Ok(Batching::Tokens(tokens)),
            (sentences, None) => Ok(Batching::Sentences(sentences.unwrap_or(64))),
        }
    }
}

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
    let mut optimizer = AdamConfig::new().with_epsilon(1e-8).init();
    let steps_per_epoch = batching.plan(examples, &mut Rng::new(config.seed, 1)).len();
    let total = config.max_steps.unwrap_or(usize::MAX).min(config.max_epochs.saturating_mul(steps_per_epoch));
    let schedule = Schedule::new(config, total);
    let clock = Clock::start(config.max_minutes);
    let mut progress = Progress::default();
    observer.event(&Event::Started { steps_per_epoch, total_steps: total, pairs: examples.len() })?;

    'training: for epoch in 1..=config.max_epochs {
        // Stream 0 of the seed drew the weights.
        for places in batching.plan(examples, &mut Rng::new(config.seed, epoch as u64)) {
            if let Some(reason) = clock.over(progress.step, total, observer.stop()) {
                progress.reason = reason;
                break 'training;
            }
            progress.step += 1;
            // Dropout depends on the seed and the step alone.
            device.seed(config.seed.wrapping_mul(1_000_003).wrapping_add(progress.step as u64));
            let batch = Batch::new(&places.iter().map(|&i| &examples[i]).collect::<Vec<_>>(), &device);
            let rate = schedule.rate(progress.step);
            model = update(model, &mut optimizer, &batch, rate, config, &mut progress);

            if progress.step.is_multiple_of(config.report_every.max(1)) {
                observer.event(&progress.report(epoch, rate))?;
            }
            if config.validate_every.is_some_and(|every| progress.step.is_multiple_of(every.max(1))) {
                validate(&model, dev, config, &device, &mut progress, observer)?;
            }
            if progress.out_of_patience(config.patience) {
                progress.reason = StopReason::Patience;
                break 'training;
            }
        }
        if config.validate_every.is_none() {
            validate(&model, dev, config, &device, &mut progress, observer)?;
            if progress.out_of_patience(config.patience) {
                progress.reason = StopReason::Patience;
                break 'training;
            }
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

/// One update of the weights.
fn update(
    model: Seq2Seq,
    optimizer: &mut ModuleOptimizer,
    batch: &Batch,
    rate: f64,
    config: &TrainConfig,
    progress: &mut Progress,
) -> Seq2Seq {
    let started = Instant::now();
    let loss = loss::batch_loss(&model, batch, config.label_smoothing);
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    let (gradients, norm) = clip::by_global_norm(gradients, &model, config.clip_norm);
    let loss = loss.into_scalar::<f64>();
    let usable = norm.is_finite() && loss.is_finite();
    let model = if usable { optimizer.step(rate, model, gradients) } else { model };
    progress.count(batch.tokens, loss, norm, started.elapsed(), usable);
    model
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
        observer.best(&model, progress.step)?;
    }
    Ok(())
}

/// When training must end.
struct Clock {
    started: Instant,
    limit: Option<Duration>,
}

impl Clock {
    fn start(minutes: Option<f64>) -> Self {
        let limit = minutes.map(|minutes| Duration::from_secs_f64((60.0 * minutes).clamp(0.0, 1e9)));
        Self { started: Instant::now(), limit }
    }

    fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    fn over(&self, step: usize, total: usize, interrupted: bool) -> Option<StopReason> {
        if interrupted {
            return Some(StopReason::Interrupted);
        }
        if step >= total {
            return Some(StopReason::Steps);
        }
        self.limit.is_some_and(|limit| self.elapsed() >= limit).then_some(StopReason::Minutes)
    }
}

/// What the loop remembers.
#[derive(Default)]
struct Progress {
    step: usize,
    validated_at: usize,
    without_gain: usize,
    best: Option<Scores>,
    best_step: usize,
    reason: StopReason,
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
    fn count(&mut self, tokens: usize, loss: f64, norm: f64, busy: Duration, usable: bool) {
        self.tokens += tokens;
        self.busy += busy;
        self.since_report.busy += busy;
        self.since_report.norm = norm;
        if usable {
            self.since_report.tokens += tokens;
            self.since_report.loss += loss * tokens as f64;
        } else {
            self.skipped += 1;
        }
    }

    fn report(&mut self, epoch: usize, learning_rate: f64) -> Event {
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

    fn out_of_patience(&self, patience: Option<usize>) -> bool {
        patience.is_some_and(|patience| self.without_gain >= patience.max(1))
    }

    fn summary(&self, elapsed: Duration) -> Summary {
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
