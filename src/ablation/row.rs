//! What a trial's figures are called; scripts read these names.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::metrics::resample::Difference;
use crate::run::RunDir;

/// By which score variants are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// BLEU, 0 to 100: of translations.
    Bleu,
    /// The share of tokens in their right place, in percent: of sequences with a single right answer.
    TokenAccuracy,
}

/// The scores of the sentences of some lengths, or of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// The fewest source words.
    pub from: usize,
    /// The most source words.
    pub to: usize,
    /// How many sentences.
    pub sentences: usize,
    /// Cross-entropy a reference token in nats, reference forced.
    pub loss: f64,
    /// e to the loss.
    pub perplexity: f64,
    /// Of the translations.
    pub bleu: f64,
    /// chrF2 of the translations.
    pub chrf: f64,
    /// The share of translations that are the reference.
    pub exact_match: f64,
    /// The share of tokens in their right place; only where there is a single right answer.
    pub token_accuracy: Option<f64>,
    /// Alignment error rate; nothing without gold links or attention.
    pub aer: Option<f64>,
    /// What a perfect aligner of one link a target word reaches.
    pub aer_floor: Option<f64>,
    /// The mean entropy of a row of weights in nats; nothing without attention.
    pub entropy: Option<f64>,
    /// Translations that the length limit ended.
    pub cut: usize,
    /// Empty translations.
    pub empty: usize,
    /// What 95 in 100 bootstrap samples of the sentences give in the measure that variants are compared by.
    pub band: [f64; 2],
}

/// A point of a learning curve: scores on the dev set.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Updates so far.
    pub step: usize,
    /// Cross-entropy a token in nats.
    pub loss: f64,
    /// Of greedy translations.
    pub bleu: f64,
    /// The share of greedy translations that are the reference.
    pub exact_match: f64,
}

/// What came of training.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trained {
    /// Pairs that were trained on.
    pub pairs: u64,
    /// Updates.
    pub steps: u64,
    /// The update after which the model that is judged was found.
    pub best_step: u64,
    /// Scores on the dev set by updates.
    pub curve: Vec<Point>,
}

/// A trial's figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The variant's name.
    pub variant: String,
    /// The seed.
    pub seed: u64,
    /// What its attention is made of.
    pub attention: String,
    /// The size of the vector that each step gets from the source.
    pub context: usize,
    /// How many numbers the model has learnt.
    pub parameters: usize,
    /// By which score variants are compared.
    pub measure: Measure,
    /// Scores over all lengths.
    #[serde(flatten)]
    pub all: Bin,
    /// The same by source length.
    pub by_length: Vec<Bin>,
    /// Training.
    pub train: Trained,
    /// Its run, from the ablation's directory.
    pub run: String,
}

/// How long a trial took; apart from its figures, which are the same each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Times {
    /// The variant's name.
    pub variant: String,
    /// The seed.
    pub seed: u64,
    /// Seconds of training, validation included.
    pub train_seconds: f64,
    /// Target tokens a second in training, validation left out.
    pub tokens_per_second: f64,
    /// Seconds of translating and aligning the test set.
    pub judge_seconds: f64,
}

/// How far one variant is ahead of another: the means over their seeds, on the same sentences.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The one.
    pub a: String,
    /// The other.
    pub b: String,
    /// The fewest source words.
    pub from: usize,
    /// The most source words.
    pub to: usize,
    /// The difference in the measure that variants are compared by.
    #[serde(flatten)]
    pub difference: Difference,
}

/// A trial that nothing came of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The variant's name.
    pub variant: String,
    /// The seed.
    pub seed: u64,
    /// Why.
    pub why: String,
}

/// The learning curve of a run, from its log.
///
/// # Errors
/// A log of another form.
pub fn points(run: &RunDir) -> Result<Vec<Point>> {
    let read = |why: serde_json::Error| Error::data(run.path(), format!("its log can't be read: {why}"));
    // A loss that is no number is null in the log, and no point of a curve.
    let is_number =
        |event: &serde_json::Value| event["event"] == "validated" && event["scores"]["loss"].is_number();
    let validated = run.events().into_iter().filter(is_number);
    let point = |event: serde_json::Value| {
        let mut scores = event["scores"].clone();
        scores["step"] = event["step"].clone();
        serde_json::from_value(scores).map_err(read)
    };
    validated.map(point).collect()
}
