//! Texts in HTML: tags stay, what stands between them is translated.

use std::borrow::Cow;

use quick_xml::escape::resolve_html5_entity;

use super::texts::{Part, parts};

/// Elements whose content is no text for people.
const SILENT: [&str; 4] = ["script", "style", "code", "pre"];

/// Tags and comments as they are, the text between them cut into lines, its entities read.
pub(super) fn html_parts(html: &str) -> Vec<Part> {
    let mut found = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        let (text, tag) = rest.split_at(next_tag(rest));
        found.extend(parts(&unescaped(text)));
        let (tag, after) = tag.split_at(tag_end(tag));
        let silent = SILENT.into_iter().find(|name| is_named(tag.trim_start_matches('<'), name));
        let inside = silent.filter(|_| !tag.ends_with("/>")).map_or(0, |name| closing(after, name));
        found.push(Part::Between(format!("{tag}{}", &after[..inside])));
        rest = &after[inside..];
    }
    found
}

/// Where the next tag or comment begins; an opening that is none is text.
fn next_tag(text: &str) -> usize {
    let begins = |at: &usize| text[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c));
    text.match_indices('<').map(|(at, _)| at).find(begins).unwrap_or(text.len())
}

/// Where a tag or comment ends that stands at the beginning.
fn tag_end(text: &str) -> usize {
    let end = match text.starts_with("<!--") {
        true => text.find("-->").map(|end| end + 3),
        false => text.find('>').map(|end| end + 1),
    };
    end.unwrap_or(text.len())
}

/// Where the closing tag of an element begins.
fn closing(text: &str, name: &str) -> usize {
    let closes = |at: &usize| is_named(&text[at + 2..], name);
    text.match_indices("</").map(|(at, _)| at).find(closes).unwrap_or(text.len())
}

fn is_named(tag: &str, name: &str) -> bool {
    let head = tag.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name));
    head && !tag[name.len()..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '-')
}

/// Text with its entities read: those of HTML5, and numbers.
fn unescaped(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        told.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        // A look further than the longest would be taken again at every `&`.
        let end = rest.bytes().take(LONGEST_ENTITY).position(|byte| byte == b';');
        let entity = end.and_then(|end| Some((meant(rest.get(..end)?)?, end)));
        match entity {
            Some((text, end)) => {
                told.push_str(&text);
                rest = &rest[end + 1..];
            }
            None => told.push('&'),
        }
    }
    told + rest
}

/// The name of `&CounterClockwiseContourIntegral;` with its end.
const LONGEST_ENTITY: usize = 32;

fn meant(entity: &str) -> Option<Cow<'static, str>> {
    let Some(number) = entity.strip_prefix('#') else { return resolve_html5_entity(entity).map(Cow::Borrowed) };
    let code = match number.strip_prefix(['x', 'X']) {
        Some(digits) => u32::from_str_radix(digits, 16).ok()?,
        None => number.parse().ok()?,
    };
    char::from_u32(code).map(|c| Cow::Owned(c.to_string()))
}

/// A translation as text in HTML.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::texts::{joined, sentences};

    proptest::proptest! {
        /// Whatever is sent, nothing breaks, and what comes back is read as the same sentences.
        #[test]
        fn any_bytes_of_html_are_read(pieces in proptest::collection::vec(
            proptest::sample::select(&["<", ">", "a", "b>", "&amp;", "&#60;", "&", ";", "</script>", "<script", "<script>", "<!--", "-->",
                "/", "\"", " ", "\n", "猫", "<b>", "</b>", "<br/>", "<pre>", "</pre"][..]), 0..30,
        )) {
            let html = pieces.concat();
            let found = html_parts(&html);
            let told: Vec<String> = sentences(&found).map(escaped).collect();
            let whole = joined(&found, told.iter().map(String::as_str));
            let again = html_parts(&whole);
            assert_eq!(sentences(&again).collect::<Vec<_>>(), sentences(&found).collect::<Vec<_>>(), "{html} {whole}");
        }
    }

    #[test]
    fn tags_stay_and_text_is_translated() {
        let html = "<p class=\"a>b\">The <b>cat</b> &amp; dog</p><script>if (a<b) {}</script><!-- no > yes -->";
        // A quoted `>` ends a tag too early, as it does for most who read HTML by hand.
        let plain = "<p>The <b>cat</b> &amp; dog &lt;3</p><SCRIPT>if (a<b) {}</SCRIPT><!-- <i>no</i> --><br/>fish";
        let found = html_parts(plain);
        assert_eq!(sentences(&found).collect::<Vec<_>>(), ["The", "cat", "& dog <3", "fish"]);
        let told: Vec<String> = sentences(&found).map(escaped).collect();
        assert_eq!(joined(&found, told.iter().map(String::as_str)), plain);
        let found = html_parts(html);
        let told: Vec<String> = sentences(&found).map(escaped).collect();
        assert!(joined(&found, told.iter().map(String::as_str)).contains("<b>cat</b> &amp; dog</p><script>"));
    }

    #[test]
    fn what_is_no_tag_is_text() {
        for text in ["a < b", "<3", "<", "a <", "&;", "&#xZZ; &bogus; &"] {
            let found = html_parts(text);
            let all: String = found
                .iter()
                .map(|part| match part {
                    Part::Sentence(text) | Part::Between(text) => text.as_str(),
                })
                .collect();
            assert_eq!(all, text);
        }
        assert_eq!(unescaped("&#22909;&#x597D;"), "好好");
        assert_eq!(unescaped("d&eacute;j&agrave; vu &nbsp;&hellip; &hearts"), "déjà vu \u{A0}… &hearts");
        let longest = "&CounterClockwiseContourIntegral;";
        assert_eq!((unescaped(longest).as_str(), longest.len() - 1), ("∳", LONGEST_ENTITY));
    }
}
