//! Whether one system is better than another, or was lucky with the test set: the paired bootstrap (Koehn 2004,
//! "Statistical significance tests for machine translation evaluation") and paired approximate randomisation
//! (Riezler & Maxwell 2005, "On some pitfalls in automatic evaluation and significance testing for MT"), as in
//! sacreBLEU 2.6.0's `significance.py`, with the same draws for the same seed.
//!
//! Any score will do that comes from counts of sentences which add up. Both systems have counts of the same
//! sentences in the same order.

use std::iter::Sum;

use rayon::prelude::*;
use serde::Serialize;

use super::numpy::Generator;

/// sacreBLEU's seed.
pub const SEED: u64 = 12345;
/// Samples of a bootstrap.
pub const SAMPLES: usize = 1000;
/// Trials of a randomisation.
pub const TRIALS: usize = 10_000;

/// A system's score, and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    /// Of the test set.
    pub score: f64,
    /// The mean over the samples.
    pub mean: f64,
    /// Half of what 95 in 100 samples lie between: sacreBLEU prints `mean ± ci`.
    pub ci: f64,
}

/// What the bootstrap says of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bootstrap {
    /// The one that the other is compared with.
    pub baseline: Estimate,
    /// The other.
    pub system: Estimate,
    /// How likely so large a difference is if there is none.
    pub p: f64,
}

/// What randomisation says of two systems.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Randomisation {
    /// The score of the one that the other is compared with.
    pub baseline: f64,
    /// The other's.
    pub system: f64,
    /// How likely so large a difference is if there is none.
    pub p: f64,
}

/// Draws test sets from the sentences, with replacement, and looks how far apart the systems are on each.
/// sacreBLEU does this step in single precision, so that its means and intervals differ from ours in the seventh
/// digit.
pub fn bootstrap<C>(
    baseline: &[C],
    system: &[C],
    samples: usize,
    seed: u64,
    score: impl Fn(&C) -> f64 + Sync,
) -> Bootstrap
where
    C: Send + Sync + for<'a> Sum<&'a C>,
{
    let n = baseline.len();
    // Nobody has a test set of more sentences than 32 bits can count.
    let places = Generator::new(seed).choices(u32::try_from(n).unwrap_or(u32::MAX), samples * n);
    let resampled = |counts: &[C]| -> Vec<f64> {
        let sum = |places: &[u32]| places.iter().map(|&place| &counts[place as usize]).sum();
        places.par_chunks(n.max(1)).map(|places| score(&sum(places))).collect()
    };
    let (baselines, systems) = (resampled(baseline), resampled(system));
    let apart: Vec<f64> = systems.iter().zip(&baselines).map(|(ours, theirs)| (ours - theirs).abs()).collect();
    let (baseline, system) = (score(&baseline.iter().sum()), score(&system.iter().sum()));
    let (difference, usual) = ((baseline - system).abs(), mean(&apart));
    // Less their mean: what would be seen if there were no difference.
    let further = apart.iter().filter(|&apart| apart - usual > difference).count();
    Bootstrap {
        baseline: estimate(baseline, baselines),
        system: estimate(system, systems),
        p: p_value(further, apart.len()),
    }
}

/// Swaps the systems' outputs for each sentence by the throw of a coin, and looks how often they are then further
/// apart than they are.
pub fn randomisation<C>(
    baseline: &[C],
    system: &[C],
    trials: usize,
    seed: u64,
    score: impl Fn(&C) -> f64 + Sync,
) -> Randomisation
where
    C: Send + Sync + for<'a> Sum<&'a C>,
{
    let n = baseline.len();
    let coins = Generator::new(seed).bits(trials * n);
    let is_head = |throw: usize| coins[throw / 32] >> (throw % 32) & 1 == 1;
    let shuffled = |trial: usize, swapped: bool| {
        let pick = |(i, (ours, theirs))| if is_head(trial * n + i) == swapped { theirs } else { ours };
        score(&baseline.iter().zip(system).enumerate().map(pick).sum())
    };
    let (first, second) = (score(&baseline.iter().sum()), score(&system.iter().sum()));
    let difference = (first - second).abs();
    let is_further = |&trial: &usize| (shuffled(trial, false) - shuffled(trial, true)).abs() > difference;
    let further = (0..trials).into_par_iter().filter(is_further).count();
    Randomisation { baseline: first, system: second, p: p_value(further, trials) }
}

