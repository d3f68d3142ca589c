//! How sure a score is: the bootstrap over the sentences of a test set (Efron 1979), and the paired bootstrap between two
//! systems (Koehn 2004, "Statistical significance tests for machine translation evaluation"), for any score of any sentences, as
//! an ablation needs it, with our own generator. [`super::significance`] is sacreBLEU's, for scores of summed counts.

use serde::Serialize;

use crate::rng::Rng;

/// Samples of a bootstrap.
pub const SAMPLES: usize = 1000;

/// What 95 in 100 samples lie between, when the n sentences of a test set are drawn anew, with replacement. `score` is
/// that of the sentences at some places, which may come more than once.
///
/// The same n always draws the same samples.
pub fn band(n: usize, score: impl Fn(&[usize]) -> f64) -> [f64; 2] {
    let mut scores: Vec<f64> = samples(n).map(|places| score(&places)).collect();
    middle(&mut scores)
}

/// How far one system is ahead of another on the same sentences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The first one's score less the second one's.
    pub difference: f64,
    /// What 95 in 100 samples lie between.
    pub low: f64,
    /// See `low`.
    pub high: f64,
    /// How likely a difference this large, to either side, is if there is none: the share of samples that are as far from their mean.
    pub p: f64,
}

/// Compares two systems on the same samples of n sentences; `score` gives the first one's score less the second one's.
pub fn paired(n: usize, score: impl Fn(&[usize]) -> f64) -> Difference {
    let difference = score(&(0..n).collect::<Vec<_>>());
    let mut differences: Vec<f64> = samples(n).map(|places| score(&places)).collect();
    // Shifted so that their mean is 0: what would be seen if there were no difference.
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let as_far = differences.iter().filter(|sampled| (*sampled - mean).abs() >= difference.abs()).count();
    let p = (as_far + 1) as f64 / (differences.len() + 1) as f64;
    let [low, high] = middle(&mut differences);
    Difference { difference, low, high, p }
}

fn samples(n: usize) -> impl Iterator<Item = Vec<usize>> {
    let mut rng = Rng::new(n as u64, 3);
    (0..SAMPLES).map(move |_| (0..n).map(|_| rng.below(n)).collect())
}

/// The 2.5th and the 97.5th percentile.
fn middle(scores: &mut [f64]) -> [f64; 2] {
    scores.sort_by(f64::total_cmp);
    let at = |share: f64| scores[((scores.len() - 1) as f64 * share).round() as usize];
    [at(0.025), at(0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of n coin throws: its standard error is known.
    #[test]
    fn a_band_is_as_wide_as_two_standard_errors_to_each_side() {
        let throws: Vec<f64> = (0..400).map(|i| f64::from(u8::from(i % 4 == 0))).collect();
        let mean = |places: &[usize]| places.iter().map(|&i| throws[i]).sum::<f64>() / places.len() as f64;
        let [low, high] = band(400, mean);
        let error = (0.25f64 * 0.75 / 400.0).sqrt();
        assert!((low - (0.25 - 1.96 * error)).abs() < 0.01, "{low}");
        assert!((high - (0.25 + 1.96 * error)).abs() < 0.01, "{high}");
        assert_eq!(band(400, mean), [low, high], "the same samples each time");
    }

    #[test]
    fn what_is_always_ahead_is_surely_ahead_and_what_is_not_is_not() {
        let mean = |values: &[f64], places: &[usize]| {
            places.iter().map(|&i| values[i]).sum::<f64>() / places.len() as f64
        };
        let ahead: Vec<f64> = (0..100).map(|i| 1.0 + f64::from(i % 3)).collect();
        let told = paired(100, |places| mean(&ahead, places));
        assert!((told.difference - 1.99).abs() < 1e-12 && told.low > 1.5 && told.high < 2.5, "{told:?}");
        assert_eq!(told.p, 1.0 / 1001.0);
        let even: Vec<f64> = (0..100).map(|i| if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let told = paired(100, |places| mean(&even, places));
        assert!(told.difference == 0.0 && told.p == 1.0 && told.low < -0.1 && told.high > 0.1, "{told:?}");
    }
}
