//! What a translation is asked to be.

use super::Translator;
use crate::error::{Error, Result};
use crate::metrics::tokenize::Tokenization;
use crate::search::Phrase;
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
    pub constraints: Vec<Phrase>,
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
            constraints: Phrase::needed(constraints.into_iter().filter(|phrase| !phrase.is_empty()).collect()),
        })
    }

    fn phrase(&self, phrase: &str, number: usize) -> Result<Phrase> {
        let phrase = normalize::without_breaks(phrase);
        let phrase = phrase.trim();
        let alone = self.run.target.encode(phrase)?;
        if let Some(unknown) = alone.unknown().next() {
            return Err(Error::Model(format!(
                "sentence {number}: a translation can't be made to hold `{phrase}`: the model has no `{unknown}`"
            )));
        }
        let mut ways = vec![alone.ids.clone()];
        if self.stands_without_space(phrase) {
            ways.extend(self.after_punctuation(phrase)?);
        }
        Ok(Phrase::new(ways))
    }

    /// Whether a phrase may stand in the middle of others, no space before it: where words are not spaced, and punctuation.
    fn stands_without_space(&self, phrase: &str) -> bool {
        let unspaced_language = matches!(
            Tokenization::for_language(&self.run.manifest.target_language),
            Tokenization::Chinese | Tokenization::Character
        );
        let begins_with_sign = phrase.chars().next().is_some_and(|first| !first.is_alphanumeric());
        unspaced_language || begins_with_sign || phrase.chars().any(is_unspaced)
    }

    /// A phrase as it is written with no space before it, if the model's pieces can: in a text where punctuation, which is a
    /// piece of its own, stands before it.
    fn after_punctuation(&self, phrase: &str) -> Result<Option<Vec<usize>>> {
        for before in ["。", ".", ",", "!"] {
            let skipped = self.run.target.encode(before)?.ids;
            let both = self.run.target.encode(&format!("{before}{phrase}"))?.ids;
            if let Some(ids) = both.strip_prefix(skipped.as_slice())
                && !both.contains(&UNK)
            {
                return Ok(Some(ids.to_vec()));
            }
        }
        Ok(None)
    }
}
