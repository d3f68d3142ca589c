//! All steps back, by hand, each core taking the sentences that it took forward; then one product a weight
//! over all steps.

use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::Timing;
use super::cell::{Plan, Sizes};
use super::forward::{Saved, Tape, column, sources};
use crate::kernels::flex::{floats, tensor};
use crate::kernels::gru::cell;
use crate::kernels::look::{Source, SourceGradient};
use crate::kernels::product::{Matrix, Packed, Write, wide};

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
    let (b, steps) = (saved.lengths.len(), tensors.gates.layout().shape()[1]);
    let all = |of: fn(&Found) -> &Vec<f32>| found.iter().flat_map(of).copied().collect::<Vec<f32>>();
    let rows = |of: fn(&Found) -> &Vec<f32>, width: usize| {
        let mut out = Vec::with_capacity(b * steps * width);
        for (tape, found) in saved.tapes.iter().zip(&found) {
            for row in 0..tape.rows {
                for t in 0..steps {
                    out.extend_from_slice(&of(found)[(t * tape.rows + row) * width..][..width]);
                }
            }
        }
        out
    };
    let like = |values: Vec<f32>, other: &FlexTensor| {
        tensor(values, [other.layout().shape().num_elements()]).reshape(other.layout().shape().clone())
    };
    [
        like(rows(|found| &found.inputs, 3 * h), &tensors.gates),
        like(all(|found| &found.start), &tensors.start),
        like(sums.recurrent, &tensors.recurrent),
        like(sums.bias, &tensors.bias),
        like(sums.extra, &tensors.extra),
        like(all(|found| &found.keys), &tensors.keys),
        like(all(|found| &found.values), &tensors.values),
        like(sums.query, &tensors.query),
        like(sums.energy, &tensors.energy),
        like(sums.readout, &tensors.readout),
        like(rows(|found| &found.readouts, r), &tensors.given),
    ]
}

/// The weights of the way back.
struct Transposed {
    recurrent: Packed,
    extra: Packed,
    query: Option<Packed>,
    readout: Option<Packed>,
}

/// What the way back of a group found, step after step; keys and values sentence after sentence.
struct Found {
    /// `[T, N, 3H]`: of what the inputs say to the gates.
    inputs: Vec<f32>,
    /// `[T, N, 3H]`: of what the state says to them.
    recurrent: Vec<f32>,
    /// `[T, N, K]`.
    queries: Vec<f32>,
    /// `[T, N, R]`: of readouts before tanh.
    readouts: Vec<f32>,
    /// `[N, H]`.
    start: Vec<f32>,
    /// `[N, S, K]`.
    keys: Vec<f32>,
    /// `[N, S, C]`.
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
        let (n, steps, x) = (tape.rows, tape.steps, plan.extra());
        let s = saved.tensors.keys.layout().shape()[1];
        let lengths = &saved.lengths[tape.first..][..n];
        let sources = sources(&saved.tensors, lengths, tape.first);
        let mut found = Found {
            inputs: vec![0.0; steps * n * 3 * h],
            recurrent: vec![0.0; steps * n * 3 * h],
            queries: vec![0.0; steps * n * k],
            readouts: vec![0.0; steps * n * r],
            start: Vec::new(),
            keys: vec![0.0; n * s * k],
            values: vec![0.0; n * s * c],
            energy: vec![0.0; floats(&saved.tensors.energy).len()],
        };
        let zeros = vec![0.0; h];
        let (mut carry, mut of_fed, mut of_extra) = (vec![0.0; n * h], vec![0.0; n * r], vec![0.0; n * x]);
        let width = if plan.feeding { r } else { h + c };
        for t in (0..steps).rev() {
            let upstream = column(upstream, [tape.first, n], [steps, t], width);
            let of_joined = self.read_out_back(t, upstream, &of_fed, &mut found.readouts);
            let mut of_context = vec![0.0; n * c];
            for (i, row) in of_joined.chunks(h + c).enumerate() {
                carry[i * h..][..h].iter_mut().zip(&row[..h]).for_each(|(sum, x)| *sum += x);
                of_context[i * c..][..c].copy_from_slice(&row[h..]);
            }
            if plan.timing == Timing::After {
                self.look_back(t, &sources, &of_context, &mut found, &mut carry);
            }
            let of_inputs = &mut found.inputs[t * n * 3 * h..][..n * 3 * h];
            let of_recurrent = &mut found.recurrent[t * n * 3 * h..][..n * 3 * h];
            for i in 0..n {
                cell::backward(
                    &zeros,
                    &tape.states[(t * n + i) * h..][..h],
                    &tape.gates[(t * n + i) * 4 * h..][..4 * h],
                    &mut carry[i * h..][..h],
                    &mut of_inputs[i * 3 * h..][..3 * h],
                    &mut of_recurrent[i * 3 * h..][..3 * h],
                );
            }
            transposed.recurrent.multiply(Matrix::new(of_recurrent, [n, 3 * h]), &mut carry, h, Write::Add);
            transposed.extra.multiply(Matrix::new(of_inputs, [n, 3 * h]), &mut of_extra, x, Write::Replace);
            let looked = if plan.timing == Timing::Before { c } else { 0 };
            for (i, row) in of_extra.chunks(x).enumerate() {
                of_context[i * c..][..looked].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
                if plan.feeding {
                    of_fed[i * r..][..r].copy_from_slice(&row[looked..]);
                }
            }
            if plan.timing == Timing::Before {
                self.look_back(t, &sources, &of_context, &mut found, &mut carry);
            }
        }
        found.start = carry;
        found
    }

    /// The gradient of state and context, `[N, H + C]`: with feeding through the readout, else as it comes.
    fn read_out_back(&self, t: usize, upstream: Vec<f32>, of_fed: &[f32], found: &mut [f32]) -> Vec<f32> {
        let Some(weight) = &self.transposed.readout else { return upstream };
        let Sizes { hidden: h, context: c, readout: r, .. } = self.saved.plan.sizes;
        let n = self.tape.rows;
        let readouts = &self.tape.readouts[(t + 1) * n * r..][..n * r];
        let inside = &mut found[t * n * r..][..n * r];
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
        t: usize,
        sources: &[Source<'_>],
        of_context: &[f32],
        found: &mut Found,
        of_state: &mut [f32],
    ) {
        let Some(matching) = self.saved.plan.matching else { return };
        let Sizes { hidden: h, key: k, context: c, .. } = self.saved.plan.sizes;
        let (n, s) = (self.tape.rows, self.saved.tensors.keys.layout().shape()[1]);
        let energy = floats(&self.saved.tensors.energy);
        let of_queries = &mut found.queries[t * n * k..][..n * k];
        let mut scratch = Vec::with_capacity(s);
        for (i, source) in sources.iter().enumerate() {
            let length = source.keys.len() / k;
            let mut of_source = SourceGradient {
                keys: &mut found.keys[i * s * k..][..length * k],
                values: &mut found.values[i * s * c..][..length * c],
                energy: &mut found.energy,
            };
            matching.look_back(
                (&self.tape.queries[(t * n + i) * k..][..k], energy),
                *source,
                &self.tape.weights[(t * n + i) * s..][..length],
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
        let (n, taken) = (tape.rows, tape.rows * tape.steps);
        let (before, after) = (&tape.states[..taken * h], &tape.states[n * h..]);
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
