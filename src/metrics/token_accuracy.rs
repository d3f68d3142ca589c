//! How many tokens stand where they should: the score of copying and reversing, where the right answer is one sequence.

/// Tokens of a sentence that are right, and those that could be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// Places that hold the reference's token.
    pub right: usize,
    /// Places of the longer of the two: what is missing and what is too much are wrong.
    pub places: usize,
}

impl Hits {
    /// Counts one sentence, whose tokens stand between spaces.
    pub fn of(hypothesis: &str, reference: &str) -> Self {
        let tokens = |text: &str| text.split_whitespace().count();
        let both = hypothesis.split_whitespace().zip(reference.split_whitespace());
        Self { right: both.filter(|(a, b)| a == b).count(), places: tokens(hypothesis).max(tokens(reference)) }
    }

    /// The share that is right, from sums over a corpus; 1 where there is nothing to write.
    pub fn accuracy(self) -> f64 {
        if self.places == 0 { 1.0 } else { self.right as f64 / self.places as f64 }
    }
}

impl std::iter::Sum for Hits {
    fn sum<I: Iterator<Item = Self>>(hits: I) -> Self {
        hits.fold(Self::default(), |sum, hits| Self {
            right: sum.right + hits.right,
            places: sum.places + hits.places,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_by_hand() {
        let hits = |hypothesis, reference| {
            let Hits { right, places } = Hits::of(hypothesis, reference);
            (right, places)
        };
        assert_eq!(hits("a b c", "a b c"), (3, 3));
        assert_eq!(hits("a x c d", "a b c"), (2, 4));
        // Nothing stands in its place once one is missing.
        assert_eq!(hits("b c", "a b c"), (0, 3));
        assert_eq!(hits("", "a b"), (0, 2));
        let sum: Hits = [Hits::of("a", "a"), Hits::of("", "a b c")].into_iter().sum();
        assert_eq!(sum.accuracy(), 0.25);
        assert_eq!(Hits::default().accuracy(), 1.0);
    }
}
