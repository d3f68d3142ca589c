//! What an alignment looks like, in numbers and in a word.

use serde::{Deserialize, Serialize};

use super::Alignment;
use super::entropy::entropy;

/// The numbers of one sentence pair.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Target words that looked anywhere.
    pub words: usize,
    /// The mean entropy of their rows, in nats; a row is scaled to a sum of 1, for the end of the sentence is left out.
    pub entropy: f64,
    /// The mean largest weight of a row.
    pub peak: f64,
    /// Kendall's τ-b between target words and where their rows are largest: 1 where both go the same way, −1 where one goes
    /// backward; nothing where all look at one place, or there is one word only.
    pub monotonicity: Option<f64>,
    /// The share of source words that were looked at: the mean of what falls on each, at most 1.
    pub coverage: f64,
    /// How far peaks are from the diagonal on average, as a share of the source: 0 on it.
    pub diagonal_distance: f64,
    /// What it looks like.
    pub pattern: Pattern,
}

/// What an alignment looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// Peaks are within a tenth of the source, or one word, of the diagonal, on average, and go on as the target does (where
    /// there is more than one).
    Diagonal,
    /// They do not, but each is within two words of the one before, on average.
    Local,
    /// They jump.
    LongRange,
}

impl Pattern {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Diagonal, Self::Local, Self::LongRange];
}

/// How far from the diagonal peaks may be on average, as a share of the source …
const NEAR: f64 = 0.1;
/// … and how far apart two that follow each other, in words.
const STEP: f64 = 2.0;

impl Statistics {
    /// Of an alignment; nothing where no row has any weight.
    pub fn of(alignment: &Alignment) -> Option<Self> {
        let sources = alignment.source.len();
        let peaks = peaks(alignment);
        if peaks.is_empty() {
            return None;
        }
        let n = peaks.len() as f64;
        let mean = |of: &dyn Fn(&Peak) -> f64| peaks.iter().map(of).sum::<f64>() / n;
        let targets = alignment.target.len() as f64;
        // Middles of words, so that pairs of different lengths have a diagonal too.
        let distance = |peak: &Peak| {
            ((peak.source as f64 + 0.5) / sources as f64 - (peak.target as f64 + 0.5) / targets).abs()
        };
        let diagonal_distance = mean(&distance);
        let steps = peaks.windows(2).map(|pair| pair[0].source.abs_diff(pair[1].source) as f64);
        let step = steps.sum::<f64>() / (n - 1.0).max(1.0);
        let monotonicity = kendall(&peaks);
        let goes_on = peaks.len() == 1 || monotonicity.is_some_and(|tau| tau > 0.0);
        let pattern = match () {
            () if goes_on && diagonal_distance <= NEAR.max(1.0 / sources as f64) => Pattern::Diagonal,
            () if step <= STEP => Pattern::Local,
            () => Pattern::LongRange,
        };
        Some(Self {
            words: peaks.len(),
            entropy: mean(&|peak| entropy(&alignment.weights[peak.target])),
            peak: mean(&|peak| f64::from(peak.weight)),
            monotonicity,
            coverage: coverage(alignment),
            diagonal_distance,
            pattern,
        })
    }
}

/// Where a target word looked most.
struct Peak {
    target: usize,
    source: usize,
    weight: f32,
}

fn peaks(alignment: &Alignment) -> Vec<Peak> {
    let links = alignment.links();
    let weight = |source: usize, target: usize| alignment.weights[target][source];
    let mut peaks: Vec<Peak> = links
        .iter()
        .map(|link| Peak { target: link.target, source: link.source, weight: weight(link.source, link.target) })
        .collect();
    peaks.sort_by_key(|peak| peak.target);
    peaks
}

fn coverage(alignment: &Alignment) -> f64 {
    let fallen = |s: usize| alignment.weights.iter().map(|row| f64::from(row[s])).sum::<f64>().min(1.0);
    let sources = alignment.source.len();
    (0..sources).map(fallen).sum::<f64>() / sources.max(1) as f64
}

/// Kendall 1945, "The treatment of ties in ranking problems": τ-b; target words are never tied.
fn kendall(peaks: &[Peak]) -> Option<f64> {
    let (mut balance, mut untied, mut pairs) = (0.0, 0.0, 0.0);
    for (i, one) in peaks.iter().enumerate() {
        for other in &peaks[i + 1..] {
            pairs += 1.0;
            let order = f64::from(other.source.cmp(&one.source) as i8);
            balance += order;
            untied += order.abs();
        }
    }
    (untied > 0.0).then(|| balance / f64::sqrt(untied * pairs))
}

