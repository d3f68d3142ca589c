//! Finding a translation: beam search (greedy is a beam of 1, the same code), sampling, and forced scoring, over anything that
//! can say what comes next ([`Stepper`]), one model or several ([`Ensemble`]).

pub mod beam;
pub mod config;
mod constraints;
pub mod coverage_penalty;
pub mod ensemble;
pub mod forced;
mod lanes;
pub mod length_penalty;
mod live;
pub mod look;
pub mod phrase;
mod ranking;
mod rules;
pub mod sample;
mod sentence;
pub mod stepper;
pub mod tree;

use serde::{Deserialize, Serialize};

pub use beam::beam_search;
pub use config::{COVERAGE_PENALTIES, Long, MOST_BEAM, MOST_LIVE, Method, SearchConfig, Unknown};
pub use ensemble::{Ensemble, Mix};
pub use forced::{Forced, forced};
pub use length_penalty::LengthPenalty;
pub use look::Look;
pub use phrase::Phrase;
pub use sample::{SamplingConfig, sample};
pub use stepper::{Step, Stepper};
pub use tree::{Branch, Fate, beam_tree};

/// What the search of one batch is told.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// How to search.
    pub config: &'a SearchConfig,
    /// How many translations of each sentence are asked for.
    pub n_best: usize,
    /// Tokens that are never written (padding, begin, unknown).
    pub forbidden: &'a [usize],
    /// The sentences.
    pub tasks: &'a [Task<'a>],
}

/// What the search of one sentence is told.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Positions of the source, its end left out: its pieces.
    pub words: usize,
    /// The fewest tokens of its translation …
    pub least: usize,
    /// … and the most, the end counted.
    pub most: usize,
    /// Tokens that the translation begins with.
    pub prefix: &'a [usize],
    /// Phrases that it must hold, each not empty.
    pub constraints: &'a [Phrase],
    /// The sentence's number, for chance.
    pub number: usize,
}

impl Task<'_> {
    /// A source of so many words, to be translated freely with at most so many tokens.
    pub fn of(words: usize, most: usize) -> Self {
        Self { words, least: 0, most, prefix: &[], constraints: &[], number: 0 }
    }

    /// The most tokens of its translation, the end counted: its prefix and phrases have their place, and an end after them,
    /// however short the source.
    pub fn limit(&self) -> usize {
        match self.prefix.len() + self.constraints.iter().map(Phrase::len).sum::<usize>() {
            0 => self.most,
            wished => self.most.max(wished + 1),
        }
    }
}

/// A translation, in ids.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hypothesis {
    /// Target ids, the end-of-sentence left out.
    pub tokens: Vec<usize>,
    /// The sum of the log-probabilities of its tokens and, if it ended, of the end.
    pub log_prob: f64,
    /// What it was ranked by: `log_prob` under the length penalty, less the coverage penalty.
    pub score: f64,
    /// Where each step looked, the step that ended it included; empty without attention.
    pub attention: Vec<Look>,
    /// Whether the length limit ended it.
    pub cut: bool,
}
