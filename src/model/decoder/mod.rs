//! Writes the translation one token after the other, looking at the source at every step.
//!
//! Two timings, from the two papers: `before` (Bahdanau 2015, appendix A.2) asks with the state before
//! the step, and what it saw goes into the step; `after` (Luong 2015, section 3) asks with the state after
//! the step. With input feeding (Luong 2015, section 3.3) each step also gets the last readout.

mod opened;
mod readouts;

pub use opened::Opened;
pub use readouts::Readouts;

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::gru::Gru;
use crate::attention::{Attended, Attention, AttentionConfig, Drawn, Memory, Sizes, Track, Weights};
use crate::init::{self, Bias, Draw};
pub use crate::kernels::attentive::Timing;
use crate::kernels::dropout::Dropout;
use crate::kernels::gru::{Direction, ResetForm};
use crate::kernels::linear::{self, Activation};

/// What the decoder is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DecoderConfig {
    /// H, the state.
    pub hidden: usize,
    /// GRU layers; the top one asks.
    pub layers: usize,
    /// Where the reset gate is applied.
    pub gru: ResetForm,
    /// When it looks at the source.
    pub timing: Timing,
    /// Whether each step gets the last readout too.
    pub input_feeding: bool,
    /// Whether output and target embedding share their weights; the readout then has the embedding's size.
    pub tied: bool,
}

impl Default for DecoderConfig {
    fn default() -> Self {
        Self {
            hidden: 128,
            layers: 1,
            gru: ResetForm::ResetAfter,
            timing: Timing::After,
            input_feeding: false,
            tied: false,
        }
    }
}

impl DecoderConfig {
    /// R, the size of a readout.
    pub fn readout_size(&self, embedding: usize) -> usize {
        if self.tied { embedding } else { self.hidden }
    }

    /// A decoder with fresh weights.
    pub fn init(
        &self,
        attention: &AttentionConfig,
        [embedding, memory]: [usize; 2],
        dropout: Dropout,
        draw: &mut Draw<'_>,
        device: &Device,
    ) -> Decoder {
        let attention = attention.init(Sizes { query: self.hidden, memory }, draw, device);
        let (context, readout) = (attention.context_size(memory), self.readout_size(embedding));
        let fed = if self.input_feeding { readout } else { 0 };
        let (step_in, readout_in) = match self.timing {
            Timing::Before => (embedding + context + fed, self.hidden + context + embedding),
            Timing::After => (embedding + fed, self.hidden + context),
        };
        let layers = (0..self.layers)
            .map(|layer| {
                let d_in = if layer == 0 { step_in } else { self.hidden };
                Gru::init([d_in, self.hidden], self.gru, draw, device)
            })
            .collect();
        Decoder {
            bridge: init::linear(draw, [memory, self.hidden], Bias::Learned, device),
            layers,
            attention,
            readout: init::linear(draw, [readout_in, readout], Bias::Learned, device),
            dropout,
            timing: self.timing,
            input_feeding: self.input_feeding,
        }
    }
}

/// The decoder without its embedding and output, which [`super::Seq2Seq`] owns.
#[derive(Module, Debug)]
pub struct Decoder {
    /// From the encoder's last states to the first state of every layer, tanh.
    pub bridge: Linear,
    /// GRU layers from the input up.
    pub layers: Vec<Gru>,
    /// Where to look.
    pub attention: Attention,
    /// To the readout, tanh. Input: `[s_t; c_t]` (after), `[s_t; c_t; e_{t−1}]` (before).
    pub readout: Linear,
    /// Between layers, in training.
    pub dropout: Dropout,
    /// When it looks.
    #[module(skip)]
    pub timing: Timing,
    /// Whether each step gets the last readout too.
    #[module(skip)]
    pub input_feeding: bool,
}

/// What the decoder carries from step to step.
#[derive(Clone, Debug)]
pub struct DecoderState {
    /// The state of each layer, `[B, H]`.
    pub layers: Vec<Tensor<2>>,
    /// The last readout, `[B, R]`; zeros at first. Only with input feeding.
    pub fed: Option<Tensor<2>>,
    /// What attention knows of the steps before.
    pub track: Track,
}

impl DecoderState {
    /// The states of some sentences, in that order, repeats allowed.
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        let select = |state: &Tensor<2>| state.clone().select(0, rows.clone());
        Self {
            layers: self.layers.iter().map(select).collect(),
            fed: self.fed.as_ref().map(select),
            track: self.track.select(rows.clone()),
        }
    }
}

/// What some steps gave.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// What the output is computed from, `[B, T, R]`, before dropout.
    pub readouts: Tensor<3>,
    /// Where each step looked; nothing without attention.
    pub weights: Option<Weights>,
    /// What was drawn to look there; only in training of hard attention.
    pub drawn: Option<Drawn>,
    /// Each sentence's state after its last step; what is fed, only if all have as many.
    pub state: DecoderState,
}

impl Decoder {
    /// The state before the first step, from the encoder's last states `[B, M]`.
    pub fn start(&self, last: Tensor<2>) -> DecoderState {
        let [b, _] = last.dims();
        let device = last.device();
        let first = linear::apply(&self.bridge, last, Activation::Tanh);
        let readout = self.readout.weight.dims()[1];
        DecoderState {
            layers: vec![first; self.layers.len()],
            fed: self.input_feeding.then(|| Tensor::zeros([b, readout], &device)),
            track: Track::default(),
        }
    }

