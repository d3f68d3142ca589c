//! Tercom's tokenizer (its `Normalizer.java`) as sacreBLEU has it.

use super::TerConfig;
use crate::metrics::tokenize::is_space;

impl TerConfig {
    /// A sentence as words are taken from it: between spaces.
    pub(super) fn prepared(&self, sentence: &str) -> String {
        let sentence = sentence.trim_end_matches(is_space);
        let mut text = if self.case_sensitive { sentence.to_owned() } else { sentence.to_lowercase() };
        if self.normalized {
            text = western(&text);
            if self.asian {
                // Tercom would also set off runs of kana, but only at the very start of a text, where the space
                // that `western` puts there always stands before them: kana are never split.
                text = spaced(&text, |c| is_ideograph(c) || is_asian_mark(c));
            }
        }
        if self.no_punctuation {
            text.retain(|c| !matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')'));
            if self.asian {
                text.retain(|c| !is_asian_mark(c));
            }
        }
        text
    }
}

/// Lines joined, XML's escapes undone, punctuation cut off.
fn western(text: &str) -> String {
    let text = text.replace("\n-", "").replace('\n', " ");
    let text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    let text = spaced(&format!(" {text} "), is_mark);
    let text = text.replace("'s ", " 's ");
    let is_point = |c| matches!(c, '.' | ',');
    // Points and commas stay inside numbers; a dash is cut off behind a digit.
    let text = pairs(&text, |a, b| !a.is_ascii_digit() && is_point(b), |a, b| [a, ' ', b, ' ']);
    let text = pairs(&text, |a, b| is_point(a) && !b.is_ascii_digit(), |a, b| [' ', a, ' ', b]);
    pairs(&text, |a, b| a.is_ascii_digit() && b == '-', |a, b| [a, ' ', b, ' '])
}

/// ASCII's punctuation but for the apostrophe, comma, dash and point.
fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() && !matches!(c, '\'' | ',' | '-' | '.')
}

/// What Tercom cuts into single characters: Han, strokes and radicals, compatibility forms, and from U+3200 more
/// than the enclosed letters that its authors meant, since the range ends at U+3F22 instead of U+32FF.
fn is_ideograph(c: char) -> bool {
    matches!(c,
        '\u{4E00}'..='\u{9FFF}' | '\u{3400}'..='\u{4DBF}' | '\u{31C0}'..='\u{31EF}' | '\u{2E80}'..='\u{2EFF}'
        | '\u{3300}'..='\u{33FF}' | '\u{F900}'..='\u{FAFF}' | '\u{FE30}'..='\u{FE4F}' | '\u{3200}'..='\u{3F22}')
}

/// East Asian and full-width punctuation.
fn is_asian_mark(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}' | '\u{FF61}'..='\u{FF65}'
        | '\u{30FB}' | '\u{FF0E}' | '\u{FF0C}' | '\u{FF1F}' | '\u{FF1A}' | '\u{FF1B}' | '\u{FF01}' | '\u{FF02}'
        | '\u{FF08}' | '\u{FF09}')
}

/// Puts spaces around some characters.
fn spaced(text: &str, is_cut: impl Fn(char) -> bool) -> String {
    let mut cut = String::with_capacity(2 * text.len());
    for c in text.chars() {
        if is_cut(c) {
            cut.extend([' ', c, ' ']);
        } else {
            cut.push(c);
        }
    }
    cut
}

/// Replaces pairs of neighbours from left to right; a character belongs to one pair at most, as with a regular
/// expression for two characters.
fn pairs(text: &str, is_pair: impl Fn(char, char) -> bool, put: impl Fn(char, char) -> [char; 4]) -> String {
    let mut replaced = String::with_capacity(2 * text.len());
    let mut characters = text.chars().peekable();
    while let Some(first) = characters.next() {
        match characters.next_if(|&second| is_pair(first, second)) {
            Some(second) => replaced.extend(put(first, second)),
            None => replaced.push(first),
        }
    }
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tokenize::words;

    fn cut(config: &TerConfig, text: &str) -> String {
        words(&config.prepared(text)).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_case_is_ignored_by_default() {
        let cased = TerConfig { case_sensitive: true, ..TerConfig::default() };
        assert_eq!(cut(&TerConfig::default(), "It's  5%, NOT 六。 "), "it's 5%, not 六。");
        assert_eq!(cut(&cased, "It's  5%, NOT 六。 "), "It's 5%, NOT 六。");
    }

    #[test]
    fn punctuation_is_cut_off_but_not_inside_numbers() {
        let config = TerConfig { normalized: true, ..TerConfig::default() };
        assert_eq!(cut(&config, "Ann's &quot;3.5-4,000 (or so).\""), "ann 's \" 3.5 - 4,000 ( or so ) . \"");
        assert_eq!(cut(&config, "well-known e.g...\n-x"), "well-known e . g . . . x");
    }

    #[test]
    fn asian_support_needs_one_of_the_others() {
        let config = TerConfig { asian: true, ..TerConfig::default() };
        assert_eq!(cut(&config, "我用ペン。"), "我用ペン。");
        assert_eq!(cut(&TerConfig { normalized: true, ..config.clone() }, "我用ペン。"), "我 用 ペン 。");
        assert_eq!(cut(&TerConfig { no_punctuation: true, ..config }, "我用ペン。 (a;b)"), "我用ペン ab");
    }
}
