//! Training unigram tokenizers so that the same text gives the same bytes in every process.
//!
//! HF's trainer counts words in a hash map with random keys, and the map's order decides the order of
//! floating-point sums, ties between pieces, and which rare character gets which fallback score. So words are
//! counted here, in order; the sums run on one thread; and what hash order still decided is put in order
//! afterwards.

use std::collections::BTreeMap;

use tokenizers::models::unigram::{Unigram, UnigramTrainer};
use tokenizers::utils::parallelism::set_parallelism;
use tokenizers::{OffsetReferential, OffsetType, PreTokenizedString, PreTokenizer, PreTokenizerWrapper};

/// What HF's functions return.
type Result<T> = tokenizers::Result<T>;

/// HF's step between the fallback scores of characters that training would have dropped.
const FALLBACK_STEP: f64 = 0.0001;

/// Trains a model on lines that are split as `splitting` says. `specials` are the trainer's special tokens.
pub(super) fn train<S: AsRef<str>>(
    trainer: &UnigramTrainer,
    splitting: &PreTokenizerWrapper,
    specials: usize,
    lines: impl Iterator<Item = S>,
) -> Result<Unigram> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    for line in lines {
        let mut words = PreTokenizedString::from(line.as_ref());
        splitting.pre_tokenize(&mut words)?;
        for (word, _, _) in words.get_splits(OffsetReferential::Original, OffsetType::Byte) {
            *counts.entry(word.to_owned()).or_default() += 1;
        }
    }
    let mut model = Unigram::default();
    set_parallelism(false);
    let trained = trainer.do_train(counts.into_iter().collect(), &mut model);
    set_parallelism(true);
    trained?;
    let mut pieces: Vec<(String, f64)> = model.iter().cloned().collect();
    put_in_order(&mut pieces[specials..]);
    Unigram::from(pieces, Some(0), false)
}

/// Gives fallback scores to characters in the order of the characters, then sorts by score and piece.
fn put_in_order(pieces: &mut [(String, f64)]) {
    let least = pieces.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
    let is_fallback = |piece: &str, score: f64| {
        let steps = (score - least) / FALLBACK_STEP;
        piece.chars().count() == 1 && (steps - steps.round()).abs() < 1e-6
    };
    let mut fallbacks: Vec<&mut (String, f64)> =
        pieces.iter_mut().filter(|(piece, score)| is_fallback(piece, *score)).collect();
    let mut scores: Vec<f64> = fallbacks.iter().map(|(_, score)| *score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    fallbacks.sort_by(|(a, _), (b, _)| a.cmp(b));
    fallbacks.into_iter().zip(scores).for_each(|((_, score), ordered)| *score = ordered);
    pieces.sort_by(|(a, a_score), (b, b_score)| b_score.total_cmp(a_score).then_with(|| a.cmp(b)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fallback_scores_and_ties_do_not_depend_on_the_order() {
        let piece = |piece: &str, score: f64| (piece.to_owned(), score);
        let mut first =
            [piece("ab", -1.0), piece("x", -8.9999), piece("y", -9.0), piece("b", -2.0), piece("a", -2.0)];
        let mut second =
            [piece("ab", -1.0), piece("y", -8.9999), piece("a", -2.0), piece("x", -9.0), piece("b", -2.0)];
        put_in_order(&mut first);
        put_in_order(&mut second);
        assert_eq!(first, second);
        assert_eq!(first.map(|(piece, _)| piece), ["ab", "a", "b", "x", "y"]);
    }
}
