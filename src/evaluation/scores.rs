//! The scores of a test set, from what is counted in each sentence.

use rayon::prelude::*;
use serde::Serialize;

use super::{Criteria, Test};
use crate::metrics::{Bleu, Chrf, ChrfConfig, Ter, bleu, chrf, exact_match, ter};

/// Every score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scores {
    /// How many sentences were judged.
    pub sentences: usize,
    /// BLEU.
    pub bleu: Bleu,
    /// chrF2.
    pub chrf: Chrf,
    /// chrF2++: with words and pairs of words.
    #[serde(rename = "chrf++")]
    pub chrf_words: Chrf,
    /// TER.
    pub ter: Ter,
    /// The share of sentences that are exactly a reference.
    pub exact_match: f64,
    /// Words of the hypotheses for each word of the references, as BLEU counts them; 0 where those have none, as sacreBLEU says.
    pub length_ratio: f64,
}

/// What is counted in each sentence of a system.
pub(super) struct Counts {
    pub bleu: Vec<bleu::Counts>,
    pub chrf: Vec<chrf::Counts>,
    pub chrf_words: Vec<chrf::Counts>,
    pub ter: Vec<ter::Counts>,
}

/// chrF++ for a chrF.
pub(super) fn with_words(chrf: &ChrfConfig) -> ChrfConfig {
    ChrfConfig { word_order: 2, ..chrf.clone() }
}

impl Counts {
    /// Of one system's translations of a test set.
    pub fn of(hypotheses: &[String], test: &Test, criteria: &Criteria) -> Self {
        let words = with_words(&criteria.chrf);
        let sentences =
            || hypotheses.par_iter().enumerate().map(|(i, hypothesis)| (hypothesis.as_str(), test.of(i)));
        Self {
            bleu: sentences()
                .map(|(hypothesis, references)| criteria.bleu.count(hypothesis, &references))
                .collect(),
            chrf: sentences()
                .map(|(hypothesis, references)| criteria.chrf.count(hypothesis, &references))
                .collect(),
            chrf_words: sentences().map(|(hypothesis, references)| words.count(hypothesis, &references)).collect(),
            ter: sentences().map(|(hypothesis, references)| criteria.ter.count(hypothesis, &references)).collect(),
        }
    }

    /// The scores of all sentences together.
    pub fn scores(&self, test: &Test, criteria: &Criteria) -> Scores {
        let n = test.references.len();
        let bleu = criteria.bleu.score(&criteria.bleu.sum(&self.bleu), n);
        let length_ratio = if bleu.ref_len == 0 { 0.0 } else { bleu.sys_len as f64 / bleu.ref_len as f64 };
        Scores {
            sentences: test.hypotheses.len(),
            length_ratio,
            bleu,
            chrf: criteria.chrf.score(&self.chrf.iter().sum(), n),
            chrf_words: with_words(&criteria.chrf).score(&self.chrf_words.iter().sum(), n),
            ter: criteria.ter.score(&self.ter.iter().sum(), n),
            exact_match: exact_match(&test.hypotheses, &test.streams()),
        }
    }
}
