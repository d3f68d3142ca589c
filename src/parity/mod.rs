//! Whether a device gives what the reference gives, for every attention: the same weights, sentences and batches on both.
//! Drivers, shader compilers, fusion and tuned kernels have all returned wrong numbers without a word.

mod first;

use burn::module::Module;
use burn::tensor::Device;
use serde::Serialize;

use crate::config::Config;
use crate::error::Result;
use crate::model::host::LaidOut;
use crate::model::{Seq2Seq, Vocabularies, batched};
use crate::prepare::Prepared;
use crate::ranks::Ranks;
use crate::rng::Rng;
use crate::search::{Forced, Hypothesis, SearchConfig};
use crate::train::adam::Adam;
use crate::train::batch::{Batch, Example};
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
/// A translation may be another one if the reference likes both as well: a difference of log-probability below this.
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

/// Compares a device with the reference on the first sentences of prepared data.
///
/// # Errors
/// A config that can't be built.
pub fn compare(variant: &str, config: &Config, data: &Prepared, device: &Device) -> Result<Parity> {
    let reference = Device::flex();
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    // Without dropout, which every device draws in its own way.
    let mut model = config.model();
    model.regularization.dropout = 0.0;
    let fresh = model.init(vocabularies, &mut Rng::new(config.train.seed, 0), &reference)?;
    let (model, _) = trained(fresh, config, &data.examples, WARM_UP, &reference)?;
    let there = model.clone().fork(device);

    let examples: Vec<&Example> = data.dev.examples.iter().take(SENTENCES).collect();
    let logits = largest_difference(logits(&model, &examples, &reference), logits(&there, &examples, device));
    let [same, ties, different] = translations(&model, &there, &examples, &reference, device)?;
    let (_, expected) = trained(model, config, &data.examples, UPDATES, &reference)?;
    let (there, found) = trained(there, config, &data.examples, UPDATES, device)?;
    let carried = there.clone().fork(&reference);
    Ok(Parity {
        variant: variant.to_owned(),
        logits,
        same,
        ties,
        different,
        losses: most(expected.iter().zip(&found).map(|(expected, found)| (found - expected).abs() / expected)),
        carried: largest_difference(
            self::logits(&carried, &examples, &reference),
            self::logits(&there, &examples, device),
        ),
    })
}

/// A model after some updates, and their losses.
fn trained(
    model: Seq2Seq,
    config: &Config,
    examples: &[Example],
    updates: usize,
    device: &Device,
) -> Result<(Seq2Seq, Vec<f64>)> {
    let device = device.clone().autodiff();
    let mut model = model.fork(&device).train();
    let (mut adam, mut baseline) = (Adam::default(), Baseline::new(model.output().vocabulary()));
    let (mut losses, ranks, team) = (Vec::with_capacity(updates), Ranks::default(), Team::alone(1));
    let examples: Vec<&Example> = examples.iter().collect();
    for (number, batch) in examples.chunks_exact(SENTENCES).cycle().take(updates).enumerate() {
        let share = Share::deal(batch, &team, &device);
        let step = Step { rate: RATE, noise: config.train.noise(number), baseline };
        let (next, seen) = update(model, &mut adam, &share, step, &config.train, &ranks)?;
        model = next;
        baseline = baseline.after(seen.log_prob, config.train.baseline_decay);
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

/// Greedy translations by both: the same, as good, and others.
fn translations(
    model: &Seq2Seq,
    there: &Seq2Seq,
    examples: &[&Example],
    reference: &Device,
    device: &Device,
) -> Result<[usize; 3]> {
    let sources: Vec<&[usize]> = examples.iter().map(|example| example.source.as_slice()).collect();
    let greedy = SearchConfig { beam: 1, batch: SENTENCES, ..SearchConfig::default() };
    let translate = |model: &Seq2Seq, device: &Device| -> Result<Vec<Vec<usize>>> {
        let found = batched::translate(model, &LaidOut::default(), &sources, &greedy, 1, device)?;
        let best = |n_best: &Vec<Hypothesis>| n_best.first().map(|best| best.tokens.clone()).unwrap_or_default();
        Ok(found.iter().map(best).collect())
    };
    let (expected, found) = (translate(model, reference)?, translate(there, device)?);
    let likes = |targets: &[Vec<usize>]| -> Result<Vec<f64>> {
        let targets: Vec<&[usize]> = targets.iter().map(Vec::as_slice).collect();
        let forced = batched::score(model, &LaidOut::default(), &sources, &targets, SENTENCES, reference)?;
        Ok(forced.iter().map(Forced::log_prob).collect())
    };
    let liked = likes(&expected)?.into_iter().zip(likes(&found)?);
    let mut counts = [0; 3];
    for ((expected, found), (best, other)) in expected.iter().zip(&found).zip(liked) {
        let place = if expected == found { 0 } else { usize::from((best - other).abs() > TIE) + 1 };
        counts[place] += 1;
    }
    Ok(counts)
}

fn largest_difference(a: Vec<f32>, b: Vec<f32>) -> f64 {
    if a.len() != b.len() {
        return f64::NAN;
    }
    most(a.iter().zip(&b).map(|(a, b)| f64::from((a - b).abs())))
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
        assert!(largest_difference(vec![1.0], vec![]).is_nan());
        assert!(largest_difference(vec![1.0], vec![f32::NAN]).is_nan());
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
