//! A gated recurrent unit over whole sequences that respects their lengths.
//!
//! Letters: B sentences, T steps, H state, G = 3H gates in the order reset, update, candidate.

pub(in crate::kernels) mod cell;
mod composed;
mod fused;

use burn::backend::Dispatch;
use burn::tensor::{Tensor, assert_shape};
use serde::{Deserialize, Serialize};

use fused::GruOps;

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
    if recurrence.reset == ResetForm::ResetAfter && b > 0 && super::flex::can_take(&gates) {
        let states = <Dispatch as GruOps>::gru(
            gates.into_dispatch(),
            start.into_dispatch(),
            recurrence.weight.clone().into_dispatch(),
            recurrence.bias.clone().into_dispatch(),
            lengths.to_vec(),
            direction,
        );
        return Tensor::from_dispatch(states);
    }
    composed::sequence(gates, start, recurrence, lengths, direction)
}

#[cfg(test)]
mod tests;
