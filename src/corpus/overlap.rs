//! What a test set has in common with training data: whoever was trained on the answers is not being tested.

use std::collections::HashMap;

use super::{Pair, Pairs};
use crate::error::Result;

/// How texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Character by character.
    Exact,
    /// Letters and digits alone, lower case: not space, punctuation or form.
    Normalized,
}

/// Test pairs that training data holds too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Overlap {
    /// Test pairs whose source is also one.
    pub sources: usize,
    /// Test pairs whose target is also one.
    pub targets: usize,
    /// Test pairs of which both stand in one training pair.
    pub pairs: usize,
    /// The line of the first of those in the test data, or of the first shared side if no pair is shared; 0 if there is none.
    pub first_line: usize,
}

/// The overlaps of training data, which is read once, with a test set, exact and after normalising.
///
/// # Errors
/// What can't be read.
pub fn overlaps(training: Pairs, test: &[Pair]) -> Result<[Overlap; 2]> {
    let mut finders = [Likeness::Exact, Likeness::Normalized].map(|likeness| Finder::new(test, likeness));
    for pair in training {
        let pair = pair?;
        finders.iter_mut().for_each(|finder| finder.see(&pair));
    }
    Ok(finders.map(|finder| finder.found(test)))
}

/// A text as it is compared.
pub fn key(text: &str, likeness: Likeness) -> String {
    match likeness {
        Likeness::Exact => text.trim().to_owned(),
        Likeness::Normalized => {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        }
    }
}

/// Places in the test set by the text of a side.
type Places = HashMap<String, Vec<usize>>;

struct Finder {
    likeness: Likeness,
    sides: [Places; 2],
    /// Of each test pair: whether source, target, both in one pair were seen.
    seen: Vec<[bool; 3]>,
}

impl Finder {
    fn new(test: &[Pair], likeness: Likeness) -> Self {
        let places = |side: fn(&Pair) -> &str| {
            let mut places = Places::new();
            for (place, pair) in test.iter().enumerate() {
                let key = key(side(pair), likeness);
                // Nothing is in everything.
                if !key.is_empty() {
                    places.entry(key).or_default().push(place);
                }
            }
            places
        };
        let sides = [places(|pair| &pair.source), places(|pair| &pair.target)];
        Self { likeness, sides, seen: vec![[false; 3]; test.len()] }
    }

    fn see(&mut self, pair: &Pair) {
        let keys = [&pair.source, &pair.target].map(|text| key(text, self.likeness));
        let [sources, targets] =
            [0, 1].map(|side| self.sides[side].get(&keys[side]).map_or(&[][..], Vec::as_slice));
        sources.iter().for_each(|&place| self.seen[place][0] = true);
        targets.iter().for_each(|&place| self.seen[place][1] = true);
        sources.iter().filter(|place| targets.contains(place)).for_each(|&place| self.seen[place][2] = true);
    }

    fn found(self, test: &[Pair]) -> Overlap {
        let count = |what: usize| self.seen.iter().filter(|seen| seen[what]).count();
        let first =
            |what: &dyn Fn(&[bool; 3]) -> bool| self.seen.iter().position(what).map(|place| test[place].line);
        let first_line = first(&|seen| seen[2]).or_else(|| first(&|seen| seen[0] || seen[1])).unwrap_or(0);
        Overlap { sources: count(0), targets: count(1), pairs: count(2), first_line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(texts: &[(&str, &str)]) -> Vec<Pair> {
        let pair = |(line, (source, target)): (usize, &(&str, &str))| Pair {
            source: (*source).into(),
            target: (*target).into(),
            links: None,
            line,
        };
        (1..).zip(texts).map(pair).collect()
    }

    #[test]
    fn what_is_shared_is_counted_by_side_and_by_pair() {
        let training = [("Hello.", "你好。"), ("A cat", "一只猫"), ("Good day", "日安"), ("", "x")];
        let test = [("Hello.", "您好。"), ("hello", "你好"), ("new", "新"), ("a cat!", "一只狗"), ("", "空")];
        let training = || -> Pairs { Box::new(pairs(&training).into_iter().map(Ok)) };
        let [exact, normalized] = overlaps(training(), &pairs(&test)).unwrap();
        assert_eq!(exact, Overlap { sources: 1, targets: 0, pairs: 0, first_line: 1 });
        assert_eq!(normalized, Overlap { sources: 3, targets: 1, pairs: 1, first_line: 2 });
        let [none, _] = overlaps(training(), &pairs(&[("nothing", "没有")])).unwrap();
        assert_eq!(none, Overlap::default());
    }
}
