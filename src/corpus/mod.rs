//! Parallel text: reading it, checking it, and what the tool writes itself: the toy corpus, sequences to copy or reverse.

pub mod config;
pub mod filter;
pub mod links;
pub mod location;
pub mod open;
pub mod overlap;
pub mod read;
pub mod script;
pub mod sequences;
pub mod split;
pub mod toy;
pub mod vectors;

pub use config::DataConfig;
pub use filter::{Filter, FilterConfig, Report};
pub use location::Location;

use crate::alignment::SentenceLinks;
use crate::error::Result;

/// Pairs as they are read, so that no corpus is too large for memory.
pub type Pairs = Box<dyn Iterator<Item = Result<Pair>> + Send>;

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
