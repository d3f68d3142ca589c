//! Whether a device gives what the reference gives, for every attention: the same weights, sentences and batches on both.
//! Drivers, shader compilers, fusion and tuned kernels have all returned wrong numbers without a word.

mod first;

use burn::module::Module;
use burn::tensor::Device;
use serde::Serialize;

use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::host::LaidOut;
use crate::model::{Seq2Seq, Vocabularies, batched};
use crate::prepare::Prepared;
use crate::ranks::Ranks;
use crate::rng::Rng;
use crate::search::{Hypothesis, SearchConfig};
use crate::train::TrainConfig;
use crate::train::batch::{Batch, Example};
use crate::train::examples::Examples;
use crate::train::optimizer::Optimizer;
use crate::train::reward::Baseline;
use crate::train::share::{Share, Team};
use crate::train::update::{Step, update};

pub use first::check_first_batch;

/// Sentences that are compared.
pub const SENTENCES: usize = 30;
/// Updates that are compared.
pub const UPDATES: usize = 20;
/// Updates on the reference before: weights that were just drawn like every word as well as every other.
const WARM_UP: usize = 300;
/// The learning rate of all of them.
const RATE: f64 = 2e-3;

/// The most that logits may differ.
pub const LOGITS: f64 = 1e-3;
/// The most that a loss may differ, relative to it.
pub const LOSSES: f64 = 0.01;
/// A translation may be another one if the reference likes both tokens as well where the two part: a difference of
/// log-probability of at most this.
pub const TIE: f64 = 1e-3;

/// How a device differs from the reference with one attention.
#[derive(Clone, Debug, Serialize)]
pub struct Parity {
    /// The attention.
    pub variant: String,
    /// The largest difference of two logits, given the same targets.
    pub logits: f64,
    /// Greedy translations that are the same ids.
    pub same: usize,
    /// That are others which the reference likes as well.
    pub ties: usize,
    /// That are others.
    pub different: usize,
    /// The largest difference of two training losses, relative to the reference's; not a number if one is none.
    pub losses: f64,
    /// The largest difference of two logits after training on the device, read on the device and on the reference.
    pub carried: f64,
}

impl Parity {
    /// Whether all is within bounds.
    pub fn holds(&self) -> bool {
        self.logits <= LOGITS && self.different == 0 && self.losses <= LOSSES && self.carried <= LOGITS
    }
}

/// What the reference says, with one attention, of the first sentences of prepared data.
#[derive(Debug)]
pub struct Reference<'a> {
    variant: String,
    train: &'a TrainConfig,
    data: &'a Prepared,
    examples: Vec<&'a Example>,
    model: Seq2Seq,
    logits: Vec<f32>,
    translations: Vec<Vec<usize>>,
    losses: Vec<f64>,
}

impl<'a> Reference<'a> {
    /// Trains a little, so that the weights are more than just drawn.
    ///
    /// # Errors
    /// A config that can't be built; too few sentences.
    pub fn new(variant: &str, config: &'a Config, data: &'a Prepared) -> Result<Self> {
        if data.examples.len().min(data.dev.examples.len()) < SENTENCES {
            return Err(Error::Config(format!("parity needs {SENTENCES} pairs of data.train and of data.dev")));
        }
        let device = Device::flex();
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        // Without dropout, which every device draws in its own way.
        let mut model = config.model();
        model.regularization.dropout = 0.0;
        let fresh = model.init(vocabularies, &mut Rng::new(config.train.seed, 0), &device)?;
        let (model, _) = trained(fresh, &config.train, &data.examples, WARM_UP, &device)?;
        let examples: Vec<&Example> = data.dev.examples.iter().take(SENTENCES).collect();
        Ok(Self {
            variant: variant.to_owned(),
            train: &config.train,
            data,
            logits: logits(&model, &examples, &device),
            translations: greedy(&model, &examples, &device)?,
            losses: trained(model.clone(), &config.train, &data.examples, UPDATES, &device)?.1,
            examples,
            model,
        })
    }

    /// Does the same on a device.
    ///
    /// # Errors
    /// A device that can't.
    pub fn compare(&self, device: &Device) -> Result<Parity> {
        let reference = Device::flex();
        let there = self.model.clone().fork(device);
        let logits_there = logits(&there, &self.examples, device);
        let [same, ties, different] = self.compare_translations(&greedy(&there, &self.examples, device)?)?;
        let (there, losses) = trained(there, self.train, &self.data.examples, UPDATES, device)?;
        let carried = there.clone().fork(&reference);
        let losses = self.losses.iter().zip(&losses).map(|(expected, found)| (found - expected).abs() / expected);
        Ok(Parity {
            variant: self.variant.clone(),
            logits: largest_difference(&self.logits, &logits_there),
            same,
            ties,
            different,
            losses: most(losses),
            carried: largest_difference(
                &logits(&carried, &self.examples, &reference),
                &logits(&there, &self.examples, device),
            ),
        })
    }

