//! The GRU from ordinary tensor operations: for every device and float type, and the reference in tests.

use burn::tensor::activation::sigmoid;
use burn::tensor::{Bool, Tensor, TensorData};

use super::{Direction, Recurrence, ResetForm};

pub(super) fn sequence(
    gates: Tensor<3>,
    start: Tensor<2>,
    recurrence: &Recurrence,
    lengths: &[usize],
    direction: Direction,
) -> Tensor<3> {
    let steps = gates.dims()[1];
    let order: Vec<usize> = match direction {
        Direction::Forward => (0..steps).collect(),
        Direction::Backward => (0..steps).rev().collect(),
    };
    let mut state = start;
    let mut states = vec![None; steps];
    for t in order {
        let next = step(gates.clone().narrow(1, t, 1).squeeze_dim(1), state.clone(), recurrence);
        state = keep_finished(next, state, lengths, t);
        states[t] = Some(state.clone());
    }
    Tensor::stack(states.into_iter().flatten().collect(), 1)
}

fn step(gates: Tensor<2>, state: Tensor<2>, recurrence: &Recurrence) -> Tensor<2> {
    let Recurrence { weight, bias, reset } = recurrence;
    let h = state.dims()[1];
    let [input_r, input_z, input_n] = [0, 1, 2].map(|i| gates.clone().narrow(1, i * h, h));
    let (z, recurrent_n) = match reset {
        ResetForm::ResetAfter => {
            let recurrent = state.clone().matmul(weight.clone()) + bias.clone().unsqueeze();
            let [r, z, n] = [0, 1, 2].map(|i| recurrent.clone().narrow(1, i * h, h));
            let (r, z) = (sigmoid(input_r + r), sigmoid(input_z + z));
            (z, r * n)
        }
        ResetForm::ResetBefore => {
            let part = |from, size| (weight.clone().narrow(1, from, size), bias.clone().narrow(0, from, size));
            let (weight_rz, bias_rz) = part(0, 2 * h);
            let recurrent = state.clone().matmul(weight_rz) + bias_rz.unsqueeze();
            let r = sigmoid(input_r + recurrent.clone().narrow(1, 0, h));
            let z = sigmoid(input_z + recurrent.narrow(1, h, h));
            let (weight_n, bias_n) = part(2 * h, h);
            (z, (r * state.clone()).matmul(weight_n) + bias_n.unsqueeze())
        }
    };
    let n = (input_n + recurrent_n).tanh();
    n.clone() + z * (state - n)
}

/// The next state where a sentence still runs at step `t`, the old one where it is over.
fn keep_finished(next: Tensor<2>, state: Tensor<2>, lengths: &[usize], t: usize) -> Tensor<2> {
    if lengths.iter().all(|&length| t < length) {
        return next;
    }
    let shape = next.dims();
    let over: Vec<bool> = lengths.iter().map(|&length| t >= length).collect();
    let over = Tensor::<2, Bool>::from_data(TensorData::new(over, [shape[0], 1]), &next.device());
    next.mask_where(over.expand(shape), state)
}
