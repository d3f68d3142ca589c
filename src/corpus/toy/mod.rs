//! The toy corpus: some six thousand English–Chinese pairs with gold word alignment, written by a small
//! grammar, the same bytes from the same seed.
//!
//! English → Chinese is a function; the reverse is not (articles and plurals are lost). No sentence of
//! either side stands in two splits. Beside it there is a long part ([`long`]).

mod grammar;
mod lexicon;
pub mod long;
mod phrase;

use std::collections::{BTreeMap, BTreeSet};

use super::Pair;
use crate::rng::Rng;
use phrase::Phrase;

/// The splits of the corpus, in the order they are told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToyCorpus {
    /// For training.
    pub train: Vec<Pair>,
    /// For choosing the model.
    pub dev: Vec<Pair>,
    /// For the final figures.
    pub test: Vec<Pair>,
}

impl ToyCorpus {
    /// Its parts by name.
    pub fn parts(&self) -> [(&'static str, &[Pair]); 3] {
        [("train", &self.train), ("dev", &self.dev), ("test", &self.test)]
    }

    /// The part of a name.
    pub fn part(&self, name: &str) -> Option<&[Pair]> {
        self.parts().into_iter().find(|(known, _)| *known == name).map(|(_, pairs)| pairs)
    }
}

/// The seed of the shipped corpus.
pub const SHIPPED_SEED: u64 = 1;

const DEV: usize = 500;
const TEST: usize = 500;
const TRAIN: usize = 5000;
const LONGEST: usize = 14;

/// The shipped corpus, part of the binary: `data/toy/{train,dev,test}.tsv`.
pub const SHIPPED: [(&str, &str); 3] = [
    ("train", include_str!("../../../data/toy/train.tsv")),
    ("dev", include_str!("../../../data/toy/dev.tsv")),
    ("test", include_str!("../../../data/toy/test.tsv")),
];

/// Writes the corpus of a seed.
pub fn generate(seed: u64) -> ToyCorpus {
    let mut rng = Rng::new(seed, 0);
    let mut english = BTreeSet::new();
    // Sentences that share their Chinese go into one split together.
    let mut groups: Vec<Vec<Phrase>> = Vec::new();
    let mut group_of: BTreeMap<String, usize> = BTreeMap::new();
    let fixed = examples();
    let fixed_groups = fixed.len();
    let mut fixed = fixed.into_iter();
    while english.len() < TRAIN + DEV + TEST {
        let phrase = fixed.next().unwrap_or_else(|| grammar::sentence(&mut rng));
        let fits = |words: &[&str]| (2..=LONGEST).contains(&words.len());
        if !fits(&phrase.english) || !fits(&phrase.chinese) || !english.insert(phrase.english.join(" ")) {
            continue;
        }
        let group = *group_of.entry(phrase.chinese.join(" ")).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(phrase);
    }
    split(&mut rng, groups, fixed_groups)
}

/// The examples that every text about zhuyi uses are in the training part.
fn examples() -> Vec<Phrase> {
    use phrase::Phrase as P;
    let subject = P::word("cat", "猫").after_silent(&["the"]);
    let cat = P::join([subject, P::word("eats", "吃"), P::word("fish", "鱼")], [0, 1, 2]);
    let learning = P::join([P::word("deep", "深度"), P::word("learning", "学习")], [0, 1]);
    let love = P::join([P::word("i", "我"), P::word("love", "爱"), learning], [0, 1, 2]);
    vec![cat, grammar::welcome(P::word("shenzhen", "深圳")), love]
}

fn split(rng: &mut Rng, mut groups: Vec<Vec<Phrase>>, fixed: usize) -> ToyCorpus {
    let mut corpus = ToyCorpus::default();
    let drawn = groups.split_off(fixed);
    let mut order: Vec<usize> = (0..drawn.len()).collect();
    rng.shuffle(&mut order);
    let pairs_of = |group: &[Phrase], part: &mut Vec<Pair>| part.extend(group.iter().map(pair));
    groups.iter().for_each(|group| pairs_of(group, &mut corpus.train));
    for group in order {
        // A group that would overfill a part goes to the next one, so that the sizes come out even.
        let group = &drawn[group];
        let part = if corpus.test.len() + group.len() <= TEST {
            &mut corpus.test
        } else if corpus.dev.len() + group.len() <= DEV {
            &mut corpus.dev
        } else {
            &mut corpus.train
        };
        pairs_of(group, part);
    }
    corpus
}

fn pair(phrase: &Phrase) -> Pair {
    Pair {
        source: phrase.english.join(" "),
        target: phrase.chinese.join(" "),
        links: Some(phrase.sentence_links()),
        line: 0,
    }
}

/// A part of the corpus as TSV: English, Chinese, links.
pub fn to_tsv(pairs: &[Pair]) -> String {
    let line = |pair: &Pair| {
        let links = pair.links.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("{}\t{}\t{links}\n", pair.source, pair.target)
    };
    pairs.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_corpus_is_what_the_seed_writes() {
        let corpus = generate(SHIPPED_SEED);
        for ((name, pairs), (shipped, text)) in corpus.parts().into_iter().zip(SHIPPED) {
            assert_eq!(name, shipped);
            assert!(to_tsv(pairs) == text, "data/toy/{name}.tsv: write it again with `zhuyi data toy --seed 1`");
        }
        assert_ne!(generate(2).test, corpus.test);
    }

    #[test]
    fn no_sentence_stands_in_two_splits() {
        let corpus = generate(SHIPPED_SEED);
        for side in [|pair: &Pair| pair.source.clone(), |pair: &Pair| pair.target.clone()] {
            let mut seen: BTreeMap<String, &str> = BTreeMap::new();
            for (name, pairs) in corpus.parts() {
                for pair in pairs {
                    let before = seen.insert(side(pair), name);
                    assert!(before.is_none_or(|before| before == name), "{}", side(pair));
                }
            }
        }
    }

    #[test]
    fn english_to_chinese_is_a_function_of_the_promised_size() {
        let corpus = generate(SHIPPED_SEED);
        let pairs: Vec<&Pair> = corpus.parts().into_iter().flat_map(|(_, pairs)| pairs).collect();
        let english: BTreeSet<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        assert_eq!(english.len(), pairs.len());
        assert_eq!([corpus.train.len(), corpus.dev.len(), corpus.test.len()], [TRAIN, DEV, TEST]);
        let words = |side: fn(&Pair) -> &str| -> BTreeSet<&str> {
            pairs.iter().flat_map(|pair| side(pair).split(' ')).collect()
        };
        for vocabulary in [words(|pair| &pair.source), words(|pair| &pair.target)] {
            assert!((150..=300).contains(&vocabulary.len()), "{}", vocabulary.len());
        }
        let lengths =
            pairs.iter().flat_map(|pair| [&pair.source, &pair.target]).map(|side| side.split(' ').count());
        assert_eq!((lengths.clone().min(), lengths.max()), (Some(2), Some(LONGEST)));
        for example in [
            "the cat eats fish\t猫 吃 鱼\t",
            "welcome to shenzhen\t欢迎 来 深圳\t",
            "i love deep learning\t我 爱 深度 学习\t",
        ] {
            assert!(to_tsv(&corpus.train).contains(example), "{example}");
        }
    }

    #[test]
    fn every_word_is_linked_and_no_link_leaves_the_sentence() {
        for (_, pairs) in generate(SHIPPED_SEED).parts() {
            for pair in pairs {
                let links = pair.links.as_ref().unwrap();
                let count = |text: &str| text.split(' ').count();
                for (i, word) in pair.source.split(' ').enumerate() {
                    assert!(links.iter().any(|link| link.source == i), "{word} in {pair:?}");
                }
                for (j, word) in pair.target.split(' ').enumerate() {
                    assert!(links.iter().any(|link| link.target == j), "{word} in {pair:?}");
                }
                assert!(
                    links
                        .iter()
                        .all(|link| link.source < count(&pair.source) && link.target < count(&pair.target))
                );
            }
        }
    }

    #[test]
    fn test_words_are_all_known_from_training() {
        let corpus = generate(SHIPPED_SEED);
        let known: BTreeSet<&str> = corpus.train.iter().flat_map(|pair| pair.source.split(' ')).collect();
        let unknown: Vec<&str> = corpus
            .test
            .iter()
            .flat_map(|pair| pair.source.split(' '))
            .filter(|word| !known.contains(word))
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }
}
