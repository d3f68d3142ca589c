//! sacreBLEU's tokenizers: 13a (mteval-v13a), intl (mteval-v14), zh, char, none.

use std::fmt;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};

use crate::text::is_unspaced;

/// How text is cut into words before n-grams are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tokenization {
    /// mteval-v13a: Western punctuation cut off. For everything without a tokenizer of its own.
    #[default]
    #[serde(rename = "13a")]
    V13a,
    /// mteval-v14: all Unicode punctuation and symbols cut off.
    #[serde(rename = "intl")]
    International,
    /// Chinese characters one by one, the rest as 13a.
    #[serde(rename = "zh")]
    Chinese,
    /// Every character.
    #[serde(rename = "char")]
    Character,
    /// As it is.
    #[serde(rename = "none")]
    None,
}

impl Tokenization {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::V13a, Self::International, Self::Chinese, Self::Character, Self::None];

    /// sacreBLEU's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::V13a => "13a",
            Self::International => "intl",
            Self::Chinese => "zh",
            Self::Character => "char",
            Self::None => "none",
        }
    }

    /// What sacreBLEU's users take for a target language (an ISO 639 code, a region after it allowed).
    pub fn for_language(language: &str) -> Self {
        let primary = language.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
        match primary.as_str() {
            "zh" | "cmn" | "yue" | "zho" | "chi" => Self::Chinese,
            "ja" | "jpn" | "th" | "tha" => Self::Character,
            _ => Self::V13a,
        }
    }

    /// The tokenizer of a language; if none is named (or an empty one), that of the script that most of the
    /// references' letters belong to.
    pub fn choose<S: AsRef<str>>(language: Option<&str>, references: &[S]) -> Self {
        if let Some(language) = language.filter(|language| !language.is_empty()) {
            return Self::for_language(language);
        }
        let letters = || references.iter().flat_map(|text| text.as_ref().chars()).filter(|c| c.is_alphabetic());
        let is_kana = |c: char| ('\u{3041}'..='\u{30FF}').contains(&c);
        match letters().filter(|&c| is_unspaced(c)).count() {
            unspaced if 2 * unspaced <= letters().count() => Self::V13a,
            _ if letters().any(is_kana) => Self::Character,
            _ => Self::Chinese,
        }
    }

    /// The words of a sentence, with spaces between them.
    pub fn apply(self, text: &str) -> String {
        match self {
            Self::V13a => v13a(text),
            Self::International => international(text),
            Self::Chinese => chinese(text),
            Self::Character => characters(text),
            Self::None => text.to_owned(),
        }
    }
}

impl fmt::Display for Tokenization {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The words of a text, split as Python's `str.split()` does.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// What Python takes for white space: Unicode's, and four separators of ASCII's control characters.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1C}'..='\u{1F}')
}

/// A pattern that is part of the program.
#[allow(clippy::expect_used)]
fn pattern(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a valid pattern")
}

type Rule = (Regex, &'static str);

static WESTERN: LazyLock<[Rule; 4]> = LazyLock::new(|| {
    [
        (pattern(r"([\{-\~\[-\` -\&\(-\+\:-\@\/])"), " $1 "),
        (pattern(r"([^0-9])([\.,])"), "$1 $2 "),
        (pattern(r"([\.,])([^0-9])"), " $1 $2"),
        (pattern(r"([0-9])(-)"), "$1 $2 "),
    ]
});

fn western(text: &str) -> String {
    let cut = WESTERN.iter().fold(text.to_owned(), |text, (rule, to)| rule.replace_all(&text, *to).into_owned());
    words(&cut).collect::<Vec<_>>().join(" ")
}

fn v13a(text: &str) -> String {
    let text = text.replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    let text = if text.contains('&') {
        text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    } else {
        text
    };
    western(&format!(" {text} "))
}

static INTERNATIONAL: LazyLock<[Rule; 3]> = LazyLock::new(|| {
    [(pattern(r"(\P{N})(\p{P})"), "$1 $2 "), (pattern(r"(\p{P})(\P{N})"), " $1 $2"), (pattern(r"(\p{S})"), " $1 ")]
});

fn international(text: &str) -> String {
    let cut =
        INTERNATIONAL.iter().fold(text.to_owned(), |text, (rule, to)| rule.replace_all(&text, *to).into_owned());
    words(&cut).collect::<Vec<_>>().join(" ")
}

fn chinese(text: &str) -> String {
    let mut spaced = String::with_capacity(2 * text.len());
    for c in text.trim_matches(is_space).chars() {
        if is_chinese(c) {
            spaced.extend([' ', c, ' ']);
        } else {
            spaced.push(c);
        }
    }
    western(&spaced)
}

/// The ranges of sacreBLEU's tokenizer_zh as Python reads them: it writes extension B as `'\u20000'` to
/// `'\u2a6d6'`, which are strings of two characters, so that U+2001 to U+2A6D (dashes, quotes, arrows) are cut
/// off instead and extension B is not. Scores only agree if we do the same.
fn is_chinese(c: char) -> bool {
    matches!(c,
        '\u{3400}'..='\u{4DB5}' | '\u{4E00}'..='\u{9FA5}' | '\u{9FA6}'..='\u{9FBB}' | '\u{F900}'..='\u{FA2D}'
        | '\u{FA30}'..='\u{FA6A}' | '\u{FA70}'..='\u{FAD9}' | '\u{2001}'..='\u{2A6D}'
        | '\u{FF00}'..='\u{FFEF}' | '\u{2E80}'..='\u{2EFF}' | '\u{3000}'..='\u{303F}'
        | '\u{31C0}'..='\u{31EF}' | '\u{2F00}'..='\u{2FDF}' | '\u{2FF0}'..='\u{2FFF}' | '\u{3100}'..='\u{312F}'
        | '\u{31A0}'..='\u{31BF}' | '\u{FE10}'..='\u{FE1F}' | '\u{FE30}'..='\u{FE4F}' | '\u{3200}'..='\u{32FF}' | '\u{3300}'..='\u{33FF}')
}

fn characters(text: &str) -> String {
    let mut spaced = String::with_capacity(2 * text.len());
    for (i, c) in text.chars().enumerate() {
        if i > 0 {
            spaced.push(' ');
        }
        spaced.push(c);
    }
    spaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_choose_their_tokenizer() {
        assert_eq!(Tokenization::for_language("zh-CN"), Tokenization::Chinese);
        assert_eq!(Tokenization::for_language("en"), Tokenization::V13a);
        assert_eq!(Tokenization::for_language("ja"), Tokenization::Character);
    }

    #[test]
    fn an_unnamed_language_is_known_by_its_letters() {
        let choose = |language, text: &str| Tokenization::choose(language, &[text]);
        assert_eq!(choose(None, "我用 Python 写很长很长的代码。"), Tokenization::Chinese);
        assert_eq!(choose(Some(""), "これは本です"), Tokenization::Character);
        assert_eq!(choose(None, "Naïve text with 一"), Tokenization::V13a);
        assert_eq!(choose(Some("en"), "我用"), Tokenization::V13a);
        assert_eq!(choose(None, ""), Tokenization::V13a);
    }

    #[test]
    fn cuts_like_sacrebleu() {
        assert_eq!(Tokenization::V13a.apply("It's 5%, right? 3.5-4"), "It's 5 % , right ? 3.5 - 4");
        assert_eq!(Tokenization::Chinese.apply("我用 Python 写代码。"), "我 用 Python 写 代 码 。");
    }
}
