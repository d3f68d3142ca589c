//! All steps forward, each core taking some sentences.

use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::cell::{Cell, Given, Left, Plan, Sizes};
use super::fused::Tensors;
use crate::kernels::flex::{floats, tensor};
use crate::kernels::look::Source;
use crate::kernels::product::{FEWEST_ROWS, Matrix, Packed, Right};

/// What backward needs of forward.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub tensors: Tensors,
    pub plan: Plan,
    pub lengths: Vec<usize>,
    /// Of each group of sentences, in their order.
    pub tapes: Vec<Tape>,
}

/// What the steps of a group of N sentences left, step after step.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    /// The group's first sentence.
    pub first: usize,
    /// N.
    pub rows: usize,
    /// T.
    pub steps: usize,
    /// `[T + 1, N, H]`, the first state included.
    pub states: Vec<f32>,
    /// `[T, N, 4H]`.
    pub gates: Vec<f32>,
    /// `[T, N, K]`.
    pub queries: Vec<f32>,
    /// `[T, N, S]`.
    pub weights: Vec<f32>,
    /// `[T, N, C]`.
    pub contexts: Vec<f32>,
    /// `[T, N, X]`.
    pub extras: Vec<f32>,
    /// `[T + 1, N, R]`, the zeros before the first included.
    pub readouts: Vec<f32>,
}

pub(super) fn run(tensors: Tensors, plan: Plan, lengths: Vec<usize>) -> Saved {
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
    let share = lengths.len().div_ceil(rayon::current_num_threads()).max(FEWEST_ROWS);
    let groups: Vec<usize> = (0..lengths.len()).step_by(share).collect();
    let tapes = groups
        .into_par_iter()
        .map(|first| {
            let rows = share.min(lengths.len() - first);
            record(&cell, &tensors, &lengths[first..first + rows], first)
        })
        .collect();
    Saved { tensors, plan, lengths, tapes }
}

/// The sources of some sentences.
pub(super) fn sources<'a>(tensors: &'a Tensors, lengths: &[usize], first: usize) -> Vec<Source<'a>> {
    let [_, s, k] = tensors.keys.layout().shape().dims();
    let c = tensors.values.layout().shape()[2];
    let (keys, values) = (floats(&tensors.keys), floats(&tensors.values));
    let source = |(i, &length): (usize, &usize)| Source {
        keys: &keys[(first + i) * s * k..][..length * k],
        values: &values[(first + i) * s * c..][..length * c],
    };
    lengths.iter().enumerate().map(source).collect()
}

/// Takes a group of sentences through all steps.
fn record(cell: &Cell, tensors: &Tensors, lengths: &[usize], first: usize) -> Tape {
    let Sizes { hidden: h, key: k, context: c, readout: r } = cell.plan.sizes;
    let (n, x) = (lengths.len(), cell.plan.extra());
    let steps = tensors.gates.layout().shape()[1];
    let s = tensors.keys.layout().shape()[1];
    let sources = sources(tensors, lengths, first);
    let slots = |width: usize, count: usize| vec![0.0; count * n * width];
    let mut tape = Tape {
        first,
        rows: n,
        steps,
        states: slots(h, steps + 1),
        gates: slots(4 * h, steps),
        queries: slots(k, steps),
        weights: slots(s, steps),
        contexts: slots(c, steps),
        extras: slots(x, steps),
        readouts: slots(r, steps + 1),
    };
    tape.states[..n * h].copy_from_slice(&floats(&tensors.start)[first * h..][..n * h]);
    for t in 0..steps {
        let (before, after) = tape.states.split_at_mut((t + 1) * n * h);
        let (fed, readout) = tape.readouts.split_at_mut((t + 1) * n * r);
        let gates = column(floats(&tensors.gates), [first, n], [steps, t], 3 * h);
        let given = column(floats(&tensors.given), [first, n], [steps, t], r);
        let given = Given {
            gates: &gates,
            readout: &given,
            state: &before[t * n * h..],
            fed: &fed[t * n * r..],
            sources: &sources,
        };
        cell.step(
            given,
            &mut Left {
                state: &mut after[..n * h],
                gates: &mut tape.gates[t * n * 4 * h..][..n * 4 * h],
                query: &mut tape.queries[t * n * k..][..n * k],
                weights: &mut tape.weights[t * n * s..][..n * s],
                context: &mut tape.contexts[t * n * c..][..n * c],
                extra: &mut tape.extras[t * n * x..][..n * x],
                readout: &mut readout[..n * r],
            },
        );
    }
    tape
}

/// Step t of some rows of `[B, T, width]`, one after the other.
pub(super) fn column(values: &[f32], [first, n]: [usize; 2], [steps, t]: [usize; 2], width: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(n * width);
    for row in first..first + n {
        out.extend_from_slice(&values[(row * steps + t) * width..][..width]);
    }
    out
}

impl Saved {
    /// With feeding the readouts `[B, T, R]`, else `[B, T, H + C]`.
    pub fn output(&self) -> FlexTensor {
        let Sizes { hidden: h, context: c, readout: r, .. } = self.plan.sizes;
        let steps = self.tensors.gates.layout().shape()[1];
        let width = if self.plan.feeding { r } else { h + c };
        let mut output = Vec::with_capacity(self.lengths.len() * steps * width);
        for tape in &self.tapes {
            for row in 0..tape.rows {
                for t in 0..steps {
                    let (now, next) = (t * tape.rows + row, (t + 1) * tape.rows + row);
                    if self.plan.feeding {
                        output.extend_from_slice(&tape.readouts[next * r..][..r]);
                    } else {
                        output.extend_from_slice(&tape.states[next * h..][..h]);
                        output.extend_from_slice(&tape.contexts[now * c..][..c]);
                    }
                }
            }
        }
        tensor(output, [self.lengths.len(), steps, width])
    }
}
