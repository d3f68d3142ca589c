//! All steps back, by hand, each core taking the sentences that it took forward; then one product a weight
//! over all steps.

use std::ops::Range;

use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::Timing;
use super::cell::{Plan, Sizes};
use super::forward::{Saved, Tape, sources};
use crate::kernels::flex::{floats, tensor};
use crate::kernels::gru::cell;
use crate::kernels::look::{Source, SourceGradient};
use crate::kernels::product::{Matrix, Packed, Write, wide};
use crate::kernels::rows::{gather, scatter};

/// The gradients of the operation's tensors, in its order.
pub(super) fn run(saved: &Saved, upstream: &[f32]) -> [FlexTensor; 11] {
    let Saved { tensors, plan, .. } = saved;
    let Sizes { hidden: h, key: k, context: c, readout: r } = plan.sizes;
    let x = plan.extra();
    let pack = |weight: &FlexTensor, rows, columns| {
        Packed::new(Matrix::new(floats(weight), [rows, columns]).transposed())
    };
    let transposed = Transposed {
        recurrent: pack(&tensors.recurrent, h, 3 * h),
        extra: pack(&tensors.extra, x, 3 * h),
        query: (!floats(&tensors.query).is_empty()).then(|| pack(&tensors.query, h, k)),
        readout: plan.feeding.then(|| pack(&tensors.readout, h + c, r)),
    };
    let found: Vec<Found> = saved
        .tapes
        .par_iter()
        .map(|tape| Backward { saved, transposed: &transposed, tape }.run(upstream))
        .collect();
    let mut sums = Sums::new(plan, floats(&tensors.query).len(), floats(&tensors.energy).len());
    for (tape, found) in saved.tapes.iter().zip(&found) {
        sums.add(plan, tape, found);
    }
    // From the groups' orders back to the batch's.
    let put = |rows: fn(&Tape) -> &[usize], of: fn(&Found) -> &Vec<f32>, like: &FlexTensor| {
        let mut out = vec![0.0; like.layout().shape().num_elements()];
        let width = out.len() / like.layout().shape()[0].max(1);
        for (tape, found) in saved.tapes.iter().zip(&found) {
            scatter(of(found), width, rows(tape), &mut out);
        }
        out
    };
    let steps: fn(&Tape) -> &[usize] = |tape| &tape.order.places;
    let sentences: fn(&Tape) -> &[usize] = |tape| &tape.order.sentences;
    let like = |values: Vec<f32>, other: &FlexTensor| {
        tensor(values, [other.layout().shape().num_elements()]).reshape(other.layout().shape().clone())
    };
    [
        like(put(steps, |found| &found.inputs, &tensors.gates), &tensors.gates),
        like(put(sentences, |found| &found.start, &tensors.start), &tensors.start),
        like(sums.recurrent, &tensors.recurrent),
        like(sums.bias, &tensors.bias),
        like(sums.extra, &tensors.extra),
        like(put(sentences, |found| &found.keys, &tensors.keys), &tensors.keys),
        like(put(sentences, |found| &found.values, &tensors.values), &tensors.values),
        like(sums.query, &tensors.query),
        like(sums.energy, &tensors.energy),
        like(sums.readout, &tensors.readout),
        like(put(steps, |found| &found.readouts, &tensors.given), &tensors.given),
    ]
}

/// The weights of the way back.
struct Transposed {
    recurrent: Packed,
    extra: Packed,
    query: Option<Packed>,
    readout: Option<Packed>,
}

/// What the way back of a group found, in the group's order.
struct Found {
    /// `[M, 3H]`: of what the inputs say to the gates.
    inputs: Vec<f32>,
    /// `[M, 3H]`: of what the state says to them.
    recurrent: Vec<f32>,
    /// `[M, K]`.
    queries: Vec<f32>,
    /// `[M, R]`: of readouts before tanh.
    readouts: Vec<f32>,
    /// Of each sentence, `[H]`.
    start: Vec<f32>,
    /// `[S, K]`.
    keys: Vec<f32>,
    /// `[S, C]`.
    values: Vec<f32>,
    /// `[K]` or empty.
    energy: Vec<f32>,
}

