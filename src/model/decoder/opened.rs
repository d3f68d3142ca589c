//! One step of the decoder, laid open for people who want to see every number.

use burn::tensor::Tensor;

use super::{Decoded, Decoder, DecoderState, Seen};
use crate::attention::Memory;
use crate::kernels::linear::{self, Activation};

/// What one step of B sentences did.
#[derive(Clone, Debug)]
pub struct Opened {
    /// What it gave.
    pub decoded: Decoded,
    /// What it looked with, `[B, 1, H]`.
    pub query: Tensor<3>,
    /// How well that matched each key, before windows and masks, `[B, N, S]`; nothing without attention.
    pub scores: Option<Tensor<3>>,
    /// What it saw, `[B, 1, C]`.
    pub context: Tensor<3>,
}

impl Decoder {
    /// A step over embedded tokens `[B, 1, E]`; the same numbers as [`Decoder::forward`]'s.
    pub fn open(&self, embedded: Tensor<3>, state: DecoderState, memory: &Memory) -> Opened {
        let lengths = vec![1; embedded.dims()[0]];
        let Seen { joined, weights, drawn, layers, track, query, scores, context } =
            self.seen(embedded, &lengths, state, memory);
        let readouts = linear::apply(&self.readout, joined, Activation::Tanh);
        let fed = self.input_feeding.then(|| super::last_step(readouts.clone()));
        let decoded = Decoded { readouts, weights, drawn, state: DecoderState { layers, fed, track } };
        Opened { decoded, query, scores, context }
    }
}
