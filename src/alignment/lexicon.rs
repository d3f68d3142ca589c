//! Which word another is usually translated by: for words that a model has no vector for.

use std::collections::BTreeMap;
use std::path::Path;

use super::SentenceLinks;
use crate::error::{Error, Result};

/// A word of the target language for words of the source's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lexicon(BTreeMap<String, String>);

/// How often words were linked.
#[derive(Clone, Debug, Default)]
pub struct LexiconCounts(BTreeMap<String, BTreeMap<String, usize>>);

/// An entry that was learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry<'a> {
    /// The source word.
    pub source: &'a str,
    /// The target word that it is linked to most often.
    pub target: &'a str,
    /// How often.
    pub count: usize,
    /// The share of all its links.
    pub share: f64,
}

impl LexiconCounts {
    /// Counts the links of one pair; a word with a tab has no place in a lexicon's lines.
    pub fn add(&mut self, source: &[String], target: &[String], links: &SentenceLinks) {
        for link in links.iter() {
            if let (Some(source), Some(target)) = (source.get(link.source), target.get(link.target))
                && !source.contains('\t')
                && !target.contains('\t')
            {
                *self.0.entry(source.clone()).or_default().entry(target.clone()).or_default() += 1;
            }
        }
    }

    /// For every source word the target word that it was linked to most often; of equals the first by the alphabet.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.0.iter().filter_map(|(source, targets)| {
            let all: usize = targets.values().sum();
            let (target, &count) = targets.iter().rev().max_by_key(|(_, count)| **count)?;
            Some(Entry { source, target, count, share: count as f64 / all as f64 })
        })
    }
}

impl Lexicon {
    /// Reads `source TAB target` lines, further columns ignored; `path` is only named in errors. Source words are brought into
    /// the form that the model reads them in. The first of several lines of a word counts.
    ///
    /// # Errors
    /// A line without a tab, or with an empty word.
    pub fn parse<'a>(
        path: &Path,
        lines: impl Iterator<Item = &'a str>,
        as_read: impl Fn(&str) -> String,
    ) -> Result<Self> {
        let mut words = BTreeMap::new();
        for (line, number) in lines.zip(1..).filter(|(line, _)| !line.is_empty()) {
            let mut columns = line.split('\t');
            match (columns.next().unwrap_or_default(), columns.next().unwrap_or_default()) {
                ("", _) | (_, "") => {
                    let message = "a line of a lexicon is a source word, a tab and a target word";
                    return Err(Error::line(path, number, message));
                }
                (source, target) => words.entry(as_read(source)).or_insert_with(|| target.to_owned()),
            };
        }
        Ok(Self(words))
    }

    /// What a source word is translated by, if it is known.
    pub fn get(&self, word: &str) -> Option<&str> {
        self.0.get(word).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_most_is_learnt() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let mut counts = LexiconCounts::default();
        let links = |text| SentenceLinks::parse(text, 0).unwrap();
        counts.add(&words("the cat"), &words("le chat"), &links("0-0 1-1"));
        counts.add(&words("the cat"), &words("la chatte"), &links("0-0 1-1"));
        counts.add(&words("a\tb a"), &words("x x\ty"), &links("0-0 1-1"));
        counts.add(&words("the dog"), &words("le chien"), &links("0-0 1-1 7-1"));
        let told: Vec<_> = counts.entries().map(|it| (it.source, it.target, it.count)).collect();
        assert_eq!(told, [("cat", "chat", 1), ("dog", "chien", 1), ("the", "le", 2)]);
        assert!((counts.entries().last().unwrap().share - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn lines_are_read_and_bad_ones_named() {
        let parse = |text: &'static str| Lexicon::parse(Path::new("l.tsv"), text.split('\n'), str::to_lowercase);
        let lexicon = parse("Cat\tchat\t5\t0.5\n\ncat\tchatte\ndog\tchien").unwrap();
        assert_eq!(
            [lexicon.get("cat"), lexicon.get("dog"), lexicon.get("cow")],
            [Some("chat"), Some("chien"), None]
        );
        for bad in ["cat", "cat\t", "\tchat"] {
            assert!(parse(bad).unwrap_err().to_string().starts_with("l.tsv:1: "));
        }
    }
}
