//! How many words are right, by how rare they are in the training data (as compare-mt tells it: Neubig et al. 2019,
//! "compare-mt: a tool for holistic comparison of language generation systems", section 2.2).

use std::collections::HashMap;

use serde::Serialize;

use super::{Criteria, Test};
use crate::error::Result;
use crate::metrics::tokenize::words;
use crate::metrics::{BleuConfig, Tokenization};

/// The words that occur so often.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FrequencyBucket {
    /// The fewest times in the training data …
    pub from: usize,
    /// … and the most; nothing for the last bucket.
    pub to: Option<usize>,
    /// Words of the references, of several the first.
    pub references: usize,
    /// Words of the hypotheses.
    pub hypotheses: usize,
    /// Words of both: each at most as often in a sentence as in its reference.
    pub right: usize,
    /// The harmonic mean of the shares of both that are right; nothing without words.
    pub f1: Option<f64>,
}

/// Where buckets end.
const BOUNDS: [usize; 5] = [0, 4, 19, 99, 999];

/// How often each word occurs in some sentences, cut as for BLEU.
///
/// # Errors
/// The first that there is among the sentences.
pub fn frequencies(
    sentences: impl Iterator<Item = Result<String>>,
    bleu: &BleuConfig,
) -> Result<HashMap<String, usize>> {
    let mut counts = HashMap::new();
    for sentence in sentences {
        for word in words(&cut(&sentence?, bleu)) {
            // Most words are known already, and need no copy.
            match counts.get_mut(word) {
                Some(count) => *count += 1,
                None => _ = counts.insert(word.to_owned(), 1),
            }
        }
    }
    Ok(counts)
}

fn cut(sentence: &str, BleuConfig { tokenization, lowercase, .. }: &BleuConfig) -> String {
    let apply = |text: &str| Tokenization::apply(*tokenization, text);
    if *lowercase { apply(&sentence.to_lowercase()) } else { apply(sentence) }
}

/// The words of a test set by how often they are known from training; buckets without a word are left out.
pub(super) fn by_frequency(
    test: &Test,
    criteria: &Criteria,
    known: &HashMap<String, usize>,
) -> Vec<FrequencyBucket> {
    let bucket_of = |word: &str| {
        let times = known.get(word).copied().unwrap_or_default();
        BOUNDS.iter().position(|&bound| times <= bound).unwrap_or(BOUNDS.len())
    };
    let mut sums = [[0usize; 3]; BOUNDS.len() + 1];
    for (hypothesis, reference) in test.hypotheses.iter().zip(&test.references[0]) {
        let (hypothesis, reference) = (cut(hypothesis, &criteria.bleu), cut(reference, &criteria.bleu));
        let mut left: HashMap<&str, usize> = HashMap::new();
        for word in words(&reference) {
            *left.entry(word).or_default() += 1;
            sums[bucket_of(word)][0] += 1;
        }
        for word in words(&hypothesis) {
            let sum = &mut sums[bucket_of(word)];
            sum[1] += 1;
            if let Some(left) = left.get_mut(word).filter(|left| **left > 0) {
                *left -= 1;
                sum[2] += 1;
            }
        }
    }
    let bucket = |(i, [references, hypotheses, right]): (usize, [usize; 3])| FrequencyBucket {
        from: if i == 0 { 0 } else { BOUNDS[i - 1] + 1 },
        to: BOUNDS.get(i).copied(),
        references,
        hypotheses,
        right,
        f1: (references + hypotheses > 0).then(|| 2.0 * right as f64 / (references + hypotheses) as f64),
    };
    sums.into_iter().enumerate().map(bucket).filter(|bucket| bucket.f1.is_some()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_counted_by_hand() {
        let bleu = BleuConfig::default();
        let sentences = ["the cat", "the dog", "the the a"].map(|text| Ok(text.to_owned()));
        let known = frequencies(sentences.into_iter(), &bleu).unwrap();
        assert_eq!((known["the"], known["a"]), (4, 1));
        let test = Test {
            hypotheses: vec!["the the cow".into(), "a dog".into()],
            references: vec![vec!["the cat".into(), "a dog".into()]],
            ..Test::default()
        };
        let told = by_frequency(&test, &Criteria::default(), &known);
        // "cow" was never seen; the others at most four times: 4 words of the references, 4 of the hypotheses, 3 right.
        let brief: Vec<_> = told.iter().map(|it| (it.from, it.references, it.hypotheses, it.right)).collect();
        assert_eq!(brief, [(0, 0, 1, 0), (1, 4, 4, 3)]);
        assert_eq!((told[0].f1, told[1].f1), (Some(0.0), Some(0.75)));
    }
}
