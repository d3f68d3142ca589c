//! What training needs of the decoder: the readouts of all real steps, none of padding.

use burn::tensor::{Int, Tensor};

use super::{Decoder, DecoderState, Timing};
use crate::attention::{Drawn, Memory, Weights};
use crate::kernels::attentive::{self, Recurrence, Sources};
use crate::kernels::can_take;
use crate::kernels::gru::ResetForm;
use crate::kernels::linear::{self, Activation, linear};

/// What the real steps of targets give, N of them.
#[derive(Clone, Debug)]
pub struct Readouts {
    /// What the output is computed from, `[N, R]`, before dropout.
    pub values: Tensor<2>,
    /// The log-probability and the entropy of what each step drew, `[N]`; only in training of hard attention.
    pub drawn: Option<[Tensor<1>; 2]>,
}

impl Decoder {
    /// The readouts of the real steps from the start, `[N, R]`, which stand at `places` among the `B · T`: what
    /// training needs of [`Decoder::forward`], and the same numbers. Where a step needs what an earlier one saw, the
    /// steps are one operation if the device has it.
    pub fn readouts(
        &self,
        embedded: Tensor<3>,
        lengths: &[usize],
        places: Tensor<1, Int>,
        state: DecoderState,
        memory: &Memory,
    ) -> Readouts {
        if self.at_once() {
            let seen = self.seen(embedded, lengths, state, memory);
            let values = linear::apply(&self.readout, real(seen.joined, places.clone()), Activation::Tanh);
            return Readouts { values, drawn: seen.drawn.map(|drawn| real_draws(drawn, places)) };
        }
        if let (Some(fused), Some(sources)) = (self.recurrence(&embedded), memory.mask.lengths())
            && let [start] = state.layers.as_slice()
        {
            let sources = Sources { keys: memory.keys.clone(), values: memory.values.clone(), lengths: sources };
            let values = self.fused_readouts(real(embedded, places), lengths, start.clone(), fused, sources);
            return Readouts { values, drawn: None };
        }
        self.watched(embedded, lengths, places, state, memory).0
    }

    /// The same with where each step looked.
    pub fn watched(
        &self,
        embedded: Tensor<3>,
        lengths: &[usize],
        places: Tensor<1, Int>,
        state: DecoderState,
        memory: &Memory,
    ) -> (Readouts, Option<Weights>) {
        let decoded = self.forward(embedded, lengths, state, memory);
        let values = real(decoded.readouts, places.clone());
        (Readouts { values, drawn: decoded.drawn.map(|drawn| real_draws(drawn, places)) }, decoded.weights)
    }

    /// The weights of the steps as one operation, without the readout's, if the device and the operation can take
    /// them.
    fn recurrence(&self, embedded: &Tensor<3>) -> Option<Recurrence> {
        let [gru] = self.layers.as_slice() else { return None };
        if gru.reset != ResetForm::ResetAfter || !can_take(embedded) {
            return None;
        }
        let matcher = self.attention.matcher(gru.hidden())?;
        Some(Recurrence {
            timing: self.timing,
            matching: matcher.matching,
            recurrent: gru.hidden_weight.val(),
            bias: gru.hidden_bias.val(),
            extra: rows_from(gru.input_weight.val(), embedded.dims()[2]),
            query: matcher.query,
            energy: matcher.energy,
            readout: None,
        })
    }

    /// [`Decoder::readouts`] as one operation, of embedded real tokens `[N, E]`.
    fn fused_readouts(
        &self,
        embedded: Tensor<2>,
        lengths: &[usize],
        start: Tensor<2>,
        recurrence: Recurrence,
        sources: Sources<'_>,
    ) -> Tensor<2> {
        let gru = &self.layers[0];
        let ([n, e], h, context) = (embedded.dims(), gru.hidden(), sources.values.dims()[2]);
        let from_embedding = gru.input_weight.val().narrow(0, 0, e);
        let gates = linear(embedded.clone(), from_embedding, Some(gru.input_bias.val()), Activation::Identity);
        if !self.input_feeding {
            let seen = attentive::sequence(gates, start, recurrence, sources, lengths);
            return linear::apply(&self.readout, Tensor::cat(vec![seen, embedded], 1), Activation::Tanh);
        }
        let bias = self.readout.bias.as_ref().map(|bias| bias.val());
        let weight = self.readout.weight.val();
        let from_joined = weight.clone().narrow(0, 0, h + context);
        let given = match self.timing {
            Timing::Before => linear(embedded, rows_from(weight, h + context), bias, Activation::Identity),
            Timing::After => {
                let size = from_joined.dims()[1];
                let bias = bias.unwrap_or_else(|| Tensor::zeros([size], &embedded.device()));
                bias.unsqueeze::<2>().expand([n, size])
            }
        };
        let recurrence = Recurrence { readout: Some((from_joined, given)), ..recurrence };
        attentive::sequence(gates, start, recurrence, sources, lengths)
    }
}

/// The real steps of `[B, T, …]`, `[N, …]`.
fn real(steps: Tensor<3>, places: Tensor<1, Int>) -> Tensor<2> {
    let [b, t, size] = steps.dims();
    steps.reshape([b * t, size]).select(0, places)
}

/// What the real steps drew, of `[B, T]`.
fn real_draws(drawn: Drawn, places: Tensor<1, Int>) -> [Tensor<1>; 2] {
    [drawn.log_prob, drawn.entropy].map(|all| all.flatten::<1>(0, 1).select(0, places.clone()))
}

/// The rows of a matrix from `n` on.
fn rows_from(matrix: Tensor<2>, n: usize) -> Tensor<2> {
    let rows = matrix.dims()[0];
    matrix.narrow(0, n, rows - n)
}
