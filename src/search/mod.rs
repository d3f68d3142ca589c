//! Finding a translation: beam search (greedy is a beam of 1, the same code) and forced scoring, over
//! anything that can say what comes next ([`Stepper`]).

pub mod beam;
pub mod coverage_penalty;
pub mod forced;
pub mod length_penalty;
pub mod look;
pub mod stepper;

use serde::{Deserialize, Serialize};

pub use beam::{COVERAGE_PENALTIES, MOST_BEAM, Request, SearchConfig, beam_search};
pub use forced::{Forced, forced};
pub use length_penalty::LengthPenalty;
pub use look::Look;
pub use stepper::{Step, Stepper};

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
