//! How good translations are, whole: every score, by length, by sentence, by how rare words are, beside another system, and
//! what looks wrong with the files. [`report`] writes it down.

mod compare;
mod linked;
mod rare;
pub mod report;
mod scores;
mod warnings;
mod worst;

use std::collections::HashMap;

use serde::Serialize;

use crate::alignment::Alignment;
use crate::metrics::by_length::{LengthBucket, by_length};
use crate::metrics::{BleuConfig, ChrfConfig, TerConfig};

pub use compare::{Compared, Comparison};
pub use linked::Linked;
pub use rare::{FrequencyBucket, frequencies};
pub use scores::Scores;
pub use worst::Sentence;

/// What is judged.
#[derive(Clone, Debug, Default)]
pub struct Test {
    /// Sentences that were translated; none where they are not known.
    pub sources: Option<Vec<String>>,
    /// One or several streams of references, each as long as the hypotheses.
    pub references: Vec<Vec<String>>,
    /// The translations.
    pub hypotheses: Vec<String>,
    /// Where a model looked while it wrote each; none where that is not known.
    pub alignments: Vec<Alignment>,
    /// How its links agree with gold ones while it writes the references; none where there are no gold ones.
    pub linked: Option<Linked>,
    /// Another system's translations of the same sentences, which these are compared with.
    pub against: Option<Vec<String>>,
    /// How often words occur in the training data's targets, cut as for BLEU; none where that is not asked for.
    pub frequencies: Option<HashMap<String, usize>>,
}

/// How it is judged.
#[derive(Clone, Debug, Default)]
pub struct Criteria {
    /// BLEU's form.
    pub bleu: BleuConfig,
    /// chrF's, with 0 words; chrF++ is told beside it.
    pub chrf: ChrfConfig,
    /// TER's.
    pub ter: TerConfig,
    /// How many of the worst sentences are told.
    pub worst: usize,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// The scores of all sentences.
    #[serde(flatten)]
    pub scores: Scores,
    /// Where a model looks while it writes references that have gold links.
    #[serde(rename = "alignment", skip_serializing_if = "Option::is_none")]
    pub linked: Option<Linked>,
    /// BLEU by the length of the source; empty where that is not known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_length: Vec<LengthBucket>,
    /// How many words are right by how rare they are.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rare_words: Vec<FrequencyBucket>,
    /// The worst sentences, the worst first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub worst: Vec<Sentence>,
    /// Beside another system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub against: Option<Comparison>,
    /// What looks wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

impl Test {
    /// Streams of references as metrics take them.
    fn streams(&self) -> Vec<&[String]> {
        self.references.iter().map(Vec::as_slice).collect()
    }

    /// The references of a sentence.
    fn of(&self, sentence: usize) -> Vec<&str> {
        self.references.iter().map(|stream| stream[sentence].as_str()).collect()
    }
}

/// Judges translations. All lists are as long as the hypotheses, and there is at least one stream of references.
pub fn evaluate(test: &Test, criteria: &Criteria) -> Evaluation {
    let counts = scores::Counts::of(&test.hypotheses, test, criteria);
    let lengths = |sources: &Vec<String>| by_length(&criteria.bleu, sources, &counts.bleu, test.references.len());
    Evaluation {
        scores: counts.scores(test, criteria),
        linked: test.linked,
        by_length: test.sources.as_ref().map(lengths).unwrap_or_default(),
        rare_words: test
            .frequencies
            .as_ref()
            .map(|known| rare::by_frequency(test, criteria, known))
            .unwrap_or_default(),
        worst: worst::worst(test, criteria, &counts),
        against: test.against.as_ref().map(|other| compare::compare(test, criteria, &counts, other)),
        warnings: warnings::of(test),
    }
}
