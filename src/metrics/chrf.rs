//! chrF: Popović 2015, "chrF: character n-gram F-score for automatic MT evaluation", in sacreBLEU 2.6.0's
//! form (β = 2, six orders, averages over the orders that occur), and chrF++ with words: Popović 2017,
//! "chrF++: words helping character n-grams".

use std::collections::HashMap;
use std::hash::Hash;
use std::iter::Sum;

use serde::Serialize;

use super::bleu::SACREBLEU;
use super::tokenize::{is_space, words};

/// How chrF is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct ChrfConfig {
    /// The longest n-grams, in characters.
    pub max_order: usize,
    /// The longest n-grams, in words: 0 is chrF, 2 is chrF++.
    pub word_order: usize,
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
        Self { max_order: 6, word_order: 0, beta: 2.0, lowercase: false, whitespace: false, epsilon: false }
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

/// What is counted in a text; counts of texts add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Characters' n-grams of each order, then words'.
    pub orders: Vec<Order>,
}

/// N-grams of one order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Order {
    /// The hypotheses', where their references have any.
    pub hypothesis: usize,
    /// The references'.
    pub reference: usize,
    /// Those that both have.
    pub matched: usize,
}

/// How often each n-gram of one order occurs.
type Ngrams<T> = HashMap<Vec<T>, usize>;

impl ChrfConfig {
    /// The score of a corpus. `references` are streams, each as long as the hypotheses.
    pub fn corpus<S: AsRef<str>>(&self, hypotheses: &[S], references: &[&[S]]) -> Chrf {
        let mut sum = Counts::default();
        for (i, hypothesis) in hypotheses.iter().enumerate() {
            let references: Vec<&str> = references.iter().map(|stream| stream[i].as_ref()).collect();
            sum.add(&self.count(hypothesis.as_ref(), &references));
        }
        self.score(&sum, references.len())
    }

    /// What is counted in one sentence; of several references the one that fits best is taken.
    pub fn count(&self, hypothesis: &str, references: &[&str]) -> Counts {
        let hypothesis = self.prepared(hypothesis);
        let (characters, words) = (self.characters(&hypothesis), self.words(&hypothesis));
        let counted = references.iter().map(|reference| {
            let reference = self.prepared(reference);
            let mut orders = matches(&characters, &self.characters(&reference));
            orders.extend(matches(&words, &self.words(&reference)));
            Counts { orders }
        });
        let best = counted.fold(None, |best: Option<(f64, Counts)>, counts| {
            let score = self.f_score(&counts);
            match best {
                Some((known, _)) if score <= known => best,
                _ => Some((score, counts)),
            }
        });
        best.map(|(_, counts)| counts).unwrap_or_default()
    }

    /// The score of summed counts.
    pub fn score(&self, counts: &Counts, references: usize) -> Chrf {
        Chrf { score: self.f_score(counts), signature: self.signature(references) }
    }

    /// How the score was computed, in sacreBLEU's words.
    pub fn signature(&self, references: usize) -> String {
        let case = if self.lowercase { "lc" } else { "mixed" };
        let eff = if self.epsilon { "no" } else { "yes" };
        let space = if self.whitespace { "yes" } else { "no" };
        let (nc, nw) = (self.max_order, self.word_order);
        format!("nrefs:{references}|case:{case}|eff:{eff}|nc:{nc}|nw:{nw}|space:{space}|version:{SACREBLEU}")
    }

    fn f_score(&self, counts: &Counts) -> f64 {
        const EPSILON: f64 = 1e-16;
        let factor = self.beta * self.beta;
        let (mut by_order, mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0, 0);
        for &Order { hypothesis, reference, matched } in &counts.orders {
            let share = |whole| if whole > 0 { matched as f64 / whole as f64 } else { EPSILON };
            let (p, r) = (share(hypothesis), share(reference));
            let denominator = factor * p + r;
            by_order += if denominator > 0.0 { (1.0 + factor) * p * r / denominator } else { EPSILON };
            if hypothesis > 0 && reference > 0 {
                (precision, recall, orders) = (precision + p, recall + r, orders + 1);
            }
        }
        if self.epsilon {
            return 100.0 * by_order / (self.max_order + self.word_order) as f64;
        }
        let (precision, recall) = (precision / f64::from(orders.max(1)), recall / f64::from(orders.max(1)));
        if precision + recall == 0.0 {
            return 0.0;
        }
        // In sacreBLEU's order, so that scores, and ties in tests of significance, are the same to the last bit.
        100.0 * ((1.0 + factor) * precision * recall / (factor * precision + recall))
    }

