//! Alignment error rate (Och & Ney 2003, "A systematic comparison of various statistical alignment
//! models", section 6): AER = 1 − (|A∩S| + |A∩P|) / (|A| + |S|), where the possible links P hold the sure
//! links S. A corpus is scored from summed counts, not from a mean of sentences.

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

use super::SentenceLinks;

/// The counts behind precision, recall and the error rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AlignmentErrorRate {
    /// |A|: links of the system.
    pub links: usize,
    /// |S|: sure links of the gold alignment.
    pub sure: usize,
    /// |A∩S|.
    pub matched_sure: usize,
    /// |A∩P|.
    pub matched_possible: usize,
}

impl AlignmentErrorRate {
    /// Counts one sentence pair.
    pub fn of(system: &SentenceLinks, gold: &SentenceLinks) -> Self {
        Self {
            links: system.len(),
            sure: gold.sure().count(),
            matched_sure: system.iter().filter(|link| gold.is_sure(*link)).count(),
            matched_possible: system.iter().filter(|link| gold.contains(*link)).count(),
        }
    }

    /// What the best links reach that link each of `targets` target words once: the floor of an aligner
    /// that takes the maximum of each row of attention weights.
    pub fn floor(gold: &SentenceLinks, targets: usize) -> Self {
        let best = |t| {
            let of_target = || gold.iter().filter(move |link| link.target == t);
            of_target().find(|link| gold.is_sure(*link)).or_else(|| of_target().next())
        };
        let chosen: SentenceLinks = (0..targets).filter_map(best).collect();
        // A target word without any gold link is linked all the same, and wrongly.
        Self { links: targets, ..Self::of(&chosen, gold) }
    }

    /// Counts one sentence pair of so many target words, beside the [`Self::floor`].
    pub fn beside_floor(system: &SentenceLinks, gold: &SentenceLinks, targets: usize) -> [Self; 2] {
        [Self::of(system, gold), Self::floor(gold, targets)]
    }

    /// The error rate; 0 where neither side has a link.
    pub fn aer(&self) -> f64 {
        1.0 - ratio(self.matched_sure + self.matched_possible, self.links + self.sure)
    }

    /// |A∩P| / |A|; 1 without links.
    pub fn precision(&self) -> f64 {
        ratio(self.matched_possible, self.links)
    }

    /// |A∩S| / |S|; 1 without sure links.
    pub fn recall(&self) -> f64 {
        ratio(self.matched_sure, self.sure)
    }

    /// The harmonic mean of precision and recall.
    pub fn f1(&self) -> f64 {
        let (p, r) = (self.precision(), self.recall());
        if p + r == 0.0 { 0.0 } else { 2.0 * p * r / (p + r) }
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Rates beside their floors, both summed.
pub fn sum(rates: impl IntoIterator<Item = [AlignmentErrorRate; 2]>) -> [AlignmentErrorRate; 2] {
    rates.into_iter().fold(Default::default(), |[rate, floor], [a, b]| [rate + a, floor + b])
}

impl Add for AlignmentErrorRate {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            links: self.links + other.links,
            sure: self.sure + other.sure,
            matched_sure: self.matched_sure + other.matched_sure,
            matched_possible: self.matched_possible + other.matched_possible,
        }
    }
}

impl Sum for AlignmentErrorRate {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(system: &str, gold: &str) -> AlignmentErrorRate {
        let parse = |line| SentenceLinks::parse(line, 0).unwrap();
        AlignmentErrorRate::of(&parse(system), &parse(gold))
    }

    /// Known fault M8: sure links belong to the possible ones.
    #[test]
    fn possible_links_hold_the_sure_ones() {
        let counts = score("0-0 1-3 2-1 4-4", "0-0 1-3 2p1 2p2");
        assert!((counts.aer() - 1.0 / 6.0).abs() < 1e-12);
        assert_eq!((counts.precision(), counts.recall()), (0.75, 1.0));
    }

    /// Known fault M6: links shifted by one still look plausible.
    #[test]
    fn shifted_links_score_a_third() {
        assert_eq!(score("0-0 1-1 2-2", "0-0 1-1 2-2").aer(), 0.0);
        let shifted = score("1-1 2-2 3-3", "0-0 1-1 2-2");
        assert!((shifted.aer() - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn repeats_count_once_and_nothing_is_not_nan() {
        assert_eq!(score("0-0 0-0", "0-0").links, 1);
        assert_eq!(score("", "").aer(), 0.0);
        assert_eq!(score("", "0-0").aer(), 1.0);
        assert_eq!(score("", "0-0").f1(), 0.0);
    }

    #[test]
    fn the_floor_is_what_one_link_a_word_can_reach() {
        let floor =
            |gold: &str, targets| AlignmentErrorRate::floor(&SentenceLinks::parse(gold, 0).unwrap(), targets);
        assert_eq!(floor("0-0 1p1 2-2", 3).aer(), 0.0);
        // Two sure links for one word: one must be missed.
        assert!((floor("0-0 1-0", 1).aer() - (1.0 - 2.0 / 3.0)).abs() < 1e-12);
        // A word that nobody is linked to.
        assert!((floor("0-0", 2).aer() - (1.0 - 2.0 / 3.0)).abs() < 1e-12);
    }

    #[test]
    fn a_corpus_is_scored_from_summed_counts() {
        let corpus: AlignmentErrorRate = [score("0-0", "0-0"), score("0-1 1-1 2-1", "0-0")].into_iter().sum();
        assert!((corpus.aer() - (1.0 - 2.0 / 6.0)).abs() < 1e-12);
    }
}
