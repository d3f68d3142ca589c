//! Parallel text: reading it, checking it, and what the tool writes itself: the toy corpus, sequences to copy or reverse.

pub mod clean;
pub mod config;
pub mod location;
pub mod read;
pub mod sequences;
pub mod toy;

pub use clean::{Limits, Report, clean};
pub use config::DataConfig;
pub use location::Location;

use crate::alignment::SentenceLinks;

/// A sentence and its translation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// The sentence to translate.
    pub source: String,
    /// Its translation.
    pub target: String,
    /// A person's word alignment of the two, where there is one.
    pub links: Option<SentenceLinks>,
    /// The line it was read from, from 1; 0 for pairs of no file.
    pub line: usize,
}

impl Pair {
    /// The pair in the other direction.
    pub fn reversed(self) -> Self {
        Self {
            source: self.target,
            target: self.source,
            links: self.links.map(|links| links.reversed()),
            line: self.line,
        }
    }
}