    fn prepared(&self, text: &str) -> String {
        if self.lowercase { text.to_lowercase() } else { text.to_owned() }
    }

    fn characters(&self, text: &str) -> Vec<Ngrams<char>> {
        let characters: Vec<char> = text.chars().filter(|&c| self.whitespace || !is_space(c)).collect();
        ngrams(&characters, self.max_order)
    }

    fn words<'a>(&self, text: &'a str) -> Vec<Ngrams<&'a str>> {
        // Most scores are without words.
        if self.word_order == 0 { Vec::new() } else { ngrams(&cut_words(text), self.word_order) }
    }
}

impl Counts {
    /// Adds another text's counts.
    pub fn add(&mut self, other: &Self) {
        if self.orders.len() < other.orders.len() {
            self.orders.resize(other.orders.len(), Order::default());
        }
        for (sum, order) in self.orders.iter_mut().zip(&other.orders) {
            sum.hypothesis += order.hypothesis;
            sum.reference += order.reference;
            sum.matched += order.matched;
        }
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

/// Words, with one mark of punctuation cut off at the end, or else at the start, as chrF++.py and sacreBLEU do.
fn cut_words(text: &str) -> Vec<&str> {
    let mut cut = Vec::new();
    for word in words(text) {
        let place = if word.chars().nth(1).is_none() {
            0
        } else if word.ends_with(|c: char| c.is_ascii_punctuation()) {
            word.len() - 1
        } else {
            usize::from(word.starts_with(|c: char| c.is_ascii_punctuation()))
        };
        let (start, end) = word.split_at(place);
        cut.extend([start, end].into_iter().filter(|part| !part.is_empty()));
    }
    cut
}

fn ngrams<T: Clone + Eq + Hash>(items: &[T], max_order: usize) -> Vec<Ngrams<T>> {
    let order = |n| {
        let mut counts = HashMap::new();
        items.windows(n).for_each(|ngram| *counts.entry(ngram.to_vec()).or_default() += 1);
        counts
    };
    (1..=max_order).map(order).collect()
}

fn matches<T: Eq + Hash>(hypothesis: &[Ngrams<T>], reference: &[Ngrams<T>]) -> Vec<Order> {
    let order = |(hypothesis, reference): (&Ngrams<T>, &Ngrams<T>)| Order {
        // Orders that the reference is too short for say nothing about the hypothesis.
        hypothesis: if reference.is_empty() { 0 } else { hypothesis.values().sum() },
        reference: reference.values().sum(),
        matched: hypothesis.iter().map(|(ngram, n)| n.min(reference.get(ngram).unwrap_or(&0))).sum(),
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
        let words = ChrfConfig { word_order: 2, ..ChrfConfig::default() };
        assert_eq!(words.signature(2), "nrefs:2|case:mixed|eff:yes|nc:6|nw:2|space:no|version:2.6.0");
    }

    #[test]
    fn words_lose_one_mark() {
        assert_eq!(cut_words("(hi) \"so it's. - ..."), ["(hi", ")", "\"", "so", "it's", ".", "-", "..", "."]);
    }

    /// By hand: "ab c" and "ab d" share 2 of 3 characters, 1 of 2 pairs, 1 of 2 words and no pair of words.
    #[test]
    fn words_count_as_much_as_characters() {
        let config = ChrfConfig { max_order: 2, word_order: 2, ..ChrfConfig::default() };
        let counts = config.count("ab c", &["ab d"]);
        let told = |order: &Order| (order.hypothesis, order.reference, order.matched);
        assert_eq!(
            counts.orders.iter().map(told).collect::<Vec<_>>(),
            [(3, 3, 2), (2, 2, 1), (2, 2, 1), (1, 1, 0)]
        );
        let expected = 100.0 * (2.0 / 3.0 + 0.5 + 0.5) / 4.0;
        assert!((config.score(&counts, 1).score - expected).abs() < 1e-9);
    }
}