    /// How many translations are the same, how many part where the reference likes both ways as well, and how many are
    /// others.
    fn compare_translations(&self, found: &[Vec<usize>]) -> Result<[usize; 3]> {
        let sources = sources(&self.examples);
        let likes = |targets: &[Vec<usize>]| {
            let targets: Vec<&[usize]> = targets.iter().map(Vec::as_slice).collect();
            batched::score(&self.model, &LaidOut::default(), &sources, &targets, SENTENCES, &Device::flex())
        };
        let (liked, others) = (likes(&self.translations)?, likes(found)?);
        let mut counts = [0; 3];
        for (i, (expected, found)) in self.translations.iter().zip(found).enumerate() {
            // Up to there both have written the same; what comes after follows from it.
            let parting = expected.iter().zip(found).take_while(|(a, b)| a == b).count();
            let place = match (liked[i].log_probs.get(parting), others[i].log_probs.get(parting)) {
                _ if expected == found => 0,
                (Some(best), Some(other)) if (best - other).abs() <= TIE => 1,
                _ => 2,
            };
            counts[place] += 1;
        }
        Ok(counts)
    }
}

/// A model after some updates, and their losses.
fn trained(
    model: Seq2Seq,
    config: &TrainConfig,
    examples: &Examples,
    updates: usize,
    device: &Device,
) -> Result<(Seq2Seq, Vec<f64>)> {
    let device = device.clone().autodiff();
    let mut model = model.fork(&device).train();
    let (mut optimizer, mut baseline) =
        (Optimizer::new(config.rule()), Baseline::new(model.output().vocabulary()));
    let (mut losses, ranks, team) = (Vec::with_capacity(updates), Ranks::default(), Team::alone(1));
    let examples = examples.first(SENTENCES * updates)?;
    let examples: Vec<&Example> = examples.iter().collect();
    for (number, batch) in examples.chunks_exact(SENTENCES).cycle().take(updates).enumerate() {
        let share = [Share::deal(batch, &team, &device)];
        let step = Step { rate: RATE, noise: config.noise(number), baseline, sampling: 0.0 };
        let (next, seen) = update(model, &mut optimizer, &share, step, config, &ranks)?;
        model = next;
        baseline = baseline.after(seen.log_prob, config.baseline_decay);
        losses.push(seen.loss);
    }
    Ok((model.valid(), losses))
}

/// The logits of given targets, every real step's.
fn logits(model: &Seq2Seq, examples: &[&Example], device: &Device) -> Vec<f32> {
    let batch = Batch::new(examples, device);
    let (memory, state) = model.encode(&batch.source);
    let readouts = model.readouts(&batch.inputs, state, &memory).values;
    model.output().logits(readouts).into_data().iter::<f32>().collect()
}

fn greedy(model: &Seq2Seq, examples: &[&Example], device: &Device) -> Result<Vec<Vec<usize>>> {
    let greedy = SearchConfig { beam: 1, batch: SENTENCES, ..SearchConfig::default() };
    let found = batched::translate(model, &LaidOut::default(), &sources(examples), &greedy, 1, device)?;
    let best = |n_best: &Vec<Hypothesis>| n_best.first().map(|best| best.tokens.clone()).unwrap_or_default();
    Ok(found.iter().map(best).collect())
}

fn sources<'a>(examples: &[&'a Example]) -> Vec<&'a [usize]> {
    examples.iter().map(|example| example.source.as_slice()).collect()
}

fn largest_difference(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    most(a.iter().zip(b).map(|(a, b)| f64::from((a - b).abs())))
}

/// The largest of some numbers; not a number if one is none.
fn most(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.fold(0.0, |most, number| if most.is_nan() || most > number { most } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_not_lost() {
        assert_eq!(most([1.0, 3.0, 2.0].into_iter()), 3.0);
        for numbers in [[f64::NAN, 1.0, 2.0], [1.0, f64::NAN, 2.0], [1.0, 2.0, f64::NAN]] {
            assert!(most(numbers.into_iter()).is_nan(), "{numbers:?}");
        }
        assert!(largest_difference(&[1.0], &[]).is_nan());
        assert!(largest_difference(&[1.0], &[f32::NAN]).is_nan());
        let far = Parity {
            variant: "dot".into(),
            logits: f64::NAN,
            same: 30,
            ties: 0,
            different: 0,
            losses: 0.0,
            carried: 0.0,
        };
        assert!(!far.holds() && Parity { logits: LOGITS, ..far.clone() }.holds());
        assert!(!Parity { logits: 0.0, different: 1, ..far }.holds());
    }
}
