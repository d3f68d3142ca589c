//! Cross-entropy a real target token. Padding never comes here: it is left out before the logits.

use burn::tensor::Tensor;

use super::batch::Batch;
use crate::kernels::cross_entropy::cross_entropy;
use crate::model::Seq2Seq;

/// The mean loss a target token of a batch, in nats, `[1]`.
pub fn batch_loss(model: &Seq2Seq, batch: &Batch, smoothing: f64) -> Tensor<1> {
    part_of_loss(model, batch, smoothing, batch.tokens)
}

/// What a batch adds to the mean loss of several that have so many target tokens together, in nats, `[1]`.
pub fn part_of_loss(model: &Seq2Seq, batch: &Batch, smoothing: f64, tokens: usize) -> Tensor<1> {
    let (memory, state) = model.encode(&batch.source);
    let readouts = model.readouts(&batch.inputs, state, &memory);
    cross_entropy(model.regularized(readouts), model.output(), batch.targets.clone(), smoothing, tokens)
}
