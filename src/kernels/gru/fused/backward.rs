//! The gradients of a GRU, by hand: back through all steps, each thread taking some sentences.

use burn::backend::flex::FlexTensor;
use rayon::prelude::*;

use super::{Saved, Shape, running, share};
use crate::kernels::flex::{floats, tensor};
use crate::kernels::gru::cell;
use crate::kernels::product::{self, Matrix, Packed, Write};

/// The gradients of the inputs' gates, the first state, the weight and the bias.
pub(super) fn run(saved: &Saved, upstream: &[f32]) -> [FlexTensor; 4] {
    let Saved { states, gates, weight, lengths, shape } = saved;
    let Shape { steps, hidden: h, .. } = *shape;
    let batch = lengths.len();
    let weight = Packed::new(Matrix::new(floats(weight), [h, 3 * h]).transposed());
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
    let slots = batch * (steps + 1);
    let states = Matrix::new(states, [slots, h]).transposed();
    product::wide(states, Matrix::new(&d_recurrent, [slots, 3 * h]), &mut d_weight, Write::Replace);
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
    weight: &Packed,
) {
    let Shape { steps, hidden: h, .. } = shape;
    let row = (steps + 1) * 3 * h;
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
            cell::backward(
                upstream,
                &states[(i * (steps + 1) + before) * h..][..h],
                &gates[at * 4 * h..][..4 * h],
                carry,
                &mut d_inputs[at * 3 * h..][..3 * h],
                &mut d_recurrent[i * row + before * 3 * h..][..3 * h],
            );
        }
        let running = running(lengths, t);
        let d_recurrent = Matrix::with_rows_apart(&d_recurrent[before * 3 * h..], [running, 3 * h], row);
        weight.multiply(d_recurrent, carry, h, Write::Add);
    }
}