/// One group's way back.
struct Backward<'a> {
    saved: &'a Saved,
    transposed: &'a Transposed,
    tape: &'a Tape,
}

impl Backward<'_> {
    fn run(&self, upstream: &[f32]) -> Found {
        let Self { saved, tape, transposed } = *self;
        let plan = &saved.plan;
        let Sizes { hidden: h, key: k, context: c, readout: r } = plan.sizes;
        let (all, taken, x) = (tape.order.sentences.len(), tape.order.places.len(), plan.extra());
        let s = saved.tensors.keys.layout().shape()[1];
        let sources = sources(&saved.tensors, &saved.lengths, &tape.order.sentences);
        let mut found = Found {
            inputs: vec![0.0; taken * 3 * h],
            recurrent: vec![0.0; taken * 3 * h],
            queries: vec![0.0; taken * k],
            readouts: vec![0.0; taken * r],
            start: Vec::new(),
            keys: vec![0.0; all * s * k],
            values: vec![0.0; all * s * c],
            energy: vec![0.0; floats(&saved.tensors.energy).len()],
        };
        let zeros = vec![0.0; h];
        // Zero for the sentences that have not begun their way back.
        let (mut carry, mut of_fed) = (vec![0.0; all * h], vec![0.0; all * r]);
        let width = if plan.feeding { r } else { h + c };
        for rows in tape.order.steps.iter().rev().cloned() {
            let n = rows.len();
            let upstream = gather(upstream, width, &tape.order.places[rows.clone()]);
            let of_joined = self.read_out_back(&rows, upstream, &of_fed, &mut found.readouts);
            let mut of_context = vec![0.0; n * c];
            for (i, row) in of_joined.chunks(h + c).enumerate() {
                carry[i * h..][..h].iter_mut().zip(&row[..h]).for_each(|(sum, x)| *sum += x);
                of_context[i * c..][..c].copy_from_slice(&row[h..]);
            }
            if plan.timing == Timing::After {
                self.look_back(&rows, &sources, &of_context, &mut found, &mut carry);
            }
            for (i, row) in rows.clone().enumerate() {
                cell::backward(
                    &zeros,
                    &tape.before[row * h..][..h],
                    &tape.gates[row * 4 * h..][..4 * h],
                    &mut carry[i * h..][..h],
                    &mut found.inputs[row * 3 * h..][..3 * h],
                    &mut found.recurrent[row * 3 * h..][..3 * h],
                );
            }
            let gates = rows.start * 3 * h..rows.end * 3 * h;
            let of_recurrent = Matrix::new(&found.recurrent[gates.clone()], [n, 3 * h]);
            transposed.recurrent.multiply(of_recurrent, &mut carry, h, Write::Add);
            let mut of_extra = vec![0.0; n * x];
            let of_inputs = Matrix::new(&found.inputs[gates], [n, 3 * h]);
            transposed.extra.multiply(of_inputs, &mut of_extra, x, Write::Replace);
            let looked = if plan.timing == Timing::Before { c } else { 0 };
            for (i, row) in of_extra.chunks(x).enumerate() {
                of_context[i * c..][..looked].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                if plan.feeding {
                    of_fed[i * r..][..r].copy_from_slice(&row[looked..]);
                }
            }
            if plan.timing == Timing::Before {
                self.look_back(&rows, &sources, &of_context, &mut found, &mut carry);
            }
        }
        found.start = carry;
        found
    }

    /// The gradient of state and context at some rows, `[n, H + C]`: with feeding through the readout, else as it
    /// comes.
    fn read_out_back(
        &self,
        rows: &Range<usize>,
        upstream: Vec<f32>,
        of_fed: &[f32],
        found: &mut [f32],
    ) -> Vec<f32> {
        let Some(weight) = &self.transposed.readout else { return upstream };
        let Sizes { hidden: h, context: c, readout: r, .. } = self.saved.plan.sizes;
        let n = rows.len();
        let readouts = &self.tape.readouts[rows.start * r..][..n * r];
        let inside = &mut found[rows.start * r..][..n * r];
        for (i, inside) in inside.iter_mut().enumerate() {
            *inside = (upstream[i] + of_fed[i]) * (1.0 - readouts[i] * readouts[i]);
        }
        let mut of_joined = vec![0.0; n * (h + c)];
        weight.multiply(Matrix::new(inside, [n, r]), &mut of_joined, h + c, Write::Replace);
        of_joined
    }

    /// From the context back to source and query, and through the query to the state that asked.
    fn look_back(
        &self,
        rows: &Range<usize>,
        sources: &[Source<'_>],
        of_context: &[f32],
        found: &mut Found,
        of_state: &mut [f32],
    ) {
        let Some(matching) = self.saved.plan.matching else { return };
        let Sizes { hidden: h, key: k, context: c, .. } = self.saved.plan.sizes;
        let (n, s) = (rows.len(), self.saved.tensors.keys.layout().shape()[1]);
        let energy = floats(&self.saved.tensors.energy);
        let of_queries = &mut found.queries[rows.start * k..][..n * k];
        let mut scratch = Vec::with_capacity(s);
        for (i, (row, source)) in rows.clone().zip(sources).enumerate() {
            let length = source.keys.len() / k;
            let mut of_source = SourceGradient {
                keys: &mut found.keys[i * s * k..][..length * k],
                values: &mut found.values[i * s * c..][..length * c],
                energy: &mut found.energy,
            };
            matching.look_back(
                (&self.tape.queries[row * k..][..k], energy),
                *source,
                &self.tape.weights[row * s..][..length],
                &of_context[i * c..][..c],
                &mut of_queries[i * k..][..k],
                &mut of_source,
                &mut scratch,
            );
        }
        match &self.transposed.query {
            Some(weight) => weight.multiply(Matrix::new(of_queries, [n, k]), of_state, h, Write::Add),
            None => of_state.iter_mut().zip(of_queries.iter()).for_each(|(sum, x)| *sum += x),
        }
    }
}

