//! One variant with one seed: trained, judged, and found again.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{Progress, TestSet, Variant};
use crate::alignment::{Alignment, AlignmentErrorRate, Entropy};
use crate::config::{Config, keys};
use crate::device::Opened;
use crate::error::{Error, Result};
use crate::hash::sha256_hex;
use crate::prepare::Prepared;
use crate::ranks::Ranks;
use crate::run::{RunDir, Training, Unfinished};
use crate::train::StopReason;
use crate::translator::{Translator, View};

/// One variant with one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// The variant's name.
    pub variant: String,
    /// The seed.
    pub seed: u64,
    /// All that decides it.
    pub config: Config,
    /// The name of its run: the variant, the seed, and a digest of the config, the data and the version.
    pub run: String,
}

/// What a model makes of the test set, sentence by sentence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// Its translations.
    pub translations: Vec<String>,
    /// Which of them the length limit ended.
    pub cut: Vec<bool>,
    /// The log-probability of each reference with its end, and how many tokens that are.
    pub log_probs: Vec<(f64, usize)>,
    /// How well its links agree with the gold ones, reference forced, beside the floor; empty without links or attention.
    pub links: Vec<[AlignmentErrorRate; 2]>,
    /// How sure attention is, reference forced.
    pub entropies: Vec<Entropy>,
    /// Where it looks in the sentences that are shown, by their places, reference forced.
    pub shown: Vec<(usize, Alignment)>,
    /// How long judging took.
    pub seconds: f64,
}

/// What came of a trial.
pub(super) enum Outcome {
    /// What its model makes of the test set.
    Judged(Box<Judgement>),
    /// No figures, and why.
    Failed(String),
    /// Somebody asked to stop.
    Stopped,
}

/// Digits of the digest in a run's name.
const DIGITS: usize = 8;
/// Raised when training or judging changes within a version, so that old runs are not taken for new ones.
const REVISION: u32 = 1;

impl Trial {
    pub(super) fn new(variant: &Variant, seed: u64, test: &TestSet) -> Result<Self> {
        let mut config = variant.config.clone();
        config.train.seed = seed;
        let version = format!("{} {REVISION}", env!("CARGO_PKG_VERSION"));
        let all = format!("{}\n{}\n{version}", keys::commented(&config)?, test.digest);
        let digest = &sha256_hex(all.as_bytes())[..DIGITS];
        let run = format!("{}-{seed}-{digest}", variant.name);
        Ok(Self { variant: variant.name.clone(), seed, config, run })
    }

    /// Where its run lies.
    pub fn path(&self, runs: &Path) -> PathBuf {
        runs.join(&self.run)
    }

    /// Trained and judged only if it was not before.
    pub(super) fn conduct(
        &self,
        runs: &Path,
        data: &Prepared,
        test: &TestSet,
        opened: &Opened,
        progress: &mut dyn Progress,
    ) -> Result<Outcome> {
        let path = self.path(runs);
        if !is_trained(&path) {
            let training = self.training(&path, data, opened)?;
            let dir = training.dir.clone();
            let summary = training.run(&self.config, data, opened, &Ranks::default(), None, progress)?;
            if summary.reason == StopReason::Interrupted {
                return Ok(Outcome::Stopped);
            }
            // It is done, and there are many of them.
            dir.forget_checkpoints()?;
            if summary.best.is_none() {
                return Ok(Outcome::Failed("its loss was never a number: lower train.learning_rate".into()));
            }
        }
        let run = RunDir::find(Some(&path), runs)?;
        if let Some(judgement) = run.judgement().filter(|judgement| fits(judgement, test)) {
            progress.reused(self);
            return Ok(Outcome::Judged(Box::new(judgement)));
        }
        if progress.stop() {
            return Ok(Outcome::Stopped);
        }
        progress.judges(self);
        let judgement = match judge(&Translator::open(&run, &opened.device)?, test) {
            Err(Error::Model(why)) => return Ok(Outcome::Failed(why)),
            judged => judged?,
        };
        if judgement.log_probs.iter().any(|(log_prob, _)| !log_prob.is_finite()) {
            return Ok(Outcome::Failed("its loss on the test set is no number".into()));
        }
        run.write_judgement(&judgement)?;
        Ok(Outcome::Judged(Box::new(judgement)))
    }
}

impl Trial {
    /// Training from where it was stopped, or from the beginning.
    fn training(&self, path: &Path, data: &Prepared, opened: &Opened) -> Result<Training> {
        let ranks = Ranks::default();
        // What is not whole enough to go on from is no loss: it is trained again.
        let before = RunDir::find(Some(path), path).and_then(|run| run.unfinished());
        if let Ok(Unfinished { dir, saved: Some(saved), .. }) = before {
            return Training::resume(dir, &saved, &self.config, data, opened, &ranks);
        }
        if path.exists() {
            RunDir::remove(path)?;
        }
        Training::begin(path, &self.config, data, opened, &ranks)
    }
}

/// Whether a run came to its end and has a model.
fn is_trained(path: &Path) -> bool {
    let Ok(run) = RunDir::find(Some(path), path) else { return false };
    let interrupted = serde_json::json!(StopReason::Interrupted);
    run.has_model() && run.summary().is_some_and(|summary| summary["reason"] != interrupted)
}

/// Whether a judgement is about all of these sentences.
fn fits(judgement: &Judgement, test: &TestSet) -> bool {
    judgement.translations.len() == test.pairs.len()
        && judgement.shown.iter().map(|(place, _)| *place).eq(test.shown.iter().copied())
}

/// What a model makes of the test set.
fn judge(translator: &Translator, test: &TestSet) -> Result<Judgement> {
    let started = Instant::now();
    let translations = translator.translate(&test.sources(), &translator.options(), 0)?;
    let forced = translator.align(&test.pairs, &translator.options().search, 0)?;
    let told = forced.told(View::default());
    let gold = test.gold.as_ref().filter(|_| translator.has_attention());
    Ok(Judgement {
        translations: translations.iter().map(|translation| translation.best().translation.clone()).collect(),
        cut: translations.iter().map(|translation| translation.best().cut).collect(),
        log_probs: forced.log_probs(),
        links: gold.map_or_else(Vec::new, |gold| forced.error_rates(gold)),
        entropies: if translator.has_attention() { forced.entropies() } else { Vec::new() },
        shown: test.shown.iter().map(|&place| (place, told[place].alignment.clone())).collect(),
        seconds: started.elapsed().as_secs_f64(),
    })
}
