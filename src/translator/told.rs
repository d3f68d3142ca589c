//! Translations as programs are told them: a JSON object each, its numbers as short as they can be.

use serde::Serialize;

use super::{Rendered, Translation};

/// A translation, or a given pair, under a number.
#[derive(Clone, Debug, Serialize)]
pub struct Told<'a> {
    id: usize,
    #[serde(flatten)]
    rendered: &'a Rendered,
    /// Tokens of a source that has too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    too_long: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    hypotheses: &'a [Rendered],
    #[serde(skip_serializing_if = "Option::is_none")]
    links: Option<String>,
}

impl Translation {
    /// Under a number: the best one, and with `all` every one.
    pub fn told(&self, id: usize, all: bool) -> Told<'_> {
        Told {
            id,
            rendered: self.best(),
            too_long: self.too_long.map(|too_long| too_long.tokens),
            hypotheses: if all { &self.hypotheses } else { &[] },
            links: None,
        }
    }
}

impl Rendered {
    /// A given pair under a number, with its links as they are written.
    pub fn told(&self, id: usize, links: String) -> Told<'_> {
        Told { id, rendered: self, too_long: None, hypotheses: &[], links: Some(links) }
    }
}
