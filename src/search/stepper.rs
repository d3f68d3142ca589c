//! The seam between search and model: neither knows the other.

use super::Look;
use crate::kernels::log_probs::LogProbs;
use crate::text::{BOS, EOS};

/// What a model says after some steps of some rows (hypotheses of sentences).
#[derive(Clone, Debug)]
pub struct Step<S> {
    /// Natural log-probabilities of each row's next token.
    pub log_probs: LogProbs,
    /// Where each row looked, or nothing for a model without attention.
    pub attention: Vec<Look>,
    /// The rows' states after the step.
    pub state: S,
}

/// Something that continues sentences.
pub trait Stepper {
    /// What it carries for a set of rows from step to step.
    type State;

    /// Feeds each row its last token.
    fn step(&mut self, state: Self::State, last: &[usize]) -> Step<Self::State>;

    /// The states of some rows, in that order, repeats allowed.
    fn select(&self, state: Self::State, rows: &[usize]) -> Self::State;

    /// The token that is fed first.
    fn begin(&self) -> usize {
        BOS
    }

    /// The token that ends a sentence.
    fn end(&self) -> usize {
        EOS
    }
}
