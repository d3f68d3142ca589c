//! The figures: a row for each trial, and how far variants are ahead of each other.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Judgement, TestSet, Trial};
use crate::alignment::{Alignment, AlignmentErrorRate, Entropy, aer};
use crate::error::{Error, Result};
use crate::metrics::bleu::Counts;
use crate::metrics::resample::{self, Difference};
use crate::metrics::{BleuConfig, ChrfConfig, Hits, by_length, exact_match};
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

/// All that came of an ablation.
#[derive(Clone, Debug)]
pub struct Results {
    /// Figures, a row a trial, in the order of the plan.
    pub rows: Vec<Row>,
    /// How long it took, in the same order.
    pub times: Vec<Times>,
    /// Every two variants, over all lengths and in the bin of the longest sentences.
    pub comparisons: Vec<Comparison>,
    /// Each trial's translations, in the same order as the rows.
    pub translations: Vec<Vec<String>>,
    /// Where each looks in the sentences that are shown, by their places.
    pub shown: Vec<Vec<(usize, Alignment)>>,
}

impl Results {
    pub(super) fn new(trials: &[Trial], judged: &[Judgement], test: &TestSet, runs: &Path) -> Result<Self> {
        let scored: Vec<Scored<'_>> = judged.iter().map(|judgement| Scored::new(judgement, test)).collect();
        let mut rows = Vec::with_capacity(trials.len());
        let mut times = Vec::with_capacity(trials.len());
        for ((trial, judgement), scored) in trials.iter().zip(judged).zip(&scored) {
            let run = RunDir::find(Some(&trial.path(runs)), runs)?;
            rows.push(row(trial, &run, scored)?);
            let summary = run.summary().unwrap_or_default();
            times.push(Times {
                variant: trial.variant.clone(),
                seed: trial.seed,
                train_seconds: summary["seconds"].as_f64().unwrap_or(f64::NAN),
                tokens_per_second: summary["tokens_per_second"].as_f64().unwrap_or(f64::NAN),
                judge_seconds: judgement.seconds,
            });
        }
        Ok(Self {
            comparisons: comparisons(trials, &scored, test),
            rows,
            times,
            translations: judged.iter().map(|judgement| judgement.translations.clone()).collect(),
            shown: judged.iter().map(|judgement| judgement.shown.clone()).collect(),
        })
    }
}

fn row(trial: &Trial, run: &RunDir, scored: &Scored<'_>) -> Result<Row> {
    let (_, manifest) = run.read_manifest()?;
    let events = run.events();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).cloned().collect::<Vec<_>>();
    let count = |events: &[serde_json::Value], key: &str| {
        events.last().and_then(|event| event[key].as_u64()).unwrap_or_default()
    };
    let finished = named("finished");
    Ok(Row {
        variant: trial.variant.clone(),
        seed: trial.seed,
        attention: trial.config.attention.told(),
        context: trial.config.encoder.memory_size(),
        parameters: manifest.parameters,
        measure: scored.test.measure,
        all: scored.all(),
        by_length: scored.test.bins.iter().map(|bin| scored.bin(bin)).collect(),
        train: Trained {
            pairs: count(&named("started"), "pairs"),
            steps: count(&finished, "steps"),
            best_step: count(&finished, "best_step"),
            curve: points(run)?,
        },
        run: format!("{}/{}", super::RUNS, trial.run),
    })
}

/// The learning curve of a run, from its log.
///
/// # Errors
/// A log of another form.
pub fn points(run: &RunDir) -> Result<Vec<Point>> {
    let read = |why: serde_json::Error| Error::data(run.path(), format!("its log can't be read: {why}"));
    let validated = run.events().into_iter().filter(|event| event["event"] == "validated");
    let point = |event: serde_json::Value| {
        let mut scores = event["scores"].clone();
        scores["step"] = event["step"].clone();
        serde_json::from_value(scores).map_err(read)
    };
    validated.map(point).collect()
}

/// A judgement with what is counted in each sentence.
struct Scored<'a> {
    judgement: &'a Judgement,
    test: &'a TestSet,
    bleu: Vec<Counts>,
    hits: Vec<Hits>,
}

impl<'a> Scored<'a> {
    fn new(judgement: &'a Judgement, test: &'a TestSet) -> Self {
        let pairs = || judgement.translations.iter().zip(&test.pairs);
        Self {
            bleu: pairs().map(|(ours, pair)| test.bleu.count(ours, &[&pair.target])).collect(),
            hits: pairs().map(|(ours, pair)| Hits::of(ours, &pair.target)).collect(),
            judgement,
            test,
        }
    }

