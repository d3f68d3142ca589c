//! Words that the model does not know.

use super::Translator;
use super::source::Source;
use crate::alignment::{Alignment, Lexicon};
use crate::search::Look;
use crate::text::UNK;
use crate::text::words::{Level, Words};

impl Translator {
    /// What stands for an unknown word whose step looked so: of the source word that got the most weight, the end of the
    /// sentence left aside, what the lexicon has, or the word itself. Nothing where no word got any.
    pub(super) fn instead(&self, source: &Source, look: &Look, lexicon: &Lexicon) -> Option<String> {
        let words = self.run.source.words(Level::Word, &source.encoded.pieces);
        let unknown = Words::of_pieces(&[self.run.target.piece(UNK).to_owned()]);
        let looked = Alignment::at_words(&[&look.weights], &[], &words, &unknown);
        let link = looked.links().iter().next()?;
        let word = &looked.source[link.source];
        Some(lexicon.get(word).unwrap_or(word).to_owned())
    }
}
