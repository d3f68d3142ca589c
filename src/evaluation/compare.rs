//! Whether one system is better than another on the same test set.

use std::iter::Sum;

use serde::Serialize;

use super::scores::{Counts, with_words};
use super::{Criteria, Test};
use crate::metrics::significance::{
    Bootstrap, Randomisation, SAMPLES, SEED, TRIALS, bootstrap, randomisation, signature,
};

/// One system beside another, which is the baseline.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// By each score.
    pub scores: Vec<Compared>,
    /// Samples of the bootstrap.
    pub samples: usize,
    /// Trials of the randomisation.
    pub trials: usize,
    /// What both were drawn with, numpy's generator and sacreBLEU's seed.
    pub seed: u64,
}

/// One score of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// BLEU, chrF2, chrF2++ or TER.
    pub score: &'static str,
    /// How it was computed, as sacreBLEU writes it for its paired tests: the bootstrap's, the randomisation's.
    pub signatures: [String; 2],
    /// By the paired bootstrap.
    pub bootstrap: Bootstrap,
    /// By paired approximate randomisation.
    pub randomisation: Randomisation,
}

/// Compares the test's translations with another system's.
pub(super) fn compare(test: &Test, criteria: &Criteria, system: &Counts, other: &[String]) -> Comparison {
    let (baseline, n) = (Counts::of(other, test, criteria), test.references.len());
    let (bleu, chrf, ter) = (&criteria.bleu, &criteria.chrf, &criteria.ter);
    let words = with_words(chrf);
    let scores = vec![
        compared("BLEU", &bleu.signature(n), &baseline.bleu, &system.bleu, |sum| bleu.score(sum, n).score),
        compared("chrF2", &chrf.signature(n), &baseline.chrf, &system.chrf, |sum| chrf.score(sum, n).score),
        compared("chrF2++", &words.signature(n), &baseline.chrf_words, &system.chrf_words, |sum| {
            words.score(sum, n).score
        }),
        compared("TER", &ter.signature(n), &baseline.ter, &system.ter, |sum| ter.score(sum, n).score),
    ];
    Comparison { scores, samples: SAMPLES, trials: TRIALS, seed: SEED }
}

fn compared<C>(
    name: &'static str,
    told: &str,
    baseline: &[C],
    system: &[C],
    score: impl Fn(&C) -> f64 + Sync,
) -> Compared
where
    C: Send + Sync + for<'a> Sum<&'a C>,
{
    Compared {
        score: name,
        signatures: [signature(told, "bs", SAMPLES, SEED), signature(told, "ar", TRIALS, SEED)],
        bootstrap: bootstrap(baseline, system, SAMPLES, SEED, &score),
        randomisation: randomisation(baseline, system, TRIALS, SEED, &score),
    }
}
