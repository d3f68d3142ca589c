//! chrF: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation", in sacreBLEU 2.6.0's
//! form (β = 2, six orders, averages over the orders that occur).

use std::collections::HashMap;

use serde::Serialize;

use super::bleu::SACREBLEU;
use super::tokenize::is_space;

/// How chrF is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ChrfConfig {
    /// The longest n-grams, in characters.
    pub max_order: usize,
    /// How much more recall counts than precision.
    pub beta: f64,
    /// Whether case is ignored.
    pub lowercase: bool,
    /// Whether spaces are characters too.
    pub whitespace: bool,
    /// chrF++.py's, NLTK's and Moses' way: every order counts, with an epsilon where nothing is.
    pub epsilon: bool,
}

impl Default for ChrfConfig {
    fn default() -> Self {
        Self { max_order: 6, beta: 2.0, lowercase: false, whitespace: false, epsilon: false }
    }
}

/// A score and how it was computed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chrf {
    /// 0 to 100.
    pub score: f64,
    /// Tells how it was computed, as sacreBLEU writes it.
    pub signature: String,
}

/// How often each n-gram of one order occurs.
type Ngrams = HashMap<Vec<char>, usize>;

/// N-grams of one order: the hypothesis', the reference's, shared ones.
type Counts = [usize; 3];

impl ChrfConfig {
    /// The score of a corpus. `references` are streams, each as long as the hypotheses; of several the
    /// one that fits a sentence best is taken.
    pub fn corpus<S: AsRef<str>>(&self, hypotheses: &[S], references: &[&[S]]) -> Chrf {
        let mut sum = vec![[0; 3]; self.max_order];
        for (i, hypothesis) in hypotheses.iter().enumerate() {
            let hypothesis = self.ngrams(hypothesis.as_ref());
            let counted = references.iter().map(|stream| matches(&hypothesis, &self.ngrams(stream[i].as_ref())));
            let best = counted.fold(None, |best: Option<(f64, Vec<Counts>)>, counts| {
                let score = self.score(&counts);
                match best {
                    Some((known, _)) if score <= known => best,
                    _ => Some((score, counts)),
                }
            });
            for (sum, counts) in sum.iter_mut().zip(best.map(|(_, counts)| counts).unwrap_or_default()) {
                sum.iter_mut().zip(counts).for_each(|(sum, n)| *sum += n);
            }
        }
        Chrf { score: self.score(&sum), signature: self.signature(references.len()) }
    }

    /// How the score was computed, in sacreBLEU's words.
    pub fn signature(&self, references: usize) -> String {
        let case = if self.lowercase { "lc" } else { "mixed" };
        let eff = if self.epsilon { "no" } else { "yes" };
        let space = if self.whitespace { "yes" } else { "no" };
        let order = self.max_order;
        format!("nrefs:{references}|case:{case}|eff:{eff}|nc:{order}|nw:0|space:{space}|version:{SACREBLEU}")
    }

    fn score(&self, counts: &[Counts]) -> f64 {
        const EPSILON: f64 = 1e-16;
        let factor = self.beta * self.beta;
        let (mut by_order, mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0, 0);
        for &[hypothesis, reference, matched] in counts {
            let share = |whole| if whole > 0 { matched as f64 / whole as f64 } else { EPSILON };
            let (p, r) = (share(hypothesis), share(reference));
            let denominator = factor * p + r;
            by_order += if denominator > 0.0 { (1.0 + factor) * p * r / denominator } else { EPSILON };
            if hypothesis > 0 && reference > 0 {
                (precision, recall, orders) = (precision + p, recall + r, orders + 1);
            }
        }
        if self.epsilon {
            return 100.0 * by_order / self.max_order as f64;
        }
        let (precision, recall) = (precision / f64::from(orders.max(1)), recall / f64::from(orders.max(1)));
        if precision + recall == 0.0 {
            return 0.0;
        }
        100.0 * (1.0 + factor) * precision * recall / (factor * precision + recall)
    }

    fn ngrams(&self, text: &str) -> Vec<Ngrams> {
        let text = if self.lowercase { text.to_lowercase() } else { text.to_owned() };
        let characters: Vec<char> = text.chars().filter(|&c| self.whitespace || !is_space(c)).collect();
        let order = |n| {
            let mut counts = HashMap::new();
            characters.windows(n).for_each(|ngram| *counts.entry(ngram.to_vec()).or_default() += 1);
            counts
        };
        (1..=self.max_order).map(order).collect()
    }
}

fn matches(hypothesis: &[Ngrams], reference: &[Ngrams]) -> Vec<Counts> {
    let order = |(hypothesis, reference): (&Ngrams, &Ngrams)| {
        let shared = hypothesis.iter().map(|(ngram, n)| n.min(reference.get(ngram).unwrap_or(&0))).sum();
        // Orders that the reference is too short for say nothing about the hypothesis.
        let hypothesis = if reference.is_empty() { 0 } else { hypothesis.values().sum() };
        [hypothesis, reference.values().sum(), shared]
    };
    hypothesis.iter().zip(reference).map(order).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chrf(hypotheses: &[&str], references: &[&str]) -> f64 {
        ChrfConfig::default().corpus(hypotheses, &[references]).score
    }

    /// Known fault M5: a worse output must not raise the score.
    #[test]
    fn worse_outputs_score_worse() {
        let references = ["we meet at noon", "the green boat sank"];
        for (second, expected) in [("the blue boat sank", 69.38), ("zzzz", 46.00), ("", 46.59)] {
            let score = chrf(&["we meet at noon", second], &references);
            assert!((score - expected).abs() < 0.005, "{second}: {score}");
        }
        assert!((chrf(&["abc def ghi"], &["abcdefghi"]) - 100.0).abs() < 1e-9);
        assert!((chrf(&["a"], &["a"]) - 100.0).abs() < 1e-9);
        let epsilon = ChrfConfig { epsilon: true, ..ChrfConfig::default() };
        assert!((epsilon.corpus(&["a"], &[&["a"]]).score - 16.67).abs() < 0.005);
    }

    #[test]
    fn the_signature_is_sacrebleus() {
        assert_eq!(
            ChrfConfig::default().signature(1),
            "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:2.6.0"
        );
    }
}
