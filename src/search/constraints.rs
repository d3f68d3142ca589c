//! Phrases that a translation must hold, by grid beam search: Hokamp & Liu 2017, "Lexically constrained decoding for
//! sequence generation using grid beam search", algorithm 1.
//!
//! Beside the beam for each length there is one for each number of phrase tokens that are written: hypotheses that have begun
//! a phrase need not stand against those that have not, which are likelier. Where we differ: a phrase may also be written by
//! chance, token by token, and then counts when the sentence ends.

/// How far a hypothesis is with its phrases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Phrases that are written.
    met: Vec<usize>,
    /// The phrase that is being written, and how many of its tokens are.
    begun: Option<(usize, usize)>,
}

impl Progress {
    /// Tokens of phrases that are written.
    pub fn tokens(&self, phrases: &[Vec<usize>]) -> usize {
        let whole: usize = self.met.iter().map(|&phrase| phrases[phrase].len()).sum();
        whole + self.begun.map_or(0, |(_, written)| written)
    }

    /// Whether a phrase is begun, which must first be written to its end.
    pub fn is_inside(&self) -> bool {
        self.begun.is_some()
    }

    /// Each token that goes on with a phrase, or begins one, with how far one is then.
    pub fn ways(&self, phrases: &[Vec<usize>]) -> Vec<(usize, Self)> {
        let with = |phrase: usize, written: usize| {
            let mut next = Self { met: self.met.clone(), begun: None };
            match written + 1 == phrases[phrase].len() {
                true => next.met.push(phrase),
                false => next.begun = Some((phrase, written + 1)),
            }
            (phrases[phrase][written], next)
        };
        match self.begun {
            Some((phrase, written)) => vec![with(phrase, written)],
            None => (0..phrases.len())
                .filter(|phrase| !self.met.contains(phrase) && !phrases[*phrase].is_empty())
                .map(|phrase| with(phrase, 0))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_begun_phrase_is_written_to_its_end() {
        let phrases = [vec![7, 8], vec![9]];
        let start = Progress::default();
        let ways = start.ways(&phrases);
        assert_eq!(ways.iter().map(|(token, _)| *token).collect::<Vec<_>>(), [7, 9]);
        let (_, begun) = &ways[0];
        assert!(begun.is_inside() && begun.tokens(&phrases) == 1);
        let onward = begun.ways(&phrases);
        assert_eq!(onward.len(), 1);
        let (token, met) = &onward[0];
        assert_eq!((*token, met.tokens(&phrases), met.is_inside()), (8, 2, false));
        let (token, all) = met.ways(&phrases).remove(0);
        assert_eq!((token, all.tokens(&phrases)), (9, 3));
        assert!(all.ways(&phrases).is_empty());
    }
}
