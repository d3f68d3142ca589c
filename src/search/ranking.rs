//! What translations are ranked by.

use std::borrow::Borrow;

use super::coverage_penalty::coverage_penalty;
use super::{LengthPenalty, Look, SearchConfig};

/// What one sentence's translations are ranked by.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranking {
    length_penalty: LengthPenalty,
    coverage_penalty: f64,
    /// Positions of the source without its end: its pieces.
    words: usize,
}

impl Ranking {
    pub fn new(config: &SearchConfig, words: usize) -> Self {
        Self { length_penalty: config.length_penalty, coverage_penalty: config.coverage_penalty, words }
    }

    /// The score of a translation whose tokens (the end left out) looked at `looks`; it is `length` long, its end counted if it
    /// has one.
    pub fn score(self, log_prob: f64, length: usize, looks: &[impl Borrow<Look>]) -> f64 {
        let lost = coverage_penalty(self.coverage_penalty, looks.iter().map(Borrow::borrow), self.words);
        self.length_penalty.score(log_prob, length) + lost
    }

    /// What a hypothesis can reach at most that ends with at least `least` and at most `most` tokens, its end counted: if the
    /// model were sure of all that is to come, and looked at everything.
    pub fn bound(self, log_prob: f64, least: usize, most: usize) -> f64 {
        // Every penalty rises with the length or falls with it, so that the best is at one of the ends.
        let at = |length| self.length_penalty.score(log_prob, length);
        at(least).max(at(most))
    }
}
