//! How a model is trained.

use serde::{Deserialize, Serialize};

use super::batch::Batching;
use super::optimizer::{OptimizerKind, Rule};
use super::schedule::Decay;
use crate::corpus::read::Gold;
use crate::error::{Error, Result};

/// How a model is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainConfig {
    /// Decides first weights, order of batches and, with the number of cores, dropout and what attention draws.
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
    /// Of plateau: what the rate is multiplied by …
    pub plateau_factor: f64,
    /// … after so many validations without a better score.
    pub plateau_patience: usize,
    /// How gradients move weights.
    pub optimizer: OptimizerKind,
    /// What an update takes from every weight of a matrix, times the learning rate.
    pub weight_decay: f64,
    /// How much of its velocity `sgd` keeps.
    pub momentum: f64,
    /// Batches that make an update together.
    pub accumulate: usize,
    /// How much the moving average of the weights, which is then validated and kept, keeps of itself at each update; 0 for no
    /// average.
    pub ema: f64,
    /// ε, the share of the target's probability that is spread over the other tokens.
    pub label_smoothing: f64,
    /// What a nat of entropy of a hard choice is worth, in nats: against choosing too early.
    pub entropy_bonus: f64,
    /// How much of the baseline of hard choices each batch leaves.
    pub baseline_decay: f64,
    /// The largest norm of all gradients together; 0 for no limit.
    pub clip_norm: f64,
    /// What a nat of attention's cross-entropy with the links of the training data is worth, in nats; 0 to let it look where it
    /// likes.
    pub guided_alignment: f64,
    /// The share of the decoder's inputs that are what it would have written itself …
    pub scheduled_sampling: f64,
    /// … after so many updates, up to which it rises from 0.
    pub sampling_warmup: usize,
    /// Parts of the model that do not learn, by the names of their parameters.
    pub freeze: Vec<String>,
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
            plateau_factor: 0.5,
            plateau_patience: 2,
            optimizer: OptimizerKind::Adam,
            weight_decay: 0.0,
            momentum: 0.9,
            accumulate: 1,
            ema: 0.0,
            label_smoothing: 0.0,
            entropy_bonus: 0.1,
            baseline_decay: 0.9,
            clip_norm: 1.0,
            guided_alignment: 0.0,
            scheduled_sampling: 0.0,
            sampling_warmup: 1000,
            freeze: Vec::new(),
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
    /// The highest chrF2 of greedy translations; of equals the lower loss.
    Chrf,
    /// The lowest validation loss.
    Loss,
}

/// When training is written down, and what of it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CheckpointConfig {
    /// Updates between checkpoints; without it one after each validation.
    pub every: Option<usize>,
    /// How many checkpoints are kept, the newest ones.
    pub keep_last: usize,
    /// How many models are kept beside the best one, by their scores.
    pub keep_best: usize,
}

impl Default for CheckpointConfig {
    fn default() -> Self {
        Self { every: None, keep_last: 1, keep_best: 0 }
    }
}

impl CheckpointConfig {
    /// Refuses what can't be meant.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        for (key, fine) in [("every", self.every != Some(0)), ("keep_last", self.keep_last > 0)] {
            if !fine {
                return Err(Error::Config(format!("checkpoint.{key} must be at least 1")));
            }
        }
        Ok(())
    }
}

/// How large batches are, by what they need.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BatchConfig {
    /// The memory that training may use, such as `4GB`, in place of `train.batch_sentences` and `train.batch_tokens`.
    pub memory: Option<String>,
}

impl BatchConfig {
    /// The budget in bytes, if there is one.
    ///
    /// # Errors
    /// What is no amount of memory.
    pub fn bytes(&self) -> Result<Option<u64>> {
        let Some(told) = &self.memory else { return Ok(None) };
        let units = [
            ("KiB", 1u64 << 10),
            ("MiB", 1 << 20),
            ("GiB", 1 << 30),
            ("KB", 1_000),
            ("MB", 1_000_000),
            ("GB", 1_000_000_000),
        ];
        let parsed = units.iter().find_map(|(unit, bytes)| {
            let number: f64 = told.trim().strip_suffix(unit)?.trim().parse().ok()?;
            (number.is_finite() && number > 0.0).then_some((number * *bytes as f64) as u64)
        });
        let wrong =
            || Error::Config(format!("batch.memory = \"{told}\": write an amount such as \"4GB\" or \"512MiB\""));
        parsed.map(Some).ok_or_else(wrong)
    }
}

/// What is written down for TensorBoard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogConfig {
    /// Whether anything is.
    pub tensorboard: bool,
    /// Dev sentences, from the first, whose alignment is drawn at each validation.
    pub pictures: usize,
}

impl Default for LogConfig {
    fn default() -> Self {
        Self { tensorboard: false, pictures: 3 }
    }
}

/// What the first weights are taken from, where they are not all drawn. Paths may hold environment variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StartConfig {
    /// Another run: its vocabularies, and of its model all that has a place here.
    pub run: Option<String>,
    /// Vectors for the source's words, in word2vec's text form.
    pub source_vectors: Option<String>,
    /// Vectors for the target's words.
    pub target_vectors: Option<String>,
}

impl TrainConfig {
    /// Refuses what can't be trained with.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        let at_least_0 = |value: f64| value.is_finite() && value >= 0.0;
        let rules = [
            (at_least_0(self.learning_rate), "learning_rate must be a number of at least 0"),
            ((0.0..1.0).contains(&self.label_smoothing), "label_smoothing must be at least 0 and less than 1"),
            (at_least_0(self.entropy_bonus), "entropy_bonus must be a number of at least 0"),
            ((0.0..1.0).contains(&self.baseline_decay), "baseline_decay must be at least 0 and less than 1"),
            (at_least_0(self.clip_norm), "clip_norm must be a number of at least 0"),
            (at_least_0(self.weight_decay), "weight_decay must be a number of at least 0"),
            (
                self.weight_decay == 0.0 || self.optimizer != OptimizerKind::Adam,
                "weight_decay is not adam's: set train.optimizer to adamw",
            ),
            ((0.0..1.0).contains(&self.momentum), "momentum must be at least 0 and less than 1"),
            (self.plateau_factor > 0.0 && self.plateau_factor < 1.0, "plateau_factor must be between 0 and 1"),
            (at_least_0(self.guided_alignment), "guided_alignment must be a number of at least 0"),
            ((0.0..=1.0).contains(&self.scheduled_sampling), "scheduled_sampling must be 0 to 1"),
            (self.accumulate >= 1, "accumulate must be at least 1"),
            ((0.0..1.0).contains(&self.ema), "ema must be at least 0 and less than 1"),
            (self.max_minutes.is_none_or(at_least_0), "max_minutes must be a number of at least 0"),
        ];
        match rules.into_iter().find(|(held, _)| !held) {
            Some((_, rule)) => Err(Error::Config(format!("train.{rule}"))),
            None => self.batching().map(|_| ()),
        }
    }

    /// How gradients move weights, with its settings.
    pub fn rule(&self) -> Rule {
        Rule { kind: self.optimizer, weight_decay: self.weight_decay, momentum: self.momentum }
    }

    /// What a third column of the training data is read as.
    pub fn gold(&self) -> Gold {
        if self.guided_alignment > 0.0 { Gold::ThirdColumn { base: 0 } } else { Gold::Ignored }
    }

    /// The seed of an update's dropout and draws, which depends on the seed and the update alone.
    pub fn noise(&self, step: usize) -> u64 {
        self.seed.wrapping_mul(1_000_003).wrapping_add(step as u64)
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
