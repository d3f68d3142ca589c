//! Words that the model does not know.

use super::Translator;
use super::source::Source;
use crate::alignment::Lexicon;
use crate::search::Look;
use crate::text::words::Level;

impl Translator {
    /// What stands for an unknown word whose step looked so: of the source word that got the most weight, the end of the
    /// sentence left aside, what the lexicon has, or the word itself. Nothing where no word got any.
    pub(super) fn instead(&self, source: &Source, look: &Look, lexicon: &Lexicon) -> Option<String> {
        let words = self.run.source.words(Level::Word, &source.encoded.pieces);
        let mut weights = vec![0.0f32; words.words.len()];
        for (&word, weight) in words.word_of_piece.iter().zip(&look.weights) {
            weights[word] += weight;
        }
        let mut best: Option<usize> = None;
        for (word, &weight) in weights.iter().enumerate() {
            if weight > best.map_or(0.0, |best| weights[best]) {
                best = Some(word);
            }
        }
        let word = &words.words[best?];
        Some(lexicon.get(word).unwrap_or(word).to_owned())
    }
}
