//! From a model's pieces to words, for alignments that people and other tools read.

use super::is_unspaced;

/// The mark that stands for a space in pieces (U+2581), as in sentencepiece.
pub const SPACE_MARK: char = '▁';

/// How finely an alignment is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Words, but the model's pieces for a sentence of a script without spaces, which would be one word:
    /// what people look at.
    #[default]
    Auto,
    /// Words between spaces (U+0020 only), whatever the script: what links of other tools count.
    Word,
    /// The model's own pieces.
    Subword,
}

/// A sentence's words and the word that each piece belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The words in order.
    pub words: Vec<String>,
    /// For each piece the index of its word.
    pub word_of_piece: Vec<usize>,
}

impl Words {
    /// Every piece is a word of its own, its space mark left out (a bare mark is shown as it is).
    pub fn of_pieces(pieces: &[String]) -> Self {
        let words = pieces.iter().map(|piece| match piece.trim_start_matches(SPACE_MARK) {
            "" => piece.clone(),
            text => text.to_owned(),
        });
        Self { words: words.collect(), word_of_piece: (0..pieces.len()).collect() }
    }

    /// Pieces with space marks put together to the words between spaces.
    pub fn merged(pieces: &[String]) -> Self {
        let mut words: Vec<String> = Vec::new();
        let mut word_of_piece = Vec::with_capacity(pieces.len());
        let mut begins = true;
        for piece in pieces {
            let text = piece.trim_start_matches(SPACE_MARK);
            begins |= text.len() < piece.len();
            if !text.is_empty() {
                if begins {
                    words.push(String::new());
                }
                begins = false;
                words.last_mut().into_iter().for_each(|word| word.push_str(text));
            }
            // A bare mark belongs to the word that it begins.
            word_of_piece.push(if begins { words.len() } else { words.len() - 1 });
        }
        // Marks at the very end begin nothing.
        let last = words.len().saturating_sub(1);
        word_of_piece.iter_mut().for_each(|word| *word = last.min(*word));
        if words.is_empty() && !pieces.is_empty() {
            words.push(SPACE_MARK.to_string());
        }
        Self { words, word_of_piece }
    }

    /// Adds a word of one piece.
    pub fn push(&mut self, word: &str) {
        self.word_of_piece.push(self.words.len());
        self.words.push(word.to_owned());
    }

    /// The words of a sentence at `level`. `marked` says whether its pieces carry space marks; if not,
    /// every piece is a word already.
    pub fn at(level: Level, pieces: &[String], marked: bool) -> Self {
        if level == Level::Subword || !marked {
            return Self::of_pieces(pieces);
        }
        let merged = Self::merged(pieces);
        let one_word = merged.words.len() <= 1 && pieces.iter().any(|piece| piece.chars().any(is_unspaced));
        if level == Level::Auto && one_word { Self::of_pieces(pieces) } else { merged }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn pieces_of_a_word_come_together() {
        let merged = Words::merged(&pieces("▁the ▁ca ts ▁eat ."));
        assert_eq!(merged.words, ["the", "cats", "eat."]);
        assert_eq!(merged.word_of_piece, [0, 1, 1, 2, 2]);
    }

    #[test]
    fn character_pieces_with_bare_marks_come_together() {
        let merged = Words::merged(&pieces("a b ▁ c"));
        assert_eq!(merged.words, ["ab", "c"]);
        assert_eq!(merged.word_of_piece, [0, 0, 1, 1]);
        // Double and trailing spaces are no words.
        let merged = Words::merged(&pieces("▁a ▁ ▁b ▁"));
        assert_eq!(merged.words, ["a", "b"]);
        assert_eq!(merged.word_of_piece, [0, 1, 1, 1]);
        assert_eq!(Words::merged(&pieces("▁")).words, ["▁"]);
    }

    #[test]
    fn chinese_without_spaces_keeps_its_pieces() {
        assert_eq!(Words::at(Level::Auto, &pieces("▁我 爱 北京"), true).words, ["我", "爱", "北京"]);
        assert_eq!(Words::at(Level::Word, &pieces("▁我 爱 北京"), true).words, ["我爱北京"]);
        assert_eq!(Words::at(Level::Word, &pieces("▁欢 迎 ▁来"), true).words, ["欢迎", "来"]);
        assert_eq!(Words::at(Level::Subword, &pieces("▁欢 迎 ▁来"), true).words, ["欢", "迎", "来"]);
        assert_eq!(Words::at(Level::Word, &pieces("欢迎 来"), false).words, ["欢迎", "来"]);
    }
}