    /// Runs over embedded target tokens `[B, T, E]` of targets with so many steps each (what comes after is of no
    /// use), each step told what came before it.
    ///
    /// Where no step needs what an earlier one saw (timing `after` without input feeding) all steps run
    /// as one; else they run one by one. The results are the same.
    pub fn forward(
        &self,
        embedded: Tensor<3>,
        lengths: &[usize],
        state: DecoderState,
        memory: &Memory,
    ) -> Decoded {
        if self.at_once() {
            return self.steps(embedded, lengths, state, memory);
        }
        let steps = embedded.dims()[1];
        let mut state = state;
        let (mut readouts, mut weights, mut drawn) = (Vec::with_capacity(steps), Vec::new(), Vec::new());
        for t in 0..steps {
            let runs: Vec<usize> = lengths.iter().map(|&length| usize::from(t < length)).collect();
            let decoded = self.steps(embedded.clone().narrow(1, t, 1), &runs, state, memory);
            readouts.push(decoded.readouts);
            weights.extend(decoded.weights);
            drawn.extend(decoded.drawn);
            state = decoded.state;
        }
        let (weights, drawn) = (Weights::cat(weights), Drawn::cat(drawn));
        Decoded { readouts: Tensor::cat(readouts, 1), weights, drawn, state }
    }

    /// Whether no step needs what an earlier one saw.
    pub fn at_once(&self) -> bool {
        self.timing == Timing::After && !self.input_feeding && !self.attention.is_sequential()
    }

    /// Steps whose inputs are all known: any number without feedback, else one.
    fn steps(&self, embedded: Tensor<3>, lengths: &[usize], state: DecoderState, memory: &Memory) -> Decoded {
        let Seen { joined, weights, drawn, layers, track, .. } = self.seen(embedded, lengths, state, memory);
        let readouts = linear::apply(&self.readout, joined, Activation::Tanh);
        let fed = self.input_feeding.then(|| last_step(readouts.clone()));
        Decoded { readouts, weights, drawn, state: DecoderState { layers, fed, track } }
    }

    /// The same up to the readouts.
    fn seen(&self, embedded: Tensor<3>, lengths: &[usize], state: DecoderState, memory: &Memory) -> Seen {
        let mut inputs = vec![embedded.clone()];
        let seen_before = (self.timing == Timing::Before).then(|| {
            let query: Tensor<3> = state.layers[state.layers.len() - 1].clone().unsqueeze_dim(1);
            (self.attention.attend(query.clone(), memory, state.track.clone()), query)
        });
        inputs.extend(seen_before.as_ref().map(|(seen, _)| seen.context.clone()));
        inputs.extend(state.fed.map(|fed| fed.unsqueeze_dim(1)));
        let (top, layers) = self.recur(concatenated(inputs), lengths, &state.layers, state.track.step);
        let (Attended { context, weights, scores, drawn, track }, query, skip) = match seen_before {
            Some((seen, query)) => (seen, query, vec![embedded]),
            None => (self.attention.attend(top.clone(), memory, state.track), top.clone(), vec![]),
        };
        let joined = concatenated([vec![top, context.clone()], skip].concat());
        Seen { joined, weights, drawn, layers, track, query, scores, context }
    }

    /// The GRU layers over inputs `[B, T, I]`: the top layer's states `[B, T, H]`, every layer's last state.
    /// The first of the steps is the `first` of its sentence.
    fn recur(
        &self,
        inputs: Tensor<3>,
        lengths: &[usize],
        start: &[Tensor<2>],
        first: usize,
    ) -> (Tensor<3>, Vec<Tensor<2>>) {
        let mut last = Vec::with_capacity(start.len());
        let mut states = inputs;
        for (layer, (gru, start)) in self.layers.iter().zip(start).enumerate() {
            if layer > 0 {
                states = self.dropout.steps_from(states, layer as u64, first);
            }
            states = gru.sequence(states, start.clone(), lengths, Direction::Forward);
            last.push(last_step(states.clone()));
        }
        (states, last)
    }
}

/// What some steps are about to read out.
struct Seen {
    /// What the readout is made of, `[B, T, H + C]` (after) or `[B, T, H + C + E]` (before).
    joined: Tensor<3>,
    /// Where each step looked; nothing without attention.
    weights: Option<Weights>,
    /// What was drawn to look there.
    drawn: Option<Drawn>,
    /// The state of each layer after the last step.
    layers: Vec<Tensor<2>>,
    /// What attention knows of the steps so far.
    track: Track,
    /// What it looked with, `[B, T, H]`.
    query: Tensor<3>,
    /// How well that matched, `[B, N · T, S]`.
    scores: Option<Tensor<3>>,
    /// What it saw, `[B, T, C]`.
    context: Tensor<3>,
}

fn concatenated(mut parts: Vec<Tensor<3>>) -> Tensor<3> {
    if parts.len() == 1 { parts.remove(0) } else { Tensor::cat(parts, 2) }
}

fn last_step(states: Tensor<3>) -> Tensor<2> {
    let t = states.dims()[1];
    states.narrow(1, t - 1, 1).squeeze_dim(1)
}
