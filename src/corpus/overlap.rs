//! What a test set has in common with training data: whoever was trained on the answers is not being tested.

use std::collections::HashMap;

use unicode_normalization::UnicodeNormalization;

use super::Pair;

/// How texts are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// Character by character.
    Exact,
    /// Letters and digits alone, lower case, in one form (NFKC): not space, punctuation, width or composition.
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

/// Finds what pairs that come by have in common with a test set, exactly and after normalising.
#[derive(Debug)]
pub struct Finders<'a> {
    test: &'a [Pair],
    finders: [Finder; 2],
}

impl<'a> Finders<'a> {
    /// Before the first pair.
    pub fn new(test: &'a [Pair]) -> Self {
        let finders = [Likeness::Exact, Likeness::Normalized].map(|likeness| Finder::new(test, likeness));
        Self { test, finders }
    }

    /// A pair comes by.
    pub fn see(&mut self, pair: &Pair) {
        self.finders.iter_mut().for_each(|finder| finder.see(pair));
    }

    /// After the last one: exact, and after normalising.
    pub fn found(self) -> [Overlap; 2] {
        self.finders.map(|finder| finder.found(self.test))
    }
}

/// A text as it is compared.
pub fn key(text: &str, likeness: Likeness) -> String {
    match likeness {
        Likeness::Exact => text.trim().to_owned(),
        Likeness::Normalized => {
            text.nfkc().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).nfkc().collect()
        }
    }
}

/// Places in the test set by the text of a side.
type Places = HashMap<String, Vec<usize>>;

#[derive(Debug)]
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
        let overlaps = |test: &[Pair]| {
            let mut finders = Finders::new(test);
            pairs(&training).iter().for_each(|pair| finders.see(pair));
            finders.found()
        };
        let [exact, normalized] = overlaps(&pairs(&test));
        assert_eq!(exact, Overlap { sources: 1, targets: 0, pairs: 0, first_line: 1 });
        assert_eq!(normalized, Overlap { sources: 3, targets: 1, pairs: 1, first_line: 2 });
        // Width and composition are form.
        let [exact, normalized] = overlaps(&pairs(&[("ＧＯＯＤ\u{3000}day", "x"), ("neu", "日安")]));
        assert_eq!((exact.sources, exact.targets, normalized.sources), (0, 2, 1));
        assert_eq!(key("cafe\u{301}", Likeness::Normalized), key("CAFÉ!", Likeness::Normalized));
        let [none, _] = overlaps(&pairs(&[("nothing", "没有")]));
        assert_eq!(none, Overlap::default());
    }
}
