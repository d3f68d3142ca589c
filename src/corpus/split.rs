//! Parallel text into training, dev and test parts without leaks: what a sentence's translation is, must not be learnt from
//! another part.

use std::collections::HashMap;

use super::Pair;
use super::overlap::{Likeness, key};
use crate::error::{Error, Result};
use crate::rng::Rng;

/// The places of pairs in each part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Split {
    /// To train on, in the order of the corpus.
    pub train: Vec<usize>,
    /// To choose a model on.
    pub dev: Vec<usize>,
    /// To judge on.
    pub test: Vec<usize>,
}

/// Splits pairs so that dev and test have at least so many pairs each. Pairs that share a source or a target, after
/// normalising (letters and digits alone, lower case), stay together, and so do those that share one with them in turn. No
/// group that is larger than a tenth of a part goes into it: one that everything hangs together with would fill it.
///
/// # Errors
/// Too few pairs that stand apart.
pub fn split(pairs: &[Pair], dev: usize, test: usize, seed: u64) -> Result<Split> {
    let mut groups = groups(pairs);
    Rng::new(seed, 3).shuffle(&mut groups);
    let mut split = Split::default();
    for group in groups {
        let fits = |part: &Vec<usize>, most: usize| part.len() < most && 10 * group.len() <= most.max(10);
        if fits(&split.test, test) {
            split.test.extend(group);
        } else if fits(&split.dev, dev) {
            split.dev.extend(group);
        } else {
            split.train.extend(group);
        }
    }
    for (name, part, asked) in [("dev", &mut split.dev, dev), ("test", &mut split.test, test)] {
        if part.len() < asked {
            return Err(Error::Config(format!(
                "only {} pairs are left for the {name} part, and {asked} were asked for: what shares sentences with much else, \
                 more than a tenth of a part, stays with the training data; ask for fewer",
                part.len()
            )));
        }
        part.sort_unstable();
    }
    if split.train.is_empty() {
        return Err(Error::Config("no pair is left to train on: ask for fewer in dev and test".into()));
    }
    split.train.sort_unstable();
    Ok(split)
}

/// Places of pairs that hang together, in the order of their first ones.
fn groups(pairs: &[Pair]) -> Vec<Vec<usize>> {
    let mut union = Union((0..pairs.len()).collect());
    for side in [(|pair| &pair.source) as fn(&Pair) -> &String, |pair| &pair.target] {
        let mut first: HashMap<String, usize> = HashMap::new();
        for (place, pair) in pairs.iter().enumerate() {
            // Texts of signs alone are compared as they stand.
            let normalized = Some(key(side(pair), Likeness::Normalized)).filter(|key| !key.is_empty());
            let key = normalized.unwrap_or_else(|| key(side(pair), Likeness::Exact));
            let other = *first.entry(key).or_insert(place);
            union.join(place, other);
        }
    }
    let mut groups: Vec<Vec<usize>> = vec![Vec::new(); pairs.len()];
    (0..pairs.len()).for_each(|place| groups[union.root(place)].push(place));
    groups.retain(|group| !group.is_empty());
    groups
}

/// Sets that are joined: each place names one nearer to its root, the smallest of its set.
struct Union(Vec<usize>);

impl Union {
    fn root(&mut self, mut place: usize) -> usize {
        while self.0[place] != place {
            self.0[place] = self.0[self.0[place]];
            place = self.0[place];
        }
        place
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b)] = a.min(b);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn pair(source: String, target: String) -> Pair {
        Pair { source, target, ..Pair::default() }
    }

    /// A chain hangs together though its ends share nothing.
    #[test]
    fn what_shares_a_sentence_stays_together() {
        let pairs = [("A b.", "x"), ("c", "y"), ("a B", "z"), ("d", "Z!"), ("e", "w"), ("?", "v"), ("!", "u")];
        let pairs = pairs.map(|(source, target)| pair(source.into(), target.into()));
        assert_eq!(groups(&pairs), [vec![0, 2, 3], vec![1], vec![4], vec![5], vec![6]]);
    }

    #[test]
    fn parts_share_no_sentence_and_lose_none() {
        let mut rng = Rng::new(1, 0);
        let sentence = |rng: &mut Rng, side: &str| format!("{side} {}", rng.below(900));
        let pairs: Vec<Pair> = (0..600).map(|_| pair(sentence(&mut rng, "S"), sentence(&mut rng, "T"))).collect();
        let found = split(&pairs, 40, 60, 1).unwrap();
        assert!(found.dev.len() >= 40 && found.test.len() >= 60 && found.dev.len() + found.test.len() < 120);
        let mut all = [found.train.clone(), found.dev.clone(), found.test.clone()].concat();
        all.sort_unstable();
        assert_eq!(all, (0..600).collect::<Vec<_>>());
        let sides = |part: &[usize], side: fn(&Pair) -> &String| -> HashSet<String> {
            part.iter().map(|&place| side(&pairs[place]).to_lowercase()).collect()
        };
        for side in [(|pair| &pair.source) as fn(&Pair) -> &String, |pair| &pair.target] {
            let parts = [&found.train, &found.dev, &found.test].map(|part| sides(part, side));
            for [a, b] in [[0, 1], [0, 2], [1, 2]] {
                assert!(parts[a].is_disjoint(&parts[b]), "{a} {b}");
            }
        }
        assert_eq!(split(&pairs, 40, 60, 1).unwrap(), found);
        assert_ne!(split(&pairs, 40, 60, 2).unwrap(), found);
    }

    #[test]
    fn more_than_there_is_is_refused() {
        let pairs: Vec<Pair> = (0..50).map(|i| pair(format!("s{i}"), "the same".into())).collect();
        let told = split(&pairs, 5, 5, 1).unwrap_err().to_string();
        assert!(told.contains("only 0 pairs are left for the dev part"), "{told}");
        let apart: Vec<Pair> = (0..10).map(|i| pair(format!("s{i}"), format!("t{i}"))).collect();
        assert!(split(&apart, 5, 5, 1).unwrap_err().to_string().contains("no pair is left to train on"));
    }
}
