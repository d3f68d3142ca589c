//! The long part of the toy corpus: clauses of the same grammar, joined to sentences of 5 to 60 words, as many of each
//! length. One vector has to hold all of such a sentence; attention can look.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::grammar;
use super::phrase::Phrase;
use super::{ToyCorpus, pair};
use crate::corpus::{Pair, read};
use crate::rng::Rng;

/// English words of a sentence.
pub const LENGTHS: RangeInclusive<usize> = 5..=60;

/// Pairs of each length, by part.
const TRAIN: usize = 100;
const DEV: usize = 5;
const TEST: usize = 20;

/// Writes the long part of a seed.
pub fn generate(seed: u64) -> ToyCorpus {
    // Stream 0 writes the short part.
    let mut rng = Rng::new(seed, 1);
    let (mut corpus, mut seen) = (ToyCorpus::default(), Seen::default());
    for length in LENGTHS {
        for (part, count) in [(&mut corpus.train, TRAIN), (&mut corpus.dev, DEV), (&mut corpus.test, TEST)] {
            for _ in 0..count {
                part.push(pair(&seen.new_sentence(&mut rng, length)));
            }
        }
    }
    for part in [&mut corpus.train, &mut corpus.dev, &mut corpus.test] {
        rng.shuffle(part);
    }
    corpus
}

/// The pairs of a corpus with at most so many English words.
pub fn up_to(corpus: &ToyCorpus, words: usize) -> ToyCorpus {
    let short = |pairs: &[Pair]| pairs.iter().filter(|pair| read::words(&pair.source) <= words).cloned().collect();
    ToyCorpus { train: short(&corpus.train), dev: short(&corpus.dev), test: short(&corpus.test) }
}

/// What has been written, so that no sentence of either side stands in two parts, or twice.
#[derive(Default)]
struct Seen {
    english: BTreeSet<String>,
    chinese: BTreeSet<String>,
}

impl Seen {
    fn new_sentence(&mut self, rng: &mut Rng, length: usize) -> Phrase {
        loop {
            let phrase = sentence(rng, length);
            let (english, chinese) = (phrase.english.join(" "), phrase.chinese.join(" "));
            if !self.english.contains(&english) && !self.chinese.contains(&chinese) {
                self.english.insert(english);
                self.chinese.insert(chinese);
                return phrase;
            }
        }
    }
}

/// A sentence of so many English words: clauses are joined until they are as many, and again from the beginning when
/// the last one is too long.
fn sentence(rng: &mut Rng, length: usize) -> Phrase {
    loop {
        let mut sentence = grammar::clause(rng);
        while sentence.english.len() < length {
            sentence = Phrase::join([sentence, grammar::between(rng), grammar::clause(rng)], [0, 1, 2]);
        }
        if sentence.english.len() == length {
            return grammar::with_articles(sentence);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::corpus::toy::SHIPPED_SEED;

    #[test]
    fn every_length_is_there_as_often() {
        let corpus = generate(SHIPPED_SEED);
        for (part, count) in [(&corpus.train, TRAIN), (&corpus.dev, DEV), (&corpus.test, TEST)] {
            let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
            part.iter().for_each(|pair| *lengths.entry(pair.source.split(' ').count()).or_default() += 1);
            assert!(lengths.keys().copied().eq(LENGTHS) && lengths.values().all(|&n| n == count), "{lengths:?}");
        }
    }

    #[test]
    fn no_sentence_of_either_side_stands_twice() {
        let corpus = generate(SHIPPED_SEED);
        let all: Vec<_> = [&corpus.train, &corpus.dev, &corpus.test].into_iter().flatten().collect();
        for side in [|pair: &Pair| pair.source.clone(), |pair: &Pair| pair.target.clone()] {
            assert_eq!(all.iter().map(|pair| side(pair)).collect::<BTreeSet<_>>().len(), all.len());
        }
        assert_ne!(generate(2).test, corpus.test);
    }

    /// Links stay inside the sentence, and every Chinese word has at most one sure one, as in the short part.
    #[test]
    fn links_are_right_by_construction() {
        for pair in generate(SHIPPED_SEED).test {
            let links = pair.links.as_ref().unwrap();
            let (source, target) = (pair.source.split(' ').count(), pair.target.split(' ').count());
            assert!(links.iter().all(|link| link.source < source && link.target < target), "{pair:?}");
            for j in 0..target {
                assert!(links.iter().any(|link| link.target == j), "word {j} of {pair:?}");
            }
        }
    }

    #[test]
    fn an_joins_words_that_begin_with_a_vowel() {
        for pair in generate(SHIPPED_SEED).test {
            let words: Vec<&str> = pair.source.split(' ').collect();
            for two in words.windows(2) {
                let vowel = two[1].starts_with(['a', 'e', 'i', 'o', 'u']);
                assert!(!["a", "an"].contains(&two[0]) || (two[0] == "an") == vowel, "{}", pair.source);
            }
        }
    }
}