/// The gradients of all weights, over all groups.
struct Sums {
    recurrent: Vec<f32>,
    bias: Vec<f32>,
    extra: Vec<f32>,
    query: Vec<f32>,
    energy: Vec<f32>,
    readout: Vec<f32>,
}

impl Sums {
    fn new(plan: &Plan, query: usize, energy: usize) -> Self {
        let Sizes { hidden: h, context: c, readout: r, .. } = plan.sizes;
        let zeros = |n: usize| vec![0.0; n];
        Self {
            recurrent: zeros(h * 3 * h),
            bias: zeros(3 * h),
            extra: zeros(plan.extra() * 3 * h),
            query: zeros(query),
            energy: zeros(energy),
            readout: zeros(if plan.feeding { (h + c) * r } else { 0 }),
        }
    }

    /// Adds what a group found: inputsᵀ · gradients, over all its steps at once.
    fn add(&mut self, plan: &Plan, tape: &Tape, found: &Found) {
        let Sizes { hidden: h, key: k, context: c, readout: r } = plan.sizes;
        let (before, after, taken) = (&tape.before, &tape.after, tape.order.places.len());
        let product = |left: &[f32], rows: usize, right: &[f32], columns: usize, out: &mut [f32]| {
            let left = Matrix::new(left, [taken, rows]).transposed();
            wide(left, Matrix::new(right, [taken, columns]), out, Write::Add);
        };
        product(before, h, &found.recurrent, 3 * h, &mut self.recurrent);
        for row in found.recurrent.chunks(3 * h) {
            self.bias.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        product(&tape.extras, plan.extra(), &found.inputs, 3 * h, &mut self.extra);
        if !self.query.is_empty() {
            let asking = if plan.timing == Timing::Before { before } else { after };
            product(asking, h, &found.queries, k, &mut self.query);
        }
        if plan.feeding {
            let (of_state, of_context) = self.readout.split_at_mut(h * r);
            product(after, h, &found.readouts, r, of_state);
            product(&tape.contexts, c, &found.readouts, r, of_context);
        }
        self.energy.iter_mut().zip(&found.energy).for_each(|(sum, x)| *sum += x);
    }
}
