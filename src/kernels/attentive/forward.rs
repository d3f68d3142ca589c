//! All steps forward, each core taking some sentences.

use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::cell::{Cell, Given, Left, Plan, Sizes};
use super::order::Order;
use super::tensors::Tensors;
use crate::kernels::flex::{floats, tensor};
use crate::kernels::look::Source;
use crate::kernels::product::{FEWEST_ROWS, Matrix, Packed, Right};
use crate::kernels::rows::{gather, scatter};

/// What backward needs of forward.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub tensors: Tensors,
    pub plan: Plan,
    /// Of the sources.
    pub lengths: Vec<usize>,
    /// Of each group of sentences, in their order.
    pub tapes: Vec<Tape>,
}

/// What the steps of a group left, M steps of its sentences in all, in the group's order.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    pub order: Order,
    /// The states before, `[M, H]`.
    pub before: Vec<f32>,
    /// The states after, `[M, H]`.
    pub after: Vec<f32>,
    /// `[M, 4H]`.
    pub gates: Vec<f32>,
    /// `[M, K]`.
    pub queries: Vec<f32>,
    /// `[M, S]`.
    pub weights: Vec<f32>,
    /// `[M, C]`.
    pub contexts: Vec<f32>,
    /// `[M, X]`.
    pub extras: Vec<f32>,
    /// `[M, R]`.
    pub readouts: Vec<f32>,
}

pub(super) fn run(tensors: Tensors, plan: Plan, [lengths, steps]: [Vec<usize>; 2]) -> Saved {
    let Sizes { hidden: h, readout: r, key: k, context: c } = plan.sizes;
    let pack = |weight: &FlexTensor, rows, columns| {
        Right::Packed(Packed::new(Matrix::new(floats(weight), [rows, columns])))
    };
    let cell = Cell {
        plan,
        recurrent: pack(&tensors.recurrent, h, 3 * h),
        bias: floats(&tensors.bias).to_vec(),
        extra: Some(pack(&tensors.extra, plan.extra(), 3 * h)),
        query: (!floats(&tensors.query).is_empty()).then(|| pack(&tensors.query, h, k)),
        energy: floats(&tensors.energy).to_vec(),
        readout: plan.feeding.then(|| pack(&tensors.readout, h + c, r)),
    };
    let batch = lengths.len();
    // Dealt in turn, not cut: batches come with the longest targets first.
    let groups = (batch / FEWEST_ROWS).clamp(1, rayon::current_num_threads());
    let tapes = (0..groups)
        .into_par_iter()
        .with_max_len(1)
        .map(|group| record(&cell, &tensors, &lengths, Order::new((group..batch).step_by(groups), &steps)))
        .collect();
    Saved { tensors, plan, lengths, tapes }
}

/// The sources of some sentences.
pub(super) fn sources<'a>(tensors: &'a Tensors, lengths: &[usize], sentences: &[usize]) -> Vec<Source<'a>> {
    let [_, s, k] = tensors.keys.layout().shape().dims();
    let c = tensors.values.layout().shape()[2];
    let (keys, values) = (floats(&tensors.keys), floats(&tensors.values));
    let source = |&sentence: &usize| Source {
        keys: &keys[sentence * s * k..][..lengths[sentence] * k],
        values: &values[sentence * s * c..][..lengths[sentence] * c],
    };
    sentences.iter().map(source).collect()
}

/// Takes a group of sentences through all steps.
fn record(cell: &Cell, tensors: &Tensors, lengths: &[usize], order: Order) -> Tape {
    let Sizes { hidden: h, key: k, context: c, readout: r } = cell.plan.sizes;
    let x = cell.plan.extra();
    let s = tensors.keys.layout().shape()[1];
    let sources = sources(tensors, lengths, &order.sentences);
    let slots = |width: usize| vec![0.0; order.places.len() * width];
    let (mut before, mut after, mut gates, mut queries) = (slots(h), slots(h), slots(4 * h), slots(k));
    let (mut weights, mut contexts, mut extras, mut readouts) = (slots(s), slots(c), slots(x), slots(r));
    let mut state = gather(floats(&tensors.start), h, &order.sentences);
    let mut fed = vec![0.0; order.sentences.len() * r];
    for rows in order.steps.iter().cloned() {
        let (at, n) = (rows.start, rows.len());
        let places = &order.places[rows];
        state.truncate(n * h);
        fed.truncate(n * r);
        before[at * h..][..n * h].copy_from_slice(&state);
        let given = Given {
            gates: gather(floats(&tensors.gates), 3 * h, places),
            readout: &gather(floats(&tensors.given), r, places),
            state: &state,
            fed: &fed,
            sources: &sources[..n],
        };
        let mut left = Left {
            state: &mut after[at * h..][..n * h],
            gates: &mut gates[at * 4 * h..][..n * 4 * h],
            query: &mut queries[at * k..][..n * k],
            weights: &mut weights[at * s..][..n * s],
            context: &mut contexts[at * c..][..n * c],
            extra: &mut extras[at * x..][..n * x],
            readout: &mut readouts[at * r..][..n * r],
        };
        cell.step(given, &mut left);
        state.copy_from_slice(left.state);
        fed.copy_from_slice(left.readout);
    }
    Tape { order, before, after, gates, queries, weights, contexts, extras, readouts }
}

impl Saved {
    /// With feeding the readouts `[N, R]`, else `[N, H + C]`.
    pub fn output(&self) -> FlexTensor {
        let Sizes { hidden: h, context: c, readout: r, .. } = self.plan.sizes;
        let n = self.tensors.gates.layout().shape()[0];
        let width = if self.plan.feeding { r } else { h + c };
        let mut output = vec![0.0; n * width];
        for tape in &self.tapes {
            if self.plan.feeding {
                scatter(&tape.readouts, r, &tape.order.places, &mut output);
                continue;
            }
            let seen = tape.after.chunks(h).zip(tape.contexts.chunks(c));
            for (&place, (state, context)) in tape.order.places.iter().zip(seen) {
                output[place * width..][..h].copy_from_slice(state);
                output[place * width + h..][..c].copy_from_slice(context);
            }
        }
        tensor(output, [n, width])
    }
}
