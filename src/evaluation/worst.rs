//! The sentences that went worst.

use serde::Serialize;

use super::scores::Counts;
use super::{Criteria, Test};
use crate::alignment::Alignment;
use crate::metrics::BleuConfig;

/// One sentence with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sentence {
    /// Its place in the test set, from 0.
    pub id: usize,
    /// Where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The translation.
    pub hypothesis: String,
    /// Each reference.
    pub references: Vec<String>,
    /// BLEU of the sentence alone, orders that it is too short for left out (sacreBLEU's `sentence_bleu`).
    pub bleu: f64,
    /// chrF2 of the sentence alone.
    pub chrf: f64,
    /// Where the model looked, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alignment: Option<Alignment>,
}

impl Sentence {
    /// What is written, each text by its name: the source, the translation, the references.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let source = self.source.iter().map(|text| ("source", text.as_str()));
        let references = self.references.iter().map(|text| ("reference", text.as_str()));
        source.chain([("translation", self.hypothesis.as_str())]).chain(references)
    }
}

/// As many sentences as are asked for, those with the lowest BLEU first, of equals those with the lower chrF2. What is a
/// reference, word for word, is none of them.
pub(super) fn worst(test: &Test, criteria: &Criteria, counts: &Counts) -> Vec<Sentence> {
    if criteria.worst == 0 {
        return Vec::new();
    }
    let (bleu, n) = (BleuConfig { effective_order: true, ..criteria.bleu.clone() }, test.references.len());
    let score =
        |id: usize| (bleu.score(&counts.bleu[id], n).score, criteria.chrf.score(&counts.chrf[id], n).score, id);
    let is_reference = |id: &usize| test.of(*id).contains(&test.hypotheses[*id].as_str());
    let wrong = (0..test.hypotheses.len()).filter(|id| !is_reference(id));
    let mut scored: Vec<(f64, f64, usize)> = wrong.map(score).collect();
    scored.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let told = |(bleu, chrf, id): (f64, f64, usize)| Sentence {
        id,
        source: test.sources.as_ref().map(|sources| sources[id].clone()),
        hypothesis: test.hypotheses[id].clone(),
        references: test.of(id).into_iter().map(str::to_owned).collect(),
        bleu,
        chrf,
        alignment: test.alignments.get(id).filter(|alignment| !alignment.weights.is_empty()).cloned(),
    };
    scored.into_iter().take(criteria.worst).map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_stands_first() {
        let reference = ["a b c d", "a b c d", "a b c d"].map(str::to_owned).to_vec();
        let hypotheses = ["a b c d", "", "a b x d"].map(str::to_owned).to_vec();
        let test = Test { hypotheses, references: vec![reference], ..Test::default() };
        let criteria = Criteria { worst: 3, ..Criteria::default() };
        let told = worst(&test, &criteria, &Counts::of(&test.hypotheses, &test, &criteria));
        assert_eq!(told.iter().map(|it| it.id).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(told[0].bleu, 0.0);
        assert!(told[1].bleu > 0.0 && told[1].bleu < 100.0 && told[1].alignment.is_none());
    }
}
