//! What a translation is asked to be.

use super::Translator;
use crate::error::{Error, Result};
use crate::text::{UNK, is_unspaced, normalize};

/// A sentence with what its translation must begin with and hold. A plain `&str` is a sentence without wishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sentence<'a> {
    /// The source.
    pub text: &'a str,
    /// What its translation begins with; empty for nothing. Where the model cuts words, the last one may go on.
    pub prefix: &'a str,
    /// Phrases that it must hold; the same goes for their last words.
    pub constraints: Vec<&'a str>,
}

impl<'a> From<&'a str> for Sentence<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, ..Self::default() }
    }
}

/// Wishes in ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Wish {
    pub prefix: Vec<usize>,
    /// The prefix' pieces; where the vocabulary lacks one, what was typed.
    pub typed: Vec<String>,
    pub constraints: Vec<Vec<usize>>,
}

impl Translator {
    /// Wishes in the model's pieces; `number` names the sentence.
    pub(super) fn wish(&self, sentence: &Sentence<'_>, number: usize) -> Result<Wish> {
        let prefix = self.run.target.encode(normalize::without_breaks(sentence.prefix).trim())?;
        let constraints = sentence.constraints.iter().map(|phrase| self.phrase(phrase, number));
        let constraints = constraints.collect::<Result<Vec<_>>>()?;
        Ok(Wish {
            prefix: prefix.ids,
            typed: prefix.pieces,
            constraints: constraints.into_iter().filter(|phrase| !phrase.is_empty()).collect(),
        })
    }

    fn phrase(&self, phrase: &str, number: usize) -> Result<Vec<usize>> {
        let phrase = normalize::without_breaks(phrase);
        let phrase = phrase.trim();
        // Where words are not spaced, a phrase stands in the middle of others, and its first piece has no space before it.
        let before = if phrase.chars().next().is_some_and(is_unspaced) { BEFORE } else { "" };
        let skipped = self.run.target.encode(before)?.ids;
        let mut encoded = self.run.target.encode(&format!("{before}{phrase}"))?;
        if encoded.ids.starts_with(&skipped) && !skipped.contains(&UNK) {
            encoded.ids.drain(..skipped.len());
            encoded.pieces.drain(..skipped.len());
            encoded.spans.drain(..skipped.len());
        } else {
            encoded = self.run.target.encode(phrase)?;
        }
        match encoded.unknown().next() {
            Some(unknown) => Err(Error::Model(format!(
                "sentence {number}: a translation can't be made to hold `{phrase}`: the model has no `{unknown}`"
            ))),
            None => Ok(encoded.ids.clone()),
        }
    }
}

/// Punctuation, which is a piece of its own.
const BEFORE: &str = "。";
