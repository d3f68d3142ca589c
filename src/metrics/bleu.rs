//! BLEU: Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation", in
//! sacreBLEU 2.6.0's form (Post 2018, "A call for clarity in reporting BLEU scores").

use std::collections::HashMap;
use std::iter::Sum;

use serde::Serialize;

use super::Tokenization;
use super::tokenize::{is_space, words};

/// The version of sacreBLEU whose scores these are, for signatures.
pub(super) const SACREBLEU: &str = "2.6.0";

/// What is done about orders without a match (Chen & Cherry 2014).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Smoothing {
    /// Halve for every such order (mteval's; the default).
    #[default]
    Exponential,
    /// This many matches instead of none.
    Floor(f64),
    /// Add this to matches and totals from bigrams on.
    AddK(f64),
    /// Nothing: the score is 0.
    None,
}

/// How BLEU is computed.
#[derive(Clone, Debug, PartialEq)]
pub struct BleuConfig {
    /// How text is cut into words.
    pub tokenization: Tokenization,
    /// Whether case is ignored.
    pub lowercase: bool,
    /// What is done about orders without a match.
    pub smoothing: Smoothing,
    /// The longest n-grams.
    pub max_order: usize,
    /// Whether orders that a text is too short for are left out (for single sentences).
    pub effective_order: bool,
}

impl Default for BleuConfig {
    fn default() -> Self {
        Self {
            tokenization: Tokenization::default(),
            lowercase: false,
            smoothing: Smoothing::default(),
            max_order: 4,
            effective_order: false,
        }
    }
}

/// What is counted in a text; counts of texts add up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counts {
    /// Matching n-grams of each order.
    pub correct: Vec<usize>,
    /// The hypotheses' n-grams of each order.
    pub total: Vec<usize>,
    /// Words of the hypotheses.
    pub hypothesis: usize,
    /// Words of the closest references.
    pub reference: usize,
}

/// A score with what it is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bleu {
    /// 0 to 100.
    pub score: f64,
    /// Tells how it was computed, as sacreBLEU writes it.
    pub signature: String,
    /// The share of matching n-grams of each order, in percent.
    pub precisions: Vec<f64>,
    /// The brevity penalty.
    pub bp: f64,
    /// Words of the hypotheses.
    pub sys_len: usize,
    /// Words of the closest references.
    pub ref_len: usize,
    /// Matching n-grams of each order.
    pub counts: Vec<usize>,
    /// The hypotheses' n-grams of each order.
    pub totals: Vec<usize>,
}

type Ngrams<'a> = HashMap<Vec<&'a str>, usize>;

impl BleuConfig {
    /// The score of a corpus. `references` are streams, each as long as the hypotheses.
    pub fn corpus<S: AsRef<str>>(&self, hypotheses: &[S], references: &[&[S]]) -> Bleu {
        let count = |(i, hypothesis): (usize, &S)| {
            let references: Vec<&str> = references.iter().map(|stream| stream[i].as_ref()).collect();
            self.count(hypothesis.as_ref(), &references)
        };
        let counts: Vec<Counts> = hypotheses.iter().enumerate().map(count).collect();
        self.score(&self.sum(&counts), references.len())
    }

