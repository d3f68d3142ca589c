//! Texts of several lines as sentences to translate, and back.

use crate::text::normalize::is_blank;

/// What a text is made of: sentences to translate, and everything else as it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A line with something to translate.
    Sentence(String),
    /// Line ends, blank lines, spaces around a sentence.
    Between(String),
}

/// A text's lines, their ends kept; what is blank is nothing to translate.
pub(super) fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    for line in text.split_inclusive('\n') {
        let inner = line.trim();
        if is_blank(inner) {
            push_between(&mut parts, line);
            continue;
        }
        let start = line.len() - line.trim_start().len();
        push_between(&mut parts, &line[..start]);
        parts.push(Part::Sentence(inner.to_owned()));
        push_between(&mut parts, &line[start + inner.len()..]);
    }
    parts
}

fn push_between(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Between(before)) => before.push_str(text),
        _ => parts.push(Part::Between(text.to_owned())),
    }
}

/// The text with translations in place of its sentences.
pub(super) fn joined<'a>(parts: &[Part], mut translations: impl Iterator<Item = &'a str>) -> String {
    let told = |part: &Part| match part {
        Part::Sentence(_) => translations.next().unwrap_or_default().to_owned(),
        Part::Between(text) => text.clone(),
    };
    parts.iter().map(told).collect()
}

/// The sentences among parts.
pub(super) fn sentences(parts: &[Part]) -> impl Iterator<Item = &str> {
    parts.iter().filter_map(|part| match part {
        Part::Sentence(text) => Some(text.as_str()),
        Part::Between(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        /// Whatever a text is, its sentences in their places make it again.
        #[test]
        fn any_text_comes_together_again(text in "(?s)[ \\t\\r\\n\u{3000}\u{A0}a-c猫\u{85}]{0,40}|.{0,40}") {
            let parts = parts(&text);
            assert_eq!(joined(&parts, sentences(&parts)), text);
            assert!(sentences(&parts).all(|sentence| !sentence.trim().is_empty() && !sentence.contains('\n')));
        }
    }

    #[test]
    fn lines_keep_their_places() {
        let text = "  the cat\r\n\n \u{3000}\u{200B}\na dog ";
        let parts = parts(text);
        assert_eq!(sentences(&parts).collect::<Vec<_>>(), ["the cat", "a dog"]);
        assert_eq!(joined(&parts, ["猫", "狗"].into_iter()), "  猫\r\n\n \u{3000}\u{200B}\n狗 ");
        assert_eq!(joined(&parts, sentences(&parts)), text);
        assert!(super::parts("").is_empty());
        assert_eq!(super::parts(" \n\t"), [Part::Between(" \n\t".into())]);
    }
}