    fn all(&self) -> Bin {
        let (from, to) = (self.test.bins.first(), self.test.bins.last());
        self.bin(&by_length::Bin {
            from: from.map_or(0, |bin| bin.from),
            to: to.and_then(|bin| bin.to),
            places: (0..self.test.pairs.len()).collect(),
        })
    }

    fn bin(&self, bin: &by_length::Bin) -> Bin {
        let places = &bin.places;
        let pick = |texts: &dyn Fn(usize) -> String| places.iter().map(|&i| texts(i)).collect::<Vec<_>>();
        let ours = pick(&|i| self.judgement.translations[i].clone());
        let references = pick(&|i| self.test.pairs[i].target.clone());
        let (log_prob, tokens) = places.iter().fold((0.0, 0), |(sum, n), &i| {
            let (log_prob, tokens) = self.judgement.log_probs[i];
            (sum + log_prob, n + tokens)
        });
        let loss = -log_prob / tokens.max(1) as f64;
        let [links, floor] = aer::sum(places.iter().filter_map(|&i| self.judgement.links.get(i)).copied());
        let linked = |rate: AlignmentErrorRate| (!self.judgement.links.is_empty()).then(|| rate.aer());
        let entropy: Entropy = places.iter().filter_map(|&i| self.judgement.entropies.get(i)).copied().sum();
        Bin {
            from: bin.from,
            to: bin.to.unwrap_or(bin.from),
            sentences: places.len(),
            loss,
            perplexity: loss.exp(),
            bleu: self.bleu(places),
            chrf: ChrfConfig::default().corpus(&ours, &[&references]).score,
            exact_match: exact_match(&ours, &[&references]),
            token_accuracy: (self.test.measure == Measure::TokenAccuracy).then(|| self.accuracy(places)),
            aer: linked(links),
            aer_floor: linked(floor),
            entropy: entropy.mean(),
            band: resample::band(places.len(), |sample| self.measure(&at(places, sample))),
        }
    }

    /// The score that variants are compared by.
    fn measure(&self, places: &[usize]) -> f64 {
        match self.test.measure {
            Measure::Bleu => self.bleu(places),
            Measure::TokenAccuracy => 100.0 * self.accuracy(places),
        }
    }

    fn bleu(&self, places: &[usize]) -> f64 {
        let BleuConfig { max_order, .. } = self.test.bleu;
        let mut sum = Counts { correct: vec![0; max_order], total: vec![0; max_order], ..Counts::default() };
        places.iter().for_each(|&i| sum.add(&self.bleu[i]));
        self.test.bleu.score(&sum, 1).score
    }

    fn accuracy(&self, places: &[usize]) -> f64 {
        places.iter().map(|&i| self.hits[i]).sum::<Hits>().accuracy()
    }
}

/// The sentences that a sample of some places draws.
fn at(places: &[usize], sample: &[usize]) -> Vec<usize> {
    sample.iter().map(|&i| places[i]).collect()
}

/// Every two variants, over all lengths and in the bin of the longest sentences.
fn comparisons(trials: &[Trial], scored: &[Scored<'_>], test: &TestSet) -> Vec<Comparison> {
    let mut variants: Vec<(&str, Vec<&Scored<'_>>)> = Vec::new();
    for (trial, scored) in trials.iter().zip(scored) {
        match variants.iter_mut().find(|(name, _)| *name == trial.variant) {
            Some((_, seeds)) => seeds.push(scored),
            None => variants.push((&trial.variant, vec![scored])),
        }
    }
    let mean = |seeds: &[&Scored<'_>], places: &[usize]| {
        seeds.iter().map(|scored| scored.measure(places)).sum::<f64>() / seeds.len().max(1) as f64
    };
    let (first, last) = (test.bins.first(), test.bins.last());
    let everything: Vec<usize> = (0..test.pairs.len()).collect();
    let bounds = |from: Option<&by_length::Bin>| {
        (from.map_or(0, |bin| bin.from), last.and_then(|bin| bin.to).unwrap_or_default())
    };
    let whole = (bounds(first), everything.as_slice());
    let longest = (bounds(last), last.map_or(&[][..], |bin| &bin.places));
    let mut found = Vec::new();
    for (i, (a, of_a)) in variants.iter().enumerate() {
        for (b, of_b) in &variants[..i] {
            for ((from, to), places) in [whole, longest] {
                let difference = resample::paired(places.len(), |sample| {
                    let places = at(places, sample);
                    mean(of_a, &places) - mean(of_b, &places)
                });
                found.push(Comparison { a: (*a).into(), b: (*b).into(), from, to, difference });
            }
        }
    }
    found
}
