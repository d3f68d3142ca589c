//! Text in, ids out, and back: [`normalize`] says what a line is and how it is met halfway,
//! [`Tokenizer`] cuts it into pieces, [`words`] puts pieces together to words again.

pub mod config;
pub mod normalize;
pub mod tokenizer;
mod unigram;
pub mod words;

pub use config::TextConfig;
pub use normalize::Normalization;
pub use tokenizer::{BOS, EOS, Encoded, PAD, Tokenizer, TokenizerConfig, TokenizerKind, UNK};

/// Whether `c` belongs to a script that is written without spaces between words (Han, kana).
pub fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{30FF}' | '\u{31F0}'..='\u{31FF}'
        | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' | '\u{F900}'..='\u{FAFF}' | '\u{20000}'..='\u{3FFFF}')
}

/// At most `limit` characters of `text`, with an ellipsis where something was left out: for messages.
pub fn preview(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        None => text.to_owned(),
        Some((cut, _)) => format!("{}…", &text[..cut]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known fault D11: text is cut between characters, never inside one.
    #[test]
    fn previews_cut_between_characters_at_every_length() {
        let text = "门🙂abc门";
        for limit in 0..=14 {
            let cut = preview(text, limit);
            assert!(text.starts_with(cut.trim_end_matches('…')));
            assert_eq!(cut.chars().count(), limit.min(6) + usize::from(limit < 6));
        }
    }

    #[test]
    fn han_and_kana_are_unspaced_and_nothing_else_is() {
        assert!("欢迎来かカ々𠀀".chars().all(is_unspaced));
        assert!("welcomeé，。！１한".chars().all(|c| !is_unspaced(c)));
    }
}