    /// What is counted in sentences, of which there may be none.
    pub fn sum<'a>(&self, counts: impl IntoIterator<Item = &'a Counts>) -> Counts {
        let none = vec![0; self.max_order];
        let mut sum = Counts { correct: none.clone(), total: none, ..Counts::default() };
        counts.into_iter().for_each(|counts| sum.add(counts));
        sum
    }

    /// What is counted in one sentence.
    pub fn count(&self, hypothesis: &str, references: &[&str]) -> Counts {
        let hypothesis = self.prepared(hypothesis);
        let references: Vec<String> = references.iter().map(|reference| self.prepared(reference)).collect();
        let mut known: Ngrams = HashMap::new();
        let mut lengths = Vec::with_capacity(references.len());
        for reference in &references {
            let tokens: Vec<&str> = words(reference).collect();
            lengths.push(tokens.len());
            for (ngram, count) in ngrams(&tokens, self.max_order) {
                let most = known.entry(ngram).or_default();
                *most = count.max(*most);
            }
        }
        let tokens: Vec<&str> = words(&hypothesis).collect();
        let closest = lengths.into_iter().min_by_key(|length| (length.abs_diff(tokens.len()), *length));
        let mut counts = Counts {
            correct: vec![0; self.max_order],
            total: vec![0; self.max_order],
            hypothesis: tokens.len(),
            reference: closest.unwrap_or_default(),
        };
        for (ngram, count) in ngrams(&tokens, self.max_order) {
            counts.total[ngram.len() - 1] += count;
            counts.correct[ngram.len() - 1] += count.min(known.get(&ngram).copied().unwrap_or_default());
        }
        counts
    }

    /// The score of summed counts.
    pub fn score(&self, counts: &Counts, references: usize) -> Bleu {
        let (hypothesis, reference) = (counts.hypothesis as f64, counts.reference as f64);
        let bp = match counts.hypothesis {
            0 if counts.reference > 0 => 0.0,
            _ if hypothesis < reference => (1.0 - reference / hypothesis).exp(),
            _ => 1.0,
        };
        let (precisions, order) = self.precisions(counts);
        let score = if counts.correct.iter().all(|&correct| correct == 0) {
            0.0
        } else {
            // sacreBLEU's log of 0 is -9999999999: the score is then 0 to every digit.
            let log = |precision: &f64| if *precision == 0.0 { -9_999_999_999.0 } else { precision.ln() };
            bp * (precisions[..order].iter().map(log).sum::<f64>() / order as f64).exp()
        };
        Bleu {
            score,
            signature: self.signature(references),
            precisions,
            bp,
            sys_len: counts.hypothesis,
            ref_len: counts.reference,
            counts: counts.correct.clone(),
            totals: counts.total.clone(),
        }
    }

    /// Precisions in percent, smoothed, and how many orders count.
    fn precisions(&self, counts: &Counts) -> (Vec<f64>, usize) {
        let mut precisions = vec![0.0; self.max_order];
        let mut order = self.max_order;
        if counts.correct.iter().all(|&correct| correct == 0) {
            return (precisions, order);
        }
        let mut halved = 1.0;
        for (n, precision) in precisions.iter_mut().enumerate() {
            let (mut correct, mut total) = (counts.correct[n] as f64, counts.total[n] as f64);
            if let (Smoothing::AddK(k), true) = (self.smoothing, n > 0) {
                (correct, total) = (correct + k, total + k);
            }
            if total == 0.0 {
                break;
            }
            if self.effective_order {
                order = n + 1;
            }
            *precision = match self.smoothing {
                _ if correct > 0.0 => 100.0 * correct / total,
                Smoothing::Exponential => {
                    halved *= 2.0;
                    100.0 / (halved * total)
                }
                Smoothing::Floor(floor) => 100.0 * floor / total,
                _ => 0.0,
            };
        }
        (precisions, order)
    }

    /// How the score was computed, in sacreBLEU's words.
    pub fn signature(&self, references: usize) -> String {
        let case = if self.lowercase { "lc" } else { "mixed" };
        let eff = if self.effective_order { "yes" } else { "no" };
        let smooth = match self.smoothing {
            Smoothing::Exponential => "exp".to_owned(),
            Smoothing::None => "none".to_owned(),
            Smoothing::Floor(value) => format!("floor[{value:.2}]"),
            Smoothing::AddK(value) => format!("add-k[{value:.2}]"),
        };
        let tok = self.tokenization;
        format!("nrefs:{references}|case:{case}|eff:{eff}|tok:{tok}|smooth:{smooth}|version:{SACREBLEU}")
    }

    fn prepared(&self, text: &str) -> String {
        let text = text.trim_end_matches(is_space);
        if self.lowercase { self.tokenization.apply(&text.to_lowercase()) } else { self.tokenization.apply(text) }
    }
}

impl Counts {
    /// Adds another text's counts.
    pub fn add(&mut self, other: &Self) {
        self.correct.iter_mut().zip(&other.correct).for_each(|(sum, n)| *sum += n);
        self.total.iter_mut().zip(&other.total).for_each(|(sum, n)| *sum += n);
        self.hypothesis += other.hypothesis;
        self.reference += other.reference;
    }
}

impl<'a> Sum<&'a Self> for Counts {
    fn sum<I: Iterator<Item = &'a Self>>(mut counts: I) -> Self {
        let first = counts.next().cloned().unwrap_or_default();
        counts.fold(first, |mut sum, counts| {
            sum.add(counts);
            sum
        })
    }
}

fn ngrams<'a>(tokens: &[&'a str], max_order: usize) -> Ngrams<'a> {
    let mut counts = HashMap::new();
    for order in 1..=max_order {
        for ngram in tokens.windows(order) {
            *counts.entry(ngram.to_vec()).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bleu(tokenization: Tokenization, hypotheses: &[&str], references: &[&[&str]]) -> f64 {
        BleuConfig { tokenization, ..BleuConfig::default() }.corpus(hypotheses, references).score
    }

    /// Known fault M1: Chinese with the Western tokenizer.
    #[test]
    fn chinese_is_scored_by_characters() {
        let zh = Tokenization::for_language("zh");
        let same = ["我们明天去图书馆看书。"];
        assert!((bleu(zh, &same, &[&same]) - 100.0).abs() < 1e-9);
        let (hypotheses, references) =
            (["我们今天去图书馆看书。", "她喜欢红茶。"], ["我们明天去图书馆看书。", "她喜欢绿茶。"]);
        assert!((bleu(zh, &hypotheses, &[&references]) - 63.08).abs() < 0.005);
        assert_eq!(bleu(Tokenization::V13a, &hypotheses, &[&references]), 0.0);
    }

    /// Known fault M3: empty hypotheses count.
    #[test]
    fn empty_hypotheses_are_scored_as_empty() {
        let references = ["the gate is open now", "rain fell all night long", "he left early today"];
        assert_eq!(bleu(Tokenization::V13a, &["", "", ""], &[&references]), 0.0);
        assert_eq!(bleu(Tokenization::V13a, &["", "", ""], &[&references, &references]), 0.0);
        let hypotheses = ["the gate is open now", "", "he left early today"];
        let scored = BleuConfig::default().corpus(&hypotheses, &[&references]);
        assert!((scored.score - 57.38).abs() < 0.005 && (scored.bp - 0.574).abs() < 0.0005, "{scored:?}");
    }

    #[test]
    fn signatures_are_sacrebleus() {
        let config = BleuConfig { tokenization: Tokenization::Chinese, ..BleuConfig::default() };
        assert_eq!(config.signature(1), "nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp|version:2.6.0");
        let config = BleuConfig { lowercase: true, smoothing: Smoothing::Floor(0.1), ..config };
        assert_eq!(config.signature(2), "nrefs:2|case:lc|eff:no|tok:zh|smooth:floor[0.10]|version:2.6.0");
    }
}
