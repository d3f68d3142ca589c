//! TER, the translation edit rate: Snover et al. 2006, "A study of translation edit rate with targeted human
//! annotation", in sacreBLEU 2.6.0's form, which follows the authors' program Tercom.

mod edits;
mod shifts;
mod tokenize;

use std::collections::HashMap;
use std::iter::Sum;

use serde::Serialize;

use super::bleu::SACREBLEU;
use super::tokenize::words;

/// How TER is computed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerConfig {
    /// Whether punctuation is cut off from words.
    pub normalized: bool,
    /// Whether punctuation is left out.
    pub no_punctuation: bool,
    /// Whether `normalized` also cuts Chinese characters, and `no_punctuation` also leaves out East Asian
    /// punctuation.
    pub asian: bool,
    /// Whether upper and lower case differ.
    pub case_sensitive: bool,
}

/// What is counted in a text; counts of texts add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    /// The edits to the reference that needs fewest.
    pub edits: f64,
    /// Words of a reference; of several, their mean.
    pub reference: f64,
}

/// A score with what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Ter {
    /// Edits for every hundred words of the references: 0 is best, and more than 100 is possible.
    pub score: f64,
    /// Tells how it was computed, as sacreBLEU writes it.
    pub signature: String,
    /// The edits.
    pub edits: f64,
    /// Words of the references.
    pub ref_len: f64,
}

impl TerConfig {
    /// The score of a corpus. `references` are streams, each as long as the hypotheses.
    pub fn corpus<S: AsRef<str>>(&self, hypotheses: &[S], references: &[&[S]]) -> Ter {
        let count = |(i, hypothesis): (usize, &S)| {
            let references: Vec<&str> = references.iter().map(|stream| stream[i].as_ref()).collect();
            self.count(hypothesis.as_ref(), &references)
        };
        let counts: Vec<Counts> = hypotheses.iter().enumerate().map(count).collect();
        self.score(&counts.iter().sum(), references.len())
    }

    /// What is counted in one sentence.
    pub fn count(&self, hypothesis: &str, references: &[&str]) -> Counts {
        let hypothesis = self.prepared(hypothesis);
        let references: Vec<String> = references.iter().map(|reference| self.prepared(reference)).collect();
        let mut ids = HashMap::new();
        let hypothesis = numbered(&hypothesis, &mut ids);
        let references: Vec<Vec<usize>> = references.iter().map(|text| numbered(text, &mut ids)).collect();
        let least = references.iter().map(|reference| shifts::edits(&hypothesis, reference)).min();
        let length: usize = references.iter().map(Vec::len).sum();
        Counts {
            edits: least.unwrap_or_default() as f64,
            reference: length as f64 / references.len().max(1) as f64,
        }
    }

    /// The score of summed counts.
    pub fn score(&self, counts: &Counts, references: usize) -> Ter {
        let rate = match counts {
            Counts { edits, reference } if *reference > 0.0 => edits / reference,
            // Words without a reference are all wrong.
            Counts { edits, .. } if *edits > 0.0 => 1.0,
            _ => 0.0,
        };
        Ter {
            score: 100.0 * rate,
            signature: self.signature(references),
            edits: counts.edits,
            ref_len: counts.reference,
        }
    }

    /// How the score was computed, in sacreBLEU's words.
    pub fn signature(&self, references: usize) -> String {
        let yes = |flag| if flag { "yes" } else { "no" };
        let case = if self.case_sensitive { "mixed" } else { "lc" };
        let (norm, punct, asian) = (yes(self.normalized), yes(!self.no_punctuation), yes(self.asian));
        format!(
            "nrefs:{references}|case:{case}|tok:tercom|norm:{norm}|punct:{punct}|asian:{asian}|version:{SACREBLEU}"
        )
    }
}

impl Counts {
    /// Adds another text's counts.
    pub fn add(&mut self, other: &Self) {
        self.edits += other.edits;
        self.reference += other.reference;
    }
}

impl<'a> Sum<&'a Self> for Counts {
    fn sum<I: Iterator<Item = &'a Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut sum, counts| {
            sum.add(counts);
            sum
        })
    }
}

/// The words of a text as numbers, which compare faster; equal words have equal numbers.
fn numbered<'a>(text: &'a str, ids: &mut HashMap<&'a str, usize>) -> Vec<usize> {
    let mut id = |word| {
        let next = ids.len();
        *ids.entry(word).or_insert(next)
    };
    words(text).map(&mut id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ter(hypotheses: &[&str], references: &[&[&str]]) -> f64 {
        TerConfig::default().corpus(hypotheses, references).score
    }

    #[test]
    fn edits_are_counted_over_the_corpus() {
        // One of four words is wrong, and then one of two is missing.
        assert_eq!(ter(&["the cat eats fish", "a"], &[&["The dog eats fish", "a b"]]), 100.0 * (2.0 / 6.0));
        assert_eq!(ter(&["a b c"], &[&["a"]]), 200.0);
        assert_eq!((ter(&["a"], &[&[""]]), ter(&[""], &[&[""]]), ter(&[""], &[&["a"]])), (100.0, 0.0, 100.0));
        assert_eq!(ter(&[], &[&[]]), 0.0);
    }

    #[test]
    fn of_several_references_the_nearest_is_edited_and_the_mean_length_counts() {
        let counts = TerConfig::default().count("a b c", &["x y z w v", "a b d"]);
        assert_eq!(counts, Counts { edits: 1.0, reference: 4.0 });
    }

    #[test]
    fn signatures_are_sacrebleus() {
        let config = TerConfig::default();
        assert_eq!(config.signature(1), "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:2.6.0");
        let config = TerConfig { normalized: true, no_punctuation: true, asian: true, case_sensitive: true };
        assert_eq!(config.signature(2), "nrefs:2|case:mixed|tok:tercom|norm:yes|punct:no|asian:yes|version:2.6.0");
    }
}
