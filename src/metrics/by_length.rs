//! Scores by the length of the source: where a fixed context vector fails first.

use serde::Serialize;

use super::BleuConfig;
use crate::text::is_unspaced;

/// The upper bounds of the buckets, in source words; the last bucket is open.
const BOUNDS: [usize; 5] = [10, 20, 30, 40, 50];

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

/// BLEU by source length; buckets without a sentence are left out.
pub fn by_length<S: AsRef<str>>(
    config: &BleuConfig,
    sources: &[S],
    hypotheses: &[S],
    references: &[&[S]],
) -> Vec<LengthBucket> {
    let bucket_of = |words: usize| BOUNDS.iter().position(|&bound| words <= bound).unwrap_or(BOUNDS.len());
    let lengths: Vec<usize> = sources.iter().map(|source| bucket_of(words(source.as_ref()))).collect();
    let bucket = |bucket: usize| {
        let chosen: Vec<usize> = (0..lengths.len()).filter(|&i| lengths[i] == bucket).collect();
        let pick = |stream: &[S]| chosen.iter().map(|&i| stream[i].as_ref().to_owned()).collect::<Vec<_>>();
        let picked: Vec<Vec<String>> = references.iter().map(|stream| pick(stream)).collect();
        let streams: Vec<&[String]> = picked.iter().map(Vec::as_slice).collect();
        LengthBucket {
            from: if bucket == 0 { 1 } else { BOUNDS[bucket - 1] + 1 },
            to: BOUNDS.get(bucket).copied(),
            sentences: chosen.len(),
            bleu: config.corpus(&pick(hypotheses), &streams).score,
        }
    };
    (0..=BOUNDS.len()).map(bucket).filter(|bucket| bucket.sentences > 0).collect()
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
        let references: &[&str] = &["the cat eats fish"; 4];
        let buckets = by_length(&BleuConfig::default(), &sources, &hypotheses, &[references]);
        let told: Vec<_> = buckets.iter().map(|b| (b.from, b.to, b.sentences, b.bleu.round())).collect();
        assert_eq!(told, [(1, Some(10), 2, 100.0), (11, Some(20), 1, 0.0), (51, None, 1, 100.0)]);
    }
}
