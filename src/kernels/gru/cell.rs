//! One step of one sentence: the gates of a GRU (reset after), and their gradient.

use crate::kernels::simd;

/// One row of a step: what the input and the state say to the gates (`[3H]` each), c, the state before → the
/// state after, and gates `[4H]`: reset, update, candidate, what the state says to the candidate.
pub fn forward(
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

/// One row of a step back: `carry` goes in as the gradient of the state after (`upstream` is added) and comes
/// out as that of the state before, as far as it did not go through R.
pub fn backward(
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

/// The three gates of a row.
fn thirds(gates: &[f32], h: usize) -> [&[f32]; 3] {
    [&gates[..h], &gates[h..2 * h], &gates[2 * h..3 * h]]
}
