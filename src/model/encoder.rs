//! Reads the source: GRU layers in one or both directions, each sentence by its own length.

use burn::module::Module;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::gru::Gru;
use crate::init::Draw;
use crate::kernels::dropout::Dropout;
use crate::kernels::gru::{Direction, ResetForm};

/// What the encoder is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EncoderConfig {
    /// The state of one direction.
    pub hidden: usize,
    /// GRU layers, one upon the other.
    pub layers: usize,
    /// Whether each layer also reads backward.
    pub bidirectional: bool,
    /// Where the reset gate is applied.
    pub gru: ResetForm,
}

impl Default for EncoderConfig {
    fn default() -> Self {
        Self { hidden: 64, layers: 1, bidirectional: true, gru: ResetForm::ResetAfter }
    }
}

impl EncoderConfig {
    /// M, the size of a memory row.
    pub fn memory_size(&self) -> usize {
        if self.bidirectional { 2 * self.hidden } else { self.hidden }
    }

    /// An encoder with fresh weights for embeddings of `size`.
    pub fn init(&self, size: usize, dropout: Dropout, draw: &mut Draw<'_>, device: &Device) -> Encoder {
        let layers = (0..self.layers).map(|layer| {
            let d_in = if layer == 0 { size } else { self.memory_size() };
            let mut gru = || Gru::init([d_in, self.hidden], self.gru, draw, device);
            EncoderLayer { forward: gru(), backward: self.bidirectional.then(gru) }
        });
        Encoder { layers: layers.collect(), dropout }
    }
}

/// GRU layers over the source.
#[derive(Module, Debug)]
pub struct Encoder {
    /// From the embeddings up.
    pub layers: Vec<EncoderLayer>,
    /// Between layers, in training.
    pub dropout: Dropout,
}

/// One layer: a GRU, or two that read towards each other.
#[derive(Module, Debug)]
pub struct EncoderLayer {
    /// Reads from the first token on.
    pub forward: Gru,
    /// Reads from the last token back.
    pub backward: Option<Gru>,
}

/// What was read.
#[derive(Clone, Debug)]
pub struct EncodedSource {
    /// The top layer's states, forward and backward side by side, `[B, S, M]`.
    pub states: Tensor<3>,
    /// The top layer's last states: forward at the sentence's end, backward at its beginning, `[B, M]`.
    pub last: Tensor<2>,
}

impl Encoder {
    /// Reads embeddings `[B, S, E]` of sentences with these lengths (each at least 1).
    pub fn forward(&self, embedded: Tensor<3>, lengths: &[usize]) -> EncodedSource {
        let mut inputs = embedded;
        let mut read: Option<EncodedSource> = None;
        for (place, layer) in self.layers.iter().enumerate() {
            if let Some(below) = read {
                inputs = self.dropout.steps(below.states, place as u64);
            }
            read = Some(layer.forward(inputs.clone(), lengths));
        }
        read.unwrap_or_else(|| unreachable!("configs have at least one layer"))
    }
}

impl EncoderLayer {
    fn forward(&self, inputs: Tensor<3>, lengths: &[usize]) -> EncodedSource {
        let [b, s, _] = inputs.dims();
        let start = |gru: &Gru| Tensor::zeros([b, gru.hidden()], &inputs.device());
        let forward = self.forward.sequence(inputs.clone(), start(&self.forward), lengths, Direction::Forward);
        // Finished sentences keep their state, so the last column holds every sentence's last state.
        let last = forward.clone().narrow(1, s - 1, 1).squeeze_dim(1);
        let Some(gru) = &self.backward else {
            return EncodedSource { states: forward, last };
        };
        let backward = gru.sequence(inputs.clone(), start(gru), lengths, Direction::Backward);
        let first = backward.clone().narrow(1, 0, 1).squeeze_dim(1);
        EncodedSource { states: Tensor::cat(vec![forward, backward], 2), last: Tensor::cat(vec![last, first], 1) }
    }
}
