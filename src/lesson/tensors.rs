//! What lessons share. They compute in 64 bits, so that every digit on the board is right; what they time, in 32.

use std::time::Instant;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{DType, Device, Tensor, TensorData};

use crate::attention::score::dot::Dot;
use crate::attention::score::scaled_dot::ScaledDot;
use crate::attention::{Attended, Attention, Memory, Score, SourceMask, Track};

/// Where lessons compute.
pub fn device() -> Device {
    Device::flex()
}

/// Rows as a tensor of one sentence, `[1, R, C]`.
pub fn tensor(rows: &[Vec<f64>]) -> Tensor<3> {
    tensor_on(rows, &device())
}

/// The same on a device.
pub fn tensor_on(rows: &[Vec<f64>], device: &Device) -> Tensor<3> {
    let shape = [1, rows.len(), rows.first().map_or(0, Vec::len)];
    Tensor::from_data(TensorData::new(rows.concat(), shape), (device, DType::F64))
}

/// The rows of the first sentence of a tensor `[B, R, C]`.
pub fn rows(tensor: &Tensor<3>) -> Vec<Vec<f64>> {
    let [_, _, columns] = tensor.dims();
    let first = tensor.clone().narrow(0, 0, 1);
    let values: Vec<f64> = first.into_data().iter::<f64>().collect();
    values.chunks(columns.max(1)).map(<[f64]>::to_vec).collect()
}

/// A linear map whose rows are given, `[in, out]`.
pub fn linear(rows: &[Vec<f64>]) -> Linear {
    let weight = tensor(rows).squeeze_dim::<2>(0);
    Linear { weight: Param::from_tensor(weight), bias: None }
}

/// q·k.
pub fn dot() -> Attention {
    Attention::plain(Score::Dot(Dot {}))
}

/// q·k / √K.
pub fn scaled() -> Attention {
    Attention::plain(Score::ScaledDot(ScaledDot {}))
}

/// The scores of an attention, before they become weights.
pub fn scores(attention: &Attention, queries: &Tensor<3>, keys: &Tensor<3>) -> Vec<Vec<f64>> {
    attention.score.as_ref().map_or_else(Vec::new, |score| rows(&score.scores(queries.clone(), keys.clone())))
}

/// What an attention does with queries, keys and values that are given.
pub fn look(attention: &Attention, queries: Tensor<3>, keys: Tensor<3>, values: Tensor<3>) -> Attended {
    let ([b, s, _], device) = (keys.dims(), keys.device());
    let mask = SourceMask::from_lengths(&vec![s; b], s, &device);
    let memory = Memory { keys, values, mask, summary: Tensor::zeros([b, 1], &device) };
    attention.attend(queries, &memory, Track::default())
}

/// The weights of what was seen, as rows.
pub fn weights(attended: &Attended) -> Vec<Vec<f64>> {
    attended.weights.as_ref().map_or_else(Vec::new, |weights| rows(&weights.mean))
}

/// The sum of each row.
pub fn row_sums(values: &[Vec<f64>]) -> Vec<f64> {
    values.iter().map(|row| row.iter().sum()).collect()
}

/// The place of the largest number of a row, the first of equals.
pub fn peak(row: &[f64]) -> usize {
    (0..row.len()).fold(0, |best, s| if row[s] > row[best] { s } else { best })
}

/// A matrix of `rows` one-hot rows, the first `columns` places.
pub fn one_hot(rows: usize, columns: usize) -> Vec<Vec<f64>> {
    (0..rows).map(|row| (0..columns).map(|column| f64::from(u8::from(row == column))).collect()).collect()
}

/// Weights as lessons show them.
pub fn wide(rows: &[Vec<f32>]) -> Vec<Vec<f64>> {
    rows.iter().map(|row| row.iter().map(|&weight| f64::from(weight)).collect()).collect()
}

/// Names as slices.
pub fn names(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

/// Milliseconds that a computation takes until its result is there, the best of [`RUNS`]: other programs only ever make
/// it slower.
pub fn milliseconds(compute: impl Fn() -> Tensor<3>) -> f64 {
    let run = || {
        let started = Instant::now();
        let _ = compute().sum().into_scalar::<f32>();
        1000.0 * started.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

/// Times that what is timed is run.
pub const RUNS: usize = 3;
