//! The GRU (reset after) over whole sequences as one operation on flex. Sentences do not depend on each
//! other, so each thread takes some through all steps; the gradient of the recurrent weight is one product
//! over all steps instead of one a step.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use rayon::prelude::*;

use super::Direction;
use crate::kernels::flex::{floats, tensor};
use crate::kernels::product::{self, Sizes, Write};
use crate::kernels::simd;

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait GruOps: Backend {
    /// Gates of the inputs `[B, T, G]`, first state `[B, H]`, weight `[H, G]`, bias `[G]`, lengths →
    /// all states `[B, T, H]`.
    fn gru(
        gates: FloatTensor<Self>,
        start: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        lengths: Vec<usize>,
        backward: bool,
    ) -> FloatTensor<Self>;
}

impl GruOps for Flex {
    fn gru(
        gates: FlexTensor,
        start: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        lengths: Vec<usize>,
        backward: bool,
    ) -> FlexTensor {
        let (states, saved) = forward(&gates, &start, weight, &bias, lengths, backward);
        saved.output(&states)
    }
}

impl<C: CheckpointStrategy> GruOps for Autodiff<Flex, C> {
    fn gru(
        gates: FloatTensor<Self>,
        start: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        lengths: Vec<usize>,
        backward: bool,
    ) -> FloatTensor<Self> {
        let nodes = [gates.node(), start.node(), weight.node(), bias.node()];
        let step = GruBackward.prepare::<C>(nodes).compute_bound().stateful();
        let (states, saved) = forward(
            &gates.into_primitive(),
            &start.into_primitive(),
            weight.into_primitive(),
            &bias.into_primitive(),
            lengths,
            backward,
        );
        let output = saved.output(&states);
        match step {
            OpsKind::Tracked(step) => step.finish(Saved { states, ..saved }, output),
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

/// What backward needs of forward. States have T + 1 slots a sentence, the first state included: read
/// forward, step t goes from slot t to t + 1; read backward, from t + 1 to t.
#[derive(Clone, Debug)]
struct Saved {
    /// `[B, T + 1, H]`.
    states: Vec<f32>,
    /// `[B, T, 4H]`: reset, update, candidate, and what the state says to the candidate.
    gates: Vec<f32>,
    weight: FlexTensor,
    lengths: Vec<usize>,
    shape: Shape,
}

/// Sizes and direction of a sequence.
#[derive(Clone, Copy, Debug)]
struct Shape {
    steps: usize,
    hidden: usize,
    direction: Direction,
}

impl Shape {
    /// The steps in the order they are taken.
    fn order(self) -> impl DoubleEndedIterator<Item = usize> {
        let last = self.steps.saturating_sub(1);
        (0..self.steps).map(move |k| match self.direction {
            Direction::Forward => k,
            Direction::Backward => last - k,
        })
    }

    /// The slot of the state before step t; the one after it is [`Shape::after`].
    fn before(self, t: usize) -> usize {
        t + usize::from(self.direction == Direction::Backward)
    }

    fn after(self, t: usize) -> usize {
        t + usize::from(self.direction == Direction::Forward)
    }

    /// The slot of the first state.
    fn start(self) -> usize {
        if self.direction == Direction::Forward { 0 } else { self.steps }
    }
}

impl Saved {
    /// The states after each step, `[B, T, H]`.
    fn output(&self, states: &[f32]) -> FlexTensor {
        let Shape { steps, hidden, .. } = self.shape;
        let first = self.shape.after(0) * hidden;
        let mut output = Vec::with_capacity(self.lengths.len() * steps * hidden);
        for row in states.chunks((steps + 1) * hidden) {
            output.extend_from_slice(&row[first..first + steps * hidden]);
        }
        tensor(output, [self.lengths.len(), steps, hidden])
    }
}

/// How many sentences a thread takes.
fn share(sentences: usize) -> usize {
    sentences.div_ceil(rayon::current_num_threads()).max(1)
}

/// All states, slots as in [`Saved`], and what backward needs beside them.
fn forward(
    gates: &FlexTensor,
    start: &FlexTensor,
    weight: FlexTensor,
    bias: &FlexTensor,
    lengths: Vec<usize>,
    backward: bool,
) -> (Vec<f32>, Saved) {
    let (inputs, start) = (gates.to_contiguous(), start.to_contiguous());
    let (weight, bias) = (weight.to_contiguous(), bias.to_contiguous());
    let [batch, steps, _] = inputs.layout().shape().dims();
    let direction = if backward { Direction::Backward } else { Direction::Forward };
    let shape = Shape { steps, hidden: bias.layout().shape()[0] / 3, direction };
    let h = shape.hidden;
    let mut states = vec![0.0; batch * (steps + 1) * h];
    let mut gates = vec![0.0; batch * steps * 4 * h];
    let rows = share(batch);
    if steps > 0 {
        states
            .par_chunks_mut(rows * (steps + 1) * h)
            .zip(gates.par_chunks_mut(rows * steps * 4 * h))
            .zip(floats(&inputs).par_chunks(rows * steps * 3 * h))
            .zip(floats(&start).par_chunks(rows * h))
            .zip(lengths.par_chunks(rows))
            .for_each(|((((states, gates), inputs), start), lengths)| {
                forward_rows(shape, states, gates, inputs, start, lengths, floats(&weight), floats(&bias));
            });
    } else {
        states.copy_from_slice(floats(&start));
    }
    (states, Saved { states: Vec::new(), gates, weight, lengths, shape })
}

/// Some sentences through all steps.
#[allow(clippy::too_many_arguments)]
fn forward_rows(
    shape: Shape,
    states: &mut [f32],
    gates: &mut [f32],
    inputs: &[f32],
    start: &[f32],
    lengths: &[usize],
    weight: &[f32],
    bias: &[f32],
) {
    let Shape { steps, hidden: h, .. } = shape;
    let row = (steps + 1) * h;
    for (states, start) in states.chunks_mut(row).zip(start.chunks(h)) {
        states[shape.start() * h..][..h].copy_from_slice(start);
    }
    let mut recurrent = vec![0.0; lengths.len() * 3 * h];
    let sizes = Sizes { m: lengths.len(), k: h, n: 3 * h };
    for t in shape.order() {
        let (before, after) = (shape.before(t) * h, shape.after(t) * h);
        product::rows(sizes, &states[before..], row, weight, &mut recurrent, Write::Replace);
        for (i, &length) in lengths.iter().enumerate() {
            let [before, after] = disjoint(&mut states[i * row..][..row], before, after, h);
            if t >= length {
                after.copy_from_slice(before);
                continue;
            }
            let at = i * steps + t;
            let input = &inputs[at * 3 * h..][..3 * h];
            let gates = &mut gates[at * 4 * h..][..4 * h];
            cell_forward(input, &recurrent[i * 3 * h..][..3 * h], bias, before, after, gates);
        }
    }
}

/// Two neighbouring slots of a sentence's states.
fn disjoint(states: &mut [f32], before: usize, after: usize, h: usize) -> [&mut [f32]; 2] {
    let (left, right) = states.split_at_mut(before.max(after));
    let right = &mut right[..h];
    if before < after { [&mut left[before..before + h], right] } else { [right, &mut left[after..after + h]] }
}

fn cell_forward(
    input: &[f32],
    recurrent: &[f32],
    bias: &[f32],
    before: &[f32],
    after: &mut [f32],
    gates: &mut [f32],
) {
    let h = before.len();
    let ([input_r, input_z, input_n], [hidden_r, hidden_z, hidden_n]) = (thirds(input, h), thirds(recurrent, h));
    let [bias_r, bias_z, bias_n] = thirds(bias, h);
    let (r, rest) = gates.split_at_mut(h);
    let (z, rest) = rest.split_at_mut(h);
    let (n, m) = rest.split_at_mut(h);
    let (after, m) = (&mut after[..h], &mut m[..h]);
    simd::run(
        #[inline(always)]
        || {
            for i in 0..h {
                r[i] = simd::sigmoid(input_r[i] + hidden_r[i] + bias_r[i]);
                z[i] = simd::sigmoid(input_z[i] + hidden_z[i] + bias_z[i]);
                m[i] = hidden_n[i] + bias_n[i];
                n[i] = simd::tanh(input_n[i] + r[i] * m[i]);
                after[i] = n[i] + z[i] * (before[i] - n[i]);
            }
        },
    );
}

fn thirds(gates: &[f32], h: usize) -> [&[f32]; 3] {
    [&gates[..h], &gates[h..2 * h], &gates[2 * h..3 * h]]
}

#[derive(Debug)]
struct GruBackward;

impl Backward<Flex, 4> for GruBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 4>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let found = backward(&ops.state, floats(&upstream));
        for (parent, gradient) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}

/// The gradients of the inputs' gates, the first state, the weight and the bias.
fn backward(saved: &Saved, upstream: &[f32]) -> [FlexTensor; 4] {
    let Saved { states, gates, weight, lengths, shape } = saved;
    let Shape { steps, hidden: h, .. } = *shape;
    let batch = lengths.len();
    let weight = product::transposed(floats(weight), h, 3 * h);
    let mut d_inputs = vec![0.0; batch * steps * 3 * h];
    // One slot a state, as many as states have, so that one product below takes all steps; the slot that no
    // step starts from stays zero.
    let mut d_recurrent = vec![0.0; batch * (steps + 1) * 3 * h];
    let mut d_start = vec![0.0; batch * h];
    let rows = share(batch);
    if steps > 0 {
        d_start
            .par_chunks_mut(rows * h)
            .zip(d_inputs.par_chunks_mut(rows * steps * 3 * h))
            .zip(d_recurrent.par_chunks_mut(rows * (steps + 1) * 3 * h))
            .zip(states.par_chunks(rows * (steps + 1) * h))
            .zip(gates.par_chunks(rows * steps * 4 * h))
            .zip(upstream.par_chunks(rows * steps * h))
            .zip(lengths.par_chunks(rows))
            .for_each(|((((((carry, d_inputs), d_recurrent), states), gates), upstream), lengths)| {
                backward_rows(*shape, carry, d_inputs, d_recurrent, states, gates, upstream, lengths, &weight);
            });
    }
    let mut d_weight = vec![0.0; h * 3 * h];
    let sizes = Sizes { m: h, k: batch * (steps + 1), n: 3 * h };
    product::transposed_left(sizes, states, &d_recurrent, &mut d_weight);
    let mut d_bias = vec![0.0; 3 * h];
    for row in d_recurrent.chunks(3 * h) {
        d_bias.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
    }
    [
        tensor(d_inputs, [batch, steps, 3 * h]),
        tensor(d_start, [batch, h]),
        tensor(d_weight, [h, 3 * h]),
        tensor(d_bias, [3 * h]),
    ]
}

/// Some sentences back through all steps; `carry` ends as the gradient of their first states.
#[allow(clippy::too_many_arguments)]
fn backward_rows(
    shape: Shape,
    carry: &mut [f32],
    d_inputs: &mut [f32],
    d_recurrent: &mut [f32],
    states: &[f32],
    gates: &[f32],
    upstream: &[f32],
    lengths: &[usize],
    weight: &[f32],
) {
    let Shape { steps, hidden: h, .. } = shape;
    let row = (steps + 1) * 3 * h;
    let sizes = Sizes { m: lengths.len(), k: 3 * h, n: h };
    for t in shape.order().rev() {
        let before = shape.before(t);
        for (i, &length) in lengths.iter().enumerate() {
            let at = i * steps + t;
            let carry = &mut carry[i * h..][..h];
            let upstream = &upstream[at * h..][..h];
            if t >= length {
                carry.iter_mut().zip(upstream).for_each(|(carry, upstream)| *carry += upstream);
                continue;
            }
            cell_backward(
                upstream,
                &states[(i * (steps + 1) + before) * h..][..h],
                &gates[at * 4 * h..][..4 * h],
                carry,
                &mut d_inputs[at * 3 * h..][..3 * h],
                &mut d_recurrent[i * row + before * 3 * h..][..3 * h],
            );
        }
        product::rows(sizes, &d_recurrent[before * 3 * h..], row, weight, carry, Write::Add);
    }
}

fn cell_backward(
    upstream: &[f32],
    before: &[f32],
    gates: &[f32],
    carry: &mut [f32],
    d_input: &mut [f32],
    d_recurrent: &mut [f32],
) {
    let h = before.len();
    let ([r, z, n], m) = (thirds(gates, h), &gates[3 * h..][..h]);
    let (d_r, rest) = d_input.split_at_mut(h);
    let (d_z, d_n) = rest.split_at_mut(h);
    let (d_hidden_r, rest) = d_recurrent.split_at_mut(h);
    let (d_hidden_z, d_hidden_n) = rest.split_at_mut(h);
    let (carry, upstream) = (&mut carry[..h], &upstream[..h]);
    let (d_n, d_hidden_n) = (&mut d_n[..h], &mut d_hidden_n[..h]);
    simd::run(
        #[inline(always)]
        || {
            for i in 0..h {
                let d_state = carry[i] + upstream[i];
                let d_candidate = d_state * (1.0 - z[i]) * (1.0 - n[i] * n[i]);
                let d_update = d_state * (before[i] - n[i]) * z[i] * (1.0 - z[i]);
                let d_reset = d_candidate * m[i] * r[i] * (1.0 - r[i]);
                (d_r[i], d_z[i], d_n[i]) = (d_reset, d_update, d_candidate);
                (d_hidden_r[i], d_hidden_z[i], d_hidden_n[i]) = (d_reset, d_update, d_candidate * r[i]);
                carry[i] = d_state * z[i];
            }
        },
    );
}
