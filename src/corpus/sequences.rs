//! Random sequences to copy or to reverse: the pure test of memory. Nothing in a symbol helps to guess the next one, so
//! whoever writes the target must have kept the source, or look at it.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::Pair;
use super::toy::ToyCorpus;
use crate::alignment::{Link, SentenceLinks};
use crate::rng::Rng;

/// What is to be done with a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Write it again.
    Copy,
    /// Write it from its end.
    Reverse,
}

/// Symbols that sequences are made of, all equally likely: who guesses is right once in 64 times.
pub const SYMBOLS: usize = 64;

/// Symbols of a sequence.
pub const LENGTHS: RangeInclusive<usize> = 5..=100;

/// Pairs of each length, by part.
const TRAIN: usize = 60;
const DEV: usize = 2;
const TEST: usize = 5;

/// The seed of the sequences that configs name.
pub const SEED: u64 = 1;

impl Task {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Copy, Self::Reverse];

    /// The name in front of `:train`, `:dev` and `:test`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Copy => "copy",
            Self::Reverse => "reverse",
        }
    }

    fn pair(self, symbols: &[usize]) -> Pair {
        let n = symbols.len();
        let written = |place: usize| match self {
            Self::Copy => place,
            Self::Reverse => n - 1 - place,
        };
        let text = |places: &mut dyn Iterator<Item = usize>| {
            places.map(|place| format!("s{}", symbols[place])).collect::<Vec<_>>().join(" ")
        };
        let links: SentenceLinks = (0..n).map(|target| Link::new(written(target), target)).collect();
        Pair { source: text(&mut (0..n)), target: text(&mut (0..n).map(written)), links: Some(links), line: 0 }
    }
}

/// The sequences of a seed, with gold links. Both tasks have the same ones; no sequence stands twice.
pub fn generate(task: Task, seed: u64) -> ToyCorpus {
    let mut rng = Rng::new(seed, 2);
    let (mut corpus, mut seen) = (ToyCorpus::default(), BTreeSet::new());
    for length in LENGTHS {
        for (part, count) in [(&mut corpus.train, TRAIN), (&mut corpus.dev, DEV), (&mut corpus.test, TEST)] {
            for _ in 0..count {
                part.push(task.pair(&new_sequence(&mut rng, &mut seen, length)));
            }
        }
    }
    for part in [&mut corpus.train, &mut corpus.dev, &mut corpus.test] {
        rng.shuffle(part);
    }
    corpus
}

/// A sequence that was not drawn before.
fn new_sequence(rng: &mut Rng, seen: &mut BTreeSet<Vec<usize>>, length: usize) -> Vec<usize> {
    loop {
        let symbols: Vec<usize> = (0..length).map(|_| rng.below(SYMBOLS)).collect();
        if seen.insert(symbols.clone()) {
            return symbols;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_and_reverses_by_hand() {
        let told = |task: Task| {
            let pair = task.pair(&[7, 0, 63]);
            (pair.source, pair.target, pair.links.unwrap().to_string())
        };
        assert_eq!(told(Task::Copy), ("s7 s0 s63".into(), "s7 s0 s63".into(), "0-0 1-1 2-2".into()));
        assert_eq!(told(Task::Reverse), ("s7 s0 s63".into(), "s63 s0 s7".into(), "0-2 1-1 2-0".into()));
    }

    #[test]
    fn every_length_is_there_as_often_and_every_symbol_is_used() {
        let corpus = generate(Task::Reverse, SEED);
        let all = [&corpus.train, &corpus.dev, &corpus.test].into_iter().flatten();
        let sources: Vec<&str> = all.map(|pair| pair.source.as_str()).collect();
        assert_eq!(sources.len(), LENGTHS.count() * (TRAIN + DEV + TEST));
        assert_eq!(sources.iter().collect::<BTreeSet<_>>().len(), sources.len());
        for length in LENGTHS {
            let count = corpus.test.iter().filter(|pair| pair.source.split(' ').count() == length).count();
            assert_eq!(count, TEST, "{length}");
        }
        let symbols: BTreeSet<&str> = corpus.train.iter().flat_map(|pair| pair.source.split(' ')).collect();
        assert_eq!(symbols.len(), SYMBOLS);
        assert_eq!(generate(Task::Copy, SEED).test[0].source, corpus.test[0].source, "the same sequences");
        assert_ne!(generate(Task::Reverse, 2).test, corpus.test);
    }
}
