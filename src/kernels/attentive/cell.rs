//! One step of a decoder that looks at the source, for some sentences side by side: what the operation in
//! training and the search share.

use crate::kernels::gru::cell;
use crate::kernels::look::{Matching, Source};
use crate::kernels::product::{Matrix, Right, Write};
use crate::kernels::simd;

use super::Timing;

/// The sizes of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// H.
    pub hidden: usize,
    /// K.
    pub key: usize,
    /// C.
    pub context: usize,
    /// R; 0 where no readout is computed in the step.
    pub readout: usize,
}

/// What decides how a step goes.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// When it looks.
    pub timing: Timing,
    /// Whether the last readout goes into the step.
    pub feeding: bool,
    /// How it looks; without attention, the context is given.
    pub matching: Option<Matching>,
    /// The sizes.
    pub sizes: Sizes,
}

impl Plan {
    /// X, what goes into the gates beside the embedding: context (before), then readout (feeding).
    pub fn extra(&self) -> usize {
        let context = if self.timing == Timing::Before { self.sizes.context } else { 0 };
        context + if self.feeding { self.sizes.readout } else { 0 }
    }
}

/// The weights of a step.
#[derive(Clone, Debug)]
pub struct Cell {
    /// How it goes.
    pub plan: Plan,
    /// R, `[H, 3H]`.
    pub recurrent: Right,
    /// c, `[3H]`.
    pub bias: Vec<f32>,
    /// `[X, 3H]`, if X > 0.
    pub extra: Option<Right>,
    /// W of the query, `[H, K]`; without it the state is the query.
    pub query: Option<Right>,
    /// v, `[K]`, or empty.
    pub energy: Vec<f32>,
    /// `[H + C, R]`, if the step computes its readout.
    pub readout: Option<Right>,
}

/// What a step is given, one row a sentence.
#[derive(Clone, Debug)]
pub struct Given<'a> {
    /// What the embedding says to the gates, W e + b, `[N, 3H]`.
    pub gates: Vec<f32>,
    /// What the readout is made of beside state and context, `[N, R]` or empty.
    pub readout: &'a [f32],
    /// The state before, `[N, H]`.
    pub state: &'a [f32],
    /// The last readout, `[N, R]`; only read with feeding.
    pub fed: &'a [f32],
    /// What each row looks at.
    pub sources: &'a [Source<'a>],
}

/// What a step leaves. Everything but the state after is also what its gradient needs.
#[derive(Debug)]
pub struct Left<'a> {
    /// The state after, `[N, H]`.
    pub state: &'a mut [f32],
    /// Reset, update, candidate, what the state says to the candidate, `[N, 4H]`.
    pub gates: &'a mut [f32],
    /// The query, `[N, K]`.
    pub query: &'a mut [f32],
    /// `[N, S]`, as wide as the longest; zeros past a sentence's end.
    pub weights: &'a mut [f32],
    /// `[N, C]`.
    pub context: &'a mut [f32],
    /// What went into the gates beside the embedding, `[N, X]`.
    pub extra: &'a mut [f32],
    /// `[N, R]`.
    pub readout: &'a mut [f32],
}

impl Cell {
    /// Takes a step.
    pub fn step(&self, given: Given<'_>, left: &mut Left<'_>) {
        let Plan { timing, sizes: Sizes { hidden: h, context: c, readout: r, .. }, .. } = self.plan;
        let rows = given.state.len() / h;
        if timing == Timing::Before {
            self.look(given.state, given.sources, left);
        }
        let mut inputs = given.gates;
        if let Some(weight) = &self.extra {
            let x = self.plan.extra();
            for (i, extra) in left.extra.chunks_mut(x).enumerate() {
                let (context, fed) = extra.split_at_mut(if timing == Timing::Before { c } else { 0 });
                if !context.is_empty() {
                    context.copy_from_slice(&left.context[i * c..][..c]);
                }
                if !fed.is_empty() {
                    fed.copy_from_slice(&given.fed[i * r..][..r]);
                }
            }
            weight.multiply(Matrix::new(left.extra, [rows, x]), &mut inputs, 3 * h, Write::Add);
        }
        let mut recurrent = vec![0.0; rows * 3 * h];
        self.recurrent.multiply(Matrix::new(given.state, [rows, h]), &mut recurrent, 3 * h, Write::Replace);
        let said = inputs.chunks(3 * h).zip(recurrent.chunks(3 * h));
        let slots = left.state.chunks_mut(h).zip(left.gates.chunks_mut(4 * h));
        for (((input, recurrent), before), (after, gates)) in said.zip(given.state.chunks(h)).zip(slots) {
            cell::forward(input, recurrent, &self.bias, before, after, gates);
        }
        if timing == Timing::After {
            let state = left.state.to_vec();
            self.look(&state, given.sources, left);
        }
        if let Some(weight) = &self.readout {
            self.read_out(weight, given.readout, rows, left);
        }
    }

    /// Query, weights and context of every row.
    fn look(&self, state: &[f32], sources: &[Source<'_>], left: &mut Left<'_>) {
        let Some(matching) = self.plan.matching else { return };
        let Sizes { hidden: h, key: k, context: c, .. } = self.plan.sizes;
        match &self.query {
            Some(weight) => {
                let state = Matrix::new(state, [sources.len(), h]);
                weight.multiply(state, left.query, k, Write::Replace);
            }
            None => left.query.copy_from_slice(state),
        }
        let wide = left.weights.len() / sources.len().max(1);
        for (i, source) in sources.iter().enumerate() {
            let (weights, padding) = left.weights[i * wide..][..wide].split_at_mut(source.keys.len() / k);
            padding.fill(0.0);
            let query = &left.query[i * k..][..k];
            matching.look(query, &self.energy, *source, weights, &mut left.context[i * c..][..c]);
        }
    }

    /// tanh(given + [s; c] W).
    fn read_out(&self, weight: &Right, given: &[f32], rows: usize, left: &mut Left<'_>) {
        let Sizes { hidden: h, context: c, readout: r, .. } = self.plan.sizes;
        let mut joined = Vec::with_capacity(rows * (h + c));
        for (state, context) in left.state.chunks(h).zip(left.context.chunks(c)) {
            joined.extend_from_slice(state);
            joined.extend_from_slice(context);
        }
        left.readout.copy_from_slice(given);
        weight.multiply(Matrix::new(&joined, [rows, h + c]), left.readout, r, Write::Add);
        simd::run(
            #[inline(always)]
            || {
                for x in left.readout.iter_mut() {
                    *x = simd::tanh(*x);
                }
            },
        );
    }
}
