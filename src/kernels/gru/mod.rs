//! A gated recurrent unit over whole sequences that respects their lengths.
//!
//! Letters: B sentences, T steps, H state, G = 3H gates in the order reset, update, candidate.

mod composed;

use burn::tensor::{Tensor, assert_shape};
use serde::{Deserialize, Serialize};

/// Where the reset gate is applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetForm {
    /// n = tanh(W x + b + r ⊙ (R h + c)): Cho et al. 2014, version 1, PyTorch's and the default.
    #[default]
    ResetAfter,
    /// n = tanh(W x + b + R (r ⊙ h) + c): Cho et al. 2014, version 3.
    ResetBefore,
}

/// Which way a sequence is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the first token to the last.
    Forward,
    /// From each sentence's own last token to the first; padding behind it is not read.
    Backward,
}

/// The recurrent half of a GRU.
#[derive(Clone, Debug)]
pub struct Recurrence {
    /// R, `[H, G]`.
    pub weight: Tensor<2>,
    /// c, `[G]`.
    pub bias: Tensor<1>,
    /// Where the reset gate is applied.
    pub reset: ResetForm,
}

/// Runs a GRU: what the inputs say to the gates (W x + b) `[B, T, G]` and the first state `[B, H]` → the
/// state after each step `[B, T, H]`. Steps at or past a sentence's length keep its state.
pub fn sequence(
    gates: Tensor<3>,
    start: Tensor<2>,
    recurrence: &Recurrence,
    lengths: &[usize],
    direction: Direction,
) -> Tensor<3> {
    let [b, h] = start.dims();
    assert_shape!(gates, [b, _, 3 * h]);
    assert_eq!(lengths.len(), b, "one length a sentence");
    composed::sequence(gates, start, recurrence, lengths, direction)
}

/// One step for every sentence: gates `[B, G]` and states `[B, H]` → next states `[B, H]`.
pub fn step(gates: Tensor<2>, state: Tensor<2>, recurrence: &Recurrence) -> Tensor<2> {
    composed::step(gates, state, recurrence)
}
