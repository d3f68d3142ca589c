//! Phrases that a translation must hold, by grid beam search: Hokamp & Liu 2017, "Lexically constrained decoding for
//! sequence generation using grid beam search", algorithm 1.
//!
//! Beside the beam for each length there is one for each number of phrase tokens that are written: hypotheses that have begun
//! a phrase need not stand against those that have not, which are likelier. Where we differ: a phrase may also be written by
//! chance, token by token, and then counts when the sentence ends.

use super::Phrase;

/// How far a hypothesis is with its phrases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Phrases that are written.
    met: Vec<usize>,
    /// The one that is being written.
    begun: Option<Begun>,
}

/// A phrase that is being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Begun {
    phrase: usize,
    /// In which of its ways.
    way: usize,
    /// So many tokens of it.
    written: usize,
}

/// A token that goes on with a phrase, or begins one.
#[derive(Clone, Debug)]
pub(super) struct Onward {
    pub token: usize,
    /// How far one is with it.
    pub to: Progress,
    /// Where that hypothesis stands ([`Progress::standing`]).
    pub standing: usize,
}

impl Progress {
    /// Tokens of phrases that are written. A phrase counts as much as its longest way, so that whoever has written all
    /// stands equally far; a shorter way gets what it lacks with its first token.
    pub fn standing(&self, phrases: &[Phrase]) -> usize {
        let whole: usize = self.met.iter().map(|&phrase| phrases[phrase].len()).sum();
        let begun = |Begun { phrase, way, written }: Begun| {
            phrases[phrase].len() - (phrases[phrase].ways()[way].len() - written)
        };
        whole + self.begun.map_or(0, begun)
    }

    /// Whether a phrase is begun, which must first be written to its end.
    pub fn is_inside(&self) -> bool {
        self.begun.is_some()
    }

    /// Each token that goes on with a phrase, or begins one.
    pub fn onward(&self, phrases: &[Phrase]) -> Vec<Onward> {
        match self.begun {
            Some(begun) => vec![self.with(begun, phrases)],
            None => (0..phrases.len())
                .filter(|phrase| !self.met.contains(phrase))
                .flat_map(|phrase| (0..phrases[phrase].ways().len()).map(move |way| (phrase, way)))
                .map(|(phrase, way)| self.with(Begun { phrase, way, written: 0 }, phrases))
                .collect(),
        }
    }

    /// A token further with a phrase.
    fn with(&self, begun: Begun, phrases: &[Phrase]) -> Onward {
        let Begun { phrase, way, written } = begun;
        let tokens = &phrases[phrase].ways()[way];
        let mut to = Self { met: self.met.clone(), begun: None };
        match written + 1 == tokens.len() {
            true => to.met.push(phrase),
            false => to.begun = Some(Begun { written: written + 1, ..begun }),
        }
        let standing = to.standing(phrases);
        Onward { token: tokens[written], to, standing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_begun_phrase_is_written_to_its_end() {
        let phrases = [Phrase::from(vec![7, 8]), Phrase::from(vec![9])];
        let onward = Progress::default().onward(&phrases);
        assert_eq!(onward.iter().map(|it| (it.token, it.standing)).collect::<Vec<_>>(), [(7, 1), (9, 1)]);
        let begun = &onward[0].to;
        assert!(begun.is_inside());
        let onward = begun.onward(&phrases);
        assert_eq!(onward.len(), 1);
        assert_eq!((onward[0].token, onward[0].standing, onward[0].to.is_inside()), (8, 2, false));
        let all = onward[0].to.onward(&phrases).remove(0);
        assert_eq!((all.token, all.standing), (9, 3));
        assert!(all.to.onward(&phrases).is_empty());
    }

    #[test]
    fn ways_of_different_lengths_end_equally_far() {
        let phrases = [Phrase::new(vec![vec![7, 8, 9], vec![5, 6]])];
        let onward = Progress::default().onward(&phrases);
        assert_eq!(onward.iter().map(|it| (it.token, it.standing)).collect::<Vec<_>>(), [(7, 1), (5, 2)]);
        let last = onward[1].to.onward(&phrases).remove(0);
        assert_eq!((last.token, last.standing, last.to.is_inside()), (6, 3, false));
    }
}