/// A score's signature with the test's: `bs` (bootstrap) or `ar` (randomisation), how often, and the seed.
pub fn signature(of_score: &str, test: &str, times: usize, seed: u64) -> String {
    let (references, rest) = of_score.split_once('|').unwrap_or((of_score, ""));
    format!("{references}|{test}:{times}|seed:{seed}|{rest}")
}

/// One more than were counted, so that it is never 0.
fn p_value(further: usize, all: usize) -> f64 {
    (further + 1) as f64 / (all + 1) as f64
}

/// The mean of `scores`, and half of what lies between the 2.5th and the 97.5th percentile.
fn estimate(score: f64, mut scores: Vec<f64>) -> Estimate {
    scores.sort_by(f64::total_cmp);
    let cut = scores.len() / 40;
    let ci = match scores.get(cut..scores.len() - cut) {
        Some([low, .., high]) => 0.5 * (high - low),
        _ => 0.0,
    };
    Estimate { score, mean: mean(&scores), ci }
}

fn mean(values: &[f64]) -> f64 {
    // An empty sum of floating-point numbers is −0.
    values.iter().fold(0.0, |sum, value| sum + value) / values.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(sum: &f64) -> f64 {
        *sum
    }

    /// Of three sentences that differ by 1 each, the sums differ by 3, by 1, by −1 or by −3, and never by more.
    #[test]
    fn no_shuffle_is_further_apart_than_what_is_always_ahead() {
        let told = randomisation(&[1.0, 2.0, 3.0], &[2.0, 3.0, 4.0], 1000, SEED, total);
        assert_eq!(told, Randomisation { baseline: 6.0, system: 9.0, p: 1.0 / 1001.0 });
    }

    /// +3 and −2 make 1; shuffled the two are as often 5 as 1 apart.
    #[test]
    fn half_of_the_shuffles_are_further_apart_than_what_nearly_cancels_out() {
        let told = randomisation(&[0.0, 0.0], &[3.0, -2.0], 10_000, SEED, total);
        assert!((told.p - 0.5).abs() < 0.02, "{told:?}");
    }

    #[test]
    fn samples_scatter_like_the_sentences() {
        let throws: Vec<f64> = (0..400).map(|i| f64::from(u8::from(i % 4 == 0)) / 400.0).collect();
        let ahead: Vec<f64> = throws.iter().map(|throw| throw + 1.0 / 400.0).collect();
        let told = bootstrap(&throws, &ahead, SAMPLES, SEED, total);
        let error = (0.25f64 * 0.75 / 400.0).sqrt();
        assert!((told.system.mean - 1.25).abs() < 0.003 && (told.system.score - 1.25).abs() < 1e-12, "{told:?}");
        assert!((told.baseline.ci - 1.96 * error).abs() < 0.005, "{told:?}");
        assert_eq!(told.p, 1.0 / 1001.0);
    }

    #[test]
    fn without_sentences_nothing_is_found() {
        let none = Estimate { score: 0.0, mean: 0.0, ci: 0.0 };
        // An empty sum of floating-point numbers is −0.
        let told = bootstrap(&[], &[], 10, SEED, |sum: &f64| sum.abs());
        assert_eq!(told, Bootstrap { baseline: none, system: none, p: 1.0 });
        assert_eq!(randomisation(&[], &[], 10, SEED, |sum: &f64| sum.abs()).p, 1.0 / 11.0);
    }

    #[test]
    fn the_signature_tells_the_test() {
        assert_eq!(
            signature("nrefs:1|case:lc|version:2.6.0", "bs", SAMPLES, SEED),
            "nrefs:1|bs:1000|seed:12345|case:lc|version:2.6.0"
        );
    }
}
