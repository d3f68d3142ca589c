//! How a line that a person typed is met halfway, and what an empty line is.
//!
//! The source side of a run may lower-case and set final punctuation aside, as its config says. The target
//! side and references are never changed: what a model learns to write is what the corpus holds.

use serde::{Deserialize, Serialize};

/// What is done to a source sentence before it is cut into pieces, in training and in translating alike.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Normalization {
    /// Lower-case the source side (Unicode's rules).
    pub lowercase: bool,
    /// Leave out punctuation at the very end of the source sentence.
    pub strip_final_punctuation: bool,
}

impl Normalization {
    /// The source sentence as the model sees it: runs of white space are one space, ends are trimmed,
    /// and the two options are applied.
    pub fn apply(&self, text: &str) -> String {
        let mut line = one_line(text);
        if self.strip_final_punctuation {
            let kept = line.trim_end_matches(|c: char| FINAL.contains(&c) || c == ' ').len();
            // A line of nothing but punctuation is kept: there is nothing else to translate.
            if kept > 0 {
                line.truncate(kept);
            }
        }
        if self.lowercase { line.to_lowercase() } else { line }
    }
}

/// Punctuation that may close a sentence, in Latin and Chinese print.
const FINAL: [char; 14] = ['.', '!', '?', ',', ';', ':', '…', '。', '！', '？', '，', '；', '：', '、'];

/// `text` on one line: every run of white space, control characters and invisible spaces becomes one
/// space, and none stays at the ends.
///
/// White space is Unicode's, so U+2028, U+2029, U+0085, VT, FF and the ideographic space count, and with
/// them the zero-width space and the byte order mark.
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(is_blank_char).filter(|word| !word.is_empty()) {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

/// Whether a line holds nothing that could be translated.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_blank_char)
}

/// Keeps what a line holds but never more than one line: breaks that are not LF become spaces.
/// For text that must not be normalised otherwise (targets and references).
pub fn without_breaks(text: &str) -> String {
    text.replace(['\n', '\r', '\u{B}', '\u{C}', '\u{85}', '\u{2028}', '\u{2029}'], " ")
}

fn is_blank_char(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '\u{200B}' | '\u{2060}' | '\u{FEFF}')
}

/// A text for XML and HTML, which can't hold most control characters at all, not even escaped: the replacement character
/// stands for them.
pub fn printable(text: &str) -> String {
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{FFFD}' | '\u{10000}'..);
    text.chars().map(|c| if allowed(c) { c } else { '\u{FFFD}' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meets_a_typed_sentence_halfway() {
        let both = Normalization { lowercase: true, strip_final_punctuation: true };
        assert_eq!(both.apply("Welcome to  Shenzhen!"), "welcome to shenzhen");
        assert_eq!(both.apply(" 欢迎 来 深圳 。"), "欢迎 来 深圳");
        assert_eq!(both.apply("?!"), "?!");
        assert_eq!(both.apply("Mr. Li"), "mr. li");
        assert_eq!(Normalization::default().apply("Welcome to Shenzhen!"), "Welcome to Shenzhen!");
    }

    #[test]
    fn almost_empty_lines_are_blank() {
        for blank in ["", " ", "\u{3000}", "\u{A0}", "\u{200B}", "\t", "\u{FEFF}", "\u{1}", " \u{2028}\u{85} "] {
            assert!(is_blank(blank), "{blank:?}");
            assert_eq!(one_line(blank), "");
        }
        assert!(!is_blank("a"));
    }

    #[test]
    fn odd_line_breaks_stay_inside_their_line() {
        assert_eq!(one_line("a\u{2028}b\u{2029}c\u{85}d\u{B}e\u{C}f"), "a b c d e f");
        assert_eq!(without_breaks("a\u{2028}b  c\r"), "a b  c ");
    }
}
