//! A decoder that looks at the source inside its recurrence, over whole sequences: what the context or the
//! last readout says to each step is known only after the step before, so ordinary tensor operations must go
//! step by step. Here the steps are one operation, each core taking some sentences through all of them, and
//! the gradient of every weight is one product over all steps.
//!
//! Its twin of ordinary operations is the model's `Decoder::forward`.
//!
//! Targets have their own lengths, and nothing is computed past a sentence's end: its steps follow each other, then
//! come those of the next.
//!
//! Letters: B sentences, N steps of all of them, S source positions, H state, K key, C context, R readout, X what
//! goes into the gates beside the embedding.

mod backward;
mod cell;
mod forward;
mod fused;
mod order;
mod tensors;

use burn::backend::Dispatch;
use burn::tensor::{Tensor, assert_shape};
use serde::{Deserialize, Serialize};

pub use super::look::{Matching, Source};
pub use cell::{Cell, Given, Left, Plan, Sizes};
use fused::AttentiveOps;

/// When a decoder looks at the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timing {
    /// Query s_{t−1}; the context goes into the recurrent step (Bahdanau).
    Before,
    /// Query s_t; the context joins the state in the readout (Luong).
    #[default]
    After,
}

impl Timing {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Before, Self::After];
}

/// The weights of such a decoder.
#[derive(Clone, Debug)]
pub struct Recurrence {
    /// When and how it looks.
    pub timing: Timing,
    /// How query and key are matched.
    pub matching: Matching,
    /// R, `[H, 3H]`.
    pub recurrent: Tensor<2>,
    /// c, `[3H]`.
    pub bias: Tensor<1>,
    /// `[X, 3H]`.
    pub extra: Tensor<2>,
    /// `[H, K]`, if the query is projected.
    pub query: Option<Tensor<2>>,
    /// v, `[K]`, of additive scores.
    pub energy: Option<Tensor<1>>,
    /// With feeding: `[H + C, R]`, and what else the readout is made of, `[N, R]`.
    pub readout: Option<(Tensor<2>, Tensor<2>)>,
}

/// What the decoder looks at.
#[derive(Clone, Debug)]
pub struct Sources<'a> {
    /// `[B, S, K]`.
    pub keys: Tensor<3>,
    /// `[B, S, C]`.
    pub values: Tensor<3>,
    /// Real positions of each.
    pub lengths: &'a [usize],
}

/// Runs all steps of targets with so many `steps` each: what the embeddings say to the gates `[N, 3H]` and the
/// first states `[B, H]` → with feeding the readouts `[N, R]` (the first step is fed zeros), else state and context
/// side by side `[N, H + C]`.
pub fn sequence(
    gates: Tensor<2>,
    start: Tensor<2>,
    recurrence: Recurrence,
    sources: Sources<'_>,
    steps: &[usize],
) -> Tensor<2> {
    let Sources { keys, values, lengths } = sources;
    let ([b, h], [_, s, key], [_, _, context]) = (start.dims(), keys.dims(), values.dims());
    assert_shape!(gates, [steps.iter().sum::<usize>(), 3 * h]);
    assert_shape!(keys, [b, s, key]);
    assert_shape!(values, [b, s, context]);
    assert_eq!((lengths.len(), steps.len()), (b, b), "one length a sentence, of the source and of the target");
    assert!(lengths.iter().all(|&length| length <= s), "no sentence is longer than its row");
    let device = gates.device();
    let feeding = recurrence.readout.is_some();
    let (readout, given) =
        recurrence.readout.unwrap_or_else(|| (Tensor::empty([0, 0], &device), Tensor::empty([0, 0], &device)));
    let plan = Plan {
        timing: recurrence.timing,
        feeding,
        matching: Some(recurrence.matching),
        sizes: Sizes { hidden: h, key, context, readout: readout.dims()[1] },
    };
    assert!(plan.extra() > 0, "timing before, or feeding: else the steps do not need each other");
    let output = <Dispatch as AttentiveOps>::attentive(
        gates.into_dispatch(),
        start.into_dispatch(),
        recurrence.recurrent.into_dispatch(),
        recurrence.bias.into_dispatch(),
        recurrence.extra.into_dispatch(),
        keys.into_dispatch(),
        values.into_dispatch(),
        recurrence.query.unwrap_or_else(|| Tensor::empty([0, 0], &device)).into_dispatch(),
        recurrence.energy.unwrap_or_else(|| Tensor::empty([0], &device)).into_dispatch(),
        readout.into_dispatch(),
        given.into_dispatch(),
        plan,
        [lengths.to_vec(), steps.to_vec()],
    );
    Tensor::from_dispatch(output)
}
