//! What a translation must hold.

/// A phrase that a translation must hold: the ways to write it in ids, any of which will do. (In running Chinese a word has no
/// space before it, at the beginning it is marked as if it had.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phrase {
    ways: Vec<Vec<usize>>,
}

impl From<Vec<usize>> for Phrase {
    /// One way to write it.
    fn from(tokens: Vec<usize>) -> Self {
        Self::new(vec![tokens])
    }
}

impl Phrase {
    /// Of the ways to write it; what is empty, or there already, is left out.
    pub fn new(ways: Vec<Vec<usize>>) -> Self {
        let mut kept: Vec<Vec<usize>> = Vec::new();
        for way in ways {
            if !way.is_empty() && !kept.contains(&way) {
                kept.push(way);
            }
        }
        Self { ways: kept }
    }

    /// The ways to write it.
    pub fn ways(&self) -> &[Vec<usize>] {
        &self.ways
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty()
    }

    /// The tokens of its longest way.
    pub fn len(&self) -> usize {
        self.ways.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether `tokens` hold it.
    pub fn is_in(&self, tokens: &[usize]) -> bool {
        self.is_empty() || self.ways.iter().any(|way| tokens.windows(way.len()).any(|window| window == way))
    }

    /// Phrases without those that are there wherever another one is.
    pub fn needed(phrases: Vec<Self>) -> Vec<Self> {
        let is_in = |part: &Self, whole: &Self| whole.ways.iter().all(|way| part.is_in(way));
        let mut kept: Vec<Self> = Vec::new();
        for phrase in phrases {
            if !kept.iter().any(|whole| is_in(&phrase, whole)) {
                kept.retain(|part| !is_in(part, &phrase));
                kept.push(phrase);
            }
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_way_will_do() {
        let phrase = Phrase::new(vec![vec![4, 5], vec![6], vec![4, 5], vec![]]);
        assert_eq!((phrase.ways().len(), phrase.len()), (2, 2));
        assert!(phrase.is_in(&[1, 4, 5]) && phrase.is_in(&[6]) && !phrase.is_in(&[4, 1, 5]));
        assert!(Phrase::new(vec![]).is_in(&[]));
    }

    #[test]
    fn what_another_holds_is_not_asked_for_twice() {
        let of = |phrases: &[&[usize]]| {
            Phrase::needed(phrases.iter().map(|tokens| Phrase::from(tokens.to_vec())).collect())
        };
        let needed = of(&[&[1], &[1, 2], &[3], &[3], &[2]]);
        assert_eq!(needed, [Phrase::from(vec![1, 2]), Phrase::from(vec![3])]);
        // The long one may be written without the short one in it.
        let loose = Phrase::new(vec![vec![1, 2], vec![7]]);
        assert_eq!(Phrase::needed(vec![Phrase::from(vec![1]), loose]).len(), 2);
    }
}
