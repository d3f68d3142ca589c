//! The states of a GRU, each thread taking some sentences through all steps.

use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::{Saved, Shape, running, share};
use crate::kernels::flex::floats;
use crate::kernels::gru::{Direction, cell};
use crate::kernels::product::{Matrix, Packed, Write};

/// All states, and what backward needs beside them.
pub(super) fn run(
    gates: &FlexTensor,
    start: &FlexTensor,
    weight: FlexTensor,
    bias: &FlexTensor,
    lengths: Vec<usize>,
    direction: Direction,
) -> Saved {
    let (inputs, start) = (gates.to_contiguous(), start.to_contiguous());
    let (weight, bias) = (weight.to_contiguous(), bias.to_contiguous());
    let [batch, steps, _] = inputs.layout().shape().dims();
    let shape = Shape { steps, hidden: bias.layout().shape()[0] / 3, direction };
    let h = shape.hidden;
    let mut states = vec![0.0; batch * (steps + 1) * h];
    let mut gates = vec![0.0; batch * steps * 4 * h];
    let rows = share(batch);
    if steps > 0 {
        let packed = Packed::new(Matrix::new(floats(&weight), [h, 3 * h]));
        states
            .par_chunks_mut(rows * (steps + 1) * h)
            .zip(gates.par_chunks_mut(rows * steps * 4 * h))
            .zip(floats(&inputs).par_chunks(rows * steps * 3 * h))
            .zip(floats(&start).par_chunks(rows * h))
            .zip(lengths.par_chunks(rows))
            .for_each(|((((states, gates), inputs), start), lengths)| {
                forward_rows(shape, states, gates, inputs, start, lengths, &packed, floats(&bias));
            });
    } else {
        states.copy_from_slice(floats(&start));
    }
    Saved { states, gates, weight, lengths, shape }
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
    weight: &Packed,
    bias: &[f32],
) {
    let Shape { steps, hidden: h, .. } = shape;
    let row = (steps + 1) * h;
    for (states, start) in states.chunks_mut(row).zip(start.chunks(h)) {
        states[shape.start() * h..][..h].copy_from_slice(start);
    }
    let mut recurrent = vec![0.0; lengths.len() * 3 * h];
    for t in shape.order() {
        let (before, after) = (shape.before(t) * h, shape.after(t) * h);
        let running = running(lengths, t);
        let states_before = Matrix::with_rows_apart(&states[before..], [running, h], row);
        weight.multiply(states_before, &mut recurrent, 3 * h, Write::Replace);
        for (i, &length) in lengths.iter().enumerate() {
            let [before, after] = disjoint(&mut states[i * row..][..row], before, after, h);
            if t >= length {
                after.copy_from_slice(before);
                continue;
            }
            let at = i * steps + t;
            let input = &inputs[at * 3 * h..][..3 * h];
            let gates = &mut gates[at * 4 * h..][..4 * h];
            cell::forward(input, &recurrent[i * 3 * h..][..3 * h], bias, before, after, gates);
        }
    }
}

/// Two neighbouring slots of a sentence's states.
fn disjoint(states: &mut [f32], before: usize, after: usize, h: usize) -> [&mut [f32]; 2] {
    let (left, right) = states.split_at_mut(before.max(after));
    let right = &mut right[..h];
    if before < after { [&mut left[before..before + h], right] } else { [right, &mut left[after..after + h]] }
}