/// The numbers of many pairs: means over all target words (of `coverage`, over pairs).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Pairs with a word that looked anywhere.
    pub sentences: usize,
    /// Such words.
    pub words: usize,
    /// See [`Statistics`].
    pub entropy: f64,
    /// See [`Statistics`].
    pub peak: f64,
    /// The mean over the pairs that have one.
    pub monotonicity: Option<f64>,
    /// See [`Statistics`].
    pub coverage: f64,
    /// See [`Statistics`].
    pub diagonal_distance: f64,
    /// How many pairs look like what, in the order of [`Pattern::ALL`].
    pub patterns: [usize; 3],
}

impl Summary {
    /// Of many pairs; nothing without any.
    pub fn of(all: &[Statistics]) -> Option<Self> {
        let words: usize = all.iter().map(|one| one.words).sum();
        if words == 0 {
            return None;
        }
        let mean = |of: &dyn Fn(&Statistics) -> f64| {
            all.iter().map(|one| of(one) * one.words as f64).sum::<f64>() / words as f64
        };
        let ordered: Vec<f64> = all.iter().filter_map(|one| one.monotonicity).collect();
        let n = ordered.len();
        Some(Self {
            sentences: all.len(),
            words,
            entropy: mean(&|one| one.entropy),
            peak: mean(&|one| one.peak),
            monotonicity: (n > 0).then(|| ordered.iter().sum::<f64>() / n as f64),
            coverage: all.iter().map(|one| one.coverage).sum::<f64>() / all.len() as f64,
            diagonal_distance: mean(&|one| one.diagonal_distance),
            patterns: Pattern::ALL.map(|pattern| all.iter().filter(|one| one.pattern == pattern).count()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows with one peak each, of this weight; the rest falls on the end.
    fn alignment(peaks: &[usize], sources: usize, weight: f32) -> Alignment {
        let words = |n: usize| (0..n).map(|i| format!("w{i}")).collect();
        let row = |&peak: &usize| (0..sources).map(|s| if s == peak { weight } else { 0.0 }).collect();
        let weights = peaks.iter().map(row).collect();
        Alignment { source: words(sources), target: words(peaks.len()), weights, heads: vec![] }
    }

    fn of(peaks: &[usize], sources: usize) -> Statistics {
        Statistics::of(&alignment(peaks, sources, 0.5)).unwrap()
    }

    #[test]
    fn straight_backward_and_jumping_by_hand() {
        let straight = of(&[0, 1, 2, 3], 4);
        assert_eq!((straight.monotonicity, straight.diagonal_distance), (Some(1.0), 0.0));
        assert_eq!((straight.peak, straight.coverage, straight.entropy), (0.5, 0.5, 0.0));
        assert_eq!((straight.pattern, straight.words), (Pattern::Diagonal, 4));
        let backward = of(&[3, 2, 1, 0], 4);
        assert_eq!((backward.monotonicity, backward.pattern), (Some(-1.0), Pattern::Local));
        // |3 − 0| and |2 − 1| quarters, twice.
        assert!((backward.diagonal_distance - 0.5).abs() < 1e-12);
        // Of two or three words all are near the diagonal: their order tells.
        assert_eq!(
            [of(&[1, 0], 2).pattern, of(&[2, 1, 0], 3).pattern, of(&[1, 1, 1], 3).pattern],
            [Pattern::Local; 3]
        );
        assert_eq!(
            [of(&[0, 1], 2).pattern, of(&[1, 2, 2], 3).pattern, of(&[0], 1).pattern],
            [Pattern::Diagonal; 3]
        );
        let jumping = of(&[9, 0, 8, 1, 7, 2], 10);
        assert_eq!(jumping.pattern, Pattern::LongRange);
    }

    /// Peaks 0 0 2 1: of six pairs one is tied, four rise, one falls: (4 − 1) / √(5 · 6).
    #[test]
    fn ties_are_kendalls() {
        let statistics = of(&[0, 0, 2, 1], 3);
        assert!((statistics.monotonicity.unwrap() - 3.0 / 30f64.sqrt()).abs() < 1e-12);
        assert_eq!(of(&[1, 1, 1], 3).monotonicity, None);
        assert_eq!(of(&[1], 3).monotonicity, None);
    }

    #[test]
    fn rows_without_weight_are_no_words_and_nothing_is_nothing() {
        let mut some = alignment(&[0, 1], 2, 1.0);
        some.weights[1] = vec![0.0, 0.0];
        let statistics = Statistics::of(&some).unwrap();
        assert_eq!((statistics.words, statistics.coverage), (1, 0.5));
        assert_eq!(Statistics::of(&Alignment::default()), None);
        assert_eq!(Summary::of(&[]), None);
        let summary = Summary::of(&[of(&[0, 1, 2, 3], 4), of(&[1, 1], 2)]).unwrap();
        assert_eq!((summary.words, summary.patterns, summary.monotonicity), (6, [1, 1, 0], Some(1.0)));
    }
}
