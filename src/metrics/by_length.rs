//! Scores by the length of the source: where a fixed context vector fails first.

use serde::Serialize;

use super::BleuConfig;
use super::bleu::Counts;
use crate::text::is_unspaced;

/// The upper bounds of the usual bins, in source words; the last bin is open.
const BOUNDS: [usize; 5] = [10, 20, 30, 40, 50];

/// Fewer sentences than this say too little to stand alone in an [`even`] bin.
const LEAST: usize = 20;

/// The sentences of some lengths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bin {
    /// The fewest source words.
    pub from: usize,
    /// The most source words; nothing for an open bin.
    pub to: Option<usize>,
    /// Which sentences have such a length.
    pub places: Vec<usize>,
}

/// The score of the sentences of some lengths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LengthBucket {
    /// The fewest source words.
    pub from: usize,
    /// The most source words; nothing for the last bucket.
    pub to: Option<usize>,
    /// How many sentences have such a length.
    pub sentences: usize,
    /// Their BLEU.
    pub bleu: f64,
}

/// BLEU by source length, from what is counted in each sentence with so many references; buckets without a sentence are left
/// out.
pub fn by_length<S: AsRef<str>>(
    config: &BleuConfig,
    sources: &[S],
    counts: &[Counts],
    references: usize,
) -> Vec<LengthBucket> {
    let bucket = |bin: Bin| {
        let sum = config.sum(bin.places.iter().map(|&place| &counts[place]));
        let bleu = config.score(&sum, references).score;
        LengthBucket { from: bin.from, to: bin.to, sentences: bin.places.len(), bleu }
    };
    bins(&lengths(sources), &BOUNDS).into_iter().map(bucket).collect()
}

/// Source words of each sentence.
pub fn lengths<S: AsRef<str>>(sources: &[S]) -> Vec<usize> {
    sources.iter().map(|source| words(source.as_ref())).collect()
}

/// Bins of five words where nearly all sentences have at most 30, else of ten, up to the longest sentence. A bin with
/// fewer than 20 sentences is joined with the one before it, or after it if there is none.
pub fn even(lengths: &[usize]) -> Vec<Bin> {
    let mut sorted = lengths.to_vec();
    sorted.sort_unstable();
    let Some(&longest) = sorted.last() else { return Vec::new() };
    let width = if sorted[(sorted.len() - 1) * 99 / 100] <= 30 { 5 } else { 10 };
    let bounds: Vec<usize> = (1..=longest.div_ceil(width)).map(|n| n * width).collect();
    let mut joined: Vec<Bin> = Vec::new();
    for bin in bins(lengths, &bounds) {
        match joined.last_mut() {
            Some(last) if last.places.len() < LEAST || bin.places.len() < LEAST => {
                last.to = bin.to;
                last.places.extend(bin.places);
            }
            _ => joined.push(bin),
        }
    }
    joined
}

/// Sentences by length; bins without a sentence are left out.
fn bins(lengths: &[usize], bounds: &[usize]) -> Vec<Bin> {
    let bin_of = |words: usize| bounds.iter().position(|&bound| words <= bound).unwrap_or(bounds.len());
    let bin = |bin: usize| Bin {
        from: if bin == 0 { 1 } else { bounds[bin - 1] + 1 },
        to: bounds.get(bin).copied(),
        places: (0..lengths.len()).filter(|&i| bin_of(lengths[i]) == bin).collect(),
    };
    (0..=bounds.len()).map(bin).filter(|bin| !bin.places.is_empty()).collect()
}

/// Words between spaces; in scripts without spaces every character is one.
fn words(text: &str) -> usize {
    let count = |word: &str| {
        let unspaced = word.chars().filter(|&c| is_unspaced(c)).count();
        unspaced + usize::from(unspaced < word.chars().count())
    };
    text.split_whitespace().map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chinese_is_counted_by_characters() {
        assert_eq!([words("the cat's fish"), words("猫吃鱼"), words("我用 Python 写"), words("")], [3, 3, 4, 0]);
    }

    #[test]
    fn sentences_fall_into_their_bucket() {
        let long = "w ".repeat(60);
        let sources = ["a b c", &"w ".repeat(10), &"w ".repeat(11), &long];
        let hypotheses = ["the cat eats fish", "the cat eats fish", "no", "the cat eats fish"];
        let config = BleuConfig::default();
        let counts = hypotheses.map(|hypothesis| config.count(hypothesis, &["the cat eats fish"]));
        let buckets = by_length(&config, &sources, &counts, 1);
        let told: Vec<_> = buckets.iter().map(|b| (b.from, b.to, b.sentences, b.bleu.round())).collect();
        assert_eq!(told, [(1, Some(10), 2, 100.0), (11, Some(20), 1, 0.0), (51, None, 1, 100.0)]);
    }

    #[test]
    fn even_bins_hold_enough_sentences_each() {
        let told = |bins: Vec<Bin>| bins.iter().map(|b| (b.from, b.to, b.places.len())).collect::<Vec<_>>();
        let flat = |n: usize, each: usize| -> Vec<usize> { (1..=n).flat_map(|words| vec![words; each]).collect() };
        assert_eq!(told(even(&flat(12, 5))), [(1, Some(5), 25), (6, Some(15), 35)]);
        assert_eq!(
            told(even(&flat(40, 2))),
            [(1, Some(10), 20), (11, Some(20), 20), (21, Some(30), 20), (31, Some(40), 20)]
        );
        // One very long sentence makes no wide bins, and stands in no bin of its own.
        let mut lengths = flat(10, 20);
        lengths.push(94);
        assert_eq!(told(even(&lengths)), [(1, Some(5), 100), (6, Some(95), 101)]);
        assert_eq!(even(&lengths)[1].places.last(), Some(&200));
        // Too few sentences in all.
        assert_eq!(told(even(&[3, 9, 14])), [(1, Some(15), 3)]);
        assert_eq!(told(even(&[])), []);
    }
}
