//! The model as search sees it.

use burn::tensor::{Device, Int, Tensor, TensorData};

use super::decoder::DecoderState;
use super::seq2seq::{Seq2Seq, SourceBatch, TargetBatch};
use crate::attention::{Memory, Weights};
use crate::kernels::log_probs::{LogProbs, Part};
use crate::search::{Look, Step, Stepper};

/// Drives a model one token at a time.
#[derive(Debug)]
pub struct ModelStepper<'a> {
    model: &'a Seq2Seq,
    device: Device,
    vocabulary: usize,
}

/// Each row's memory and decoder state.
#[derive(Clone, Debug)]
pub struct RowStates {
    /// What each row looks at.
    pub memory: Memory,
    /// Where each row's decoder is.
    pub state: DecoderState,
}

impl<'a> ModelStepper<'a> {
    /// A stepper over a model (evaluate with [`burn::module::Module::valid`], which has no gradients).
    pub fn new(model: &'a Seq2Seq, device: &Device) -> Self {
        let vocabulary = model.target_embedding.weight.dims()[0];
        Self { model, device: device.clone(), vocabulary }
    }

    /// Reads the sources: one row each.
    pub fn start(&self, sources: &[&[usize]]) -> RowStates {
        let (memory, state) = self.model.encode(&SourceBatch::new(sources, &self.device));
        RowStates { memory, state }
    }
}

impl Stepper for ModelStepper<'_> {
    type State = RowStates;

    fn step(&mut self, rows: RowStates, last: &[usize]) -> Step<RowStates> {
        let inputs: Vec<&[usize]> = last.chunks(1).collect();
        let target = TargetBatch::new(&inputs, &self.device);
        let decoded = self.model.decode(&target, rows.state, &rows.memory);
        let logits = self.model.output().logits(decoded.readouts.squeeze_dim(1));
        Step {
            log_probs: LogProbs::of_logits(vec![Part::new(floats(logits), self.vocabulary)], last.len()),
            attention: decoded.weights.map_or_else(Vec::new, looks),
            state: RowStates { memory: rows.memory, state: decoded.state },
        }
    }

    fn select(&self, rows: RowStates, order: &[usize]) -> RowStates {
        let ids: Vec<i64> = order.iter().map(|&row| row as i64).collect();
        let order = Tensor::<1, Int>::from_data(TensorData::new(ids, [order.len()]), &self.device);
        RowStates { memory: rows.memory.select(order.clone()), state: rows.state.select(order) }
    }
}

/// Where each row looked in one step.
fn looks(weights: Weights) -> Vec<Look> {
    let positions = weights.mean.dims()[2].max(1);
    let mut looks: Vec<Look> =
        floats(weights.mean).chunks(positions).map(|row| Look::single(row.to_vec())).collect();
    if let Some(heads) = weights.heads {
        let n = heads.dims()[1];
        for (look, heads) in looks.iter_mut().zip(floats(heads).chunks(n * positions)) {
            look.heads = heads.chunks(positions).map(<[f32]>::to_vec).collect();
        }
    }
    looks
}

/// A tensor's values on the host, in 32 bits.
fn floats<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
