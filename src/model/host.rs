//! The model as search sees it on flex: the decoder's step on slices ([`crate::kernels::attentive::Cell`]), its
//! weights laid out once (after the first few sentences), keys and values computed once a sentence, rows moved
//! without what did not change.
//!
//! In 32 bits the same numbers as [`super::stepper::ModelStepper`]'s, which takes every model on every device.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::Tensor;
use rayon::prelude::*;

use super::seq2seq::{Seq2Seq, SourceBatch};
use crate::kernels::attentive::{Cell, Given, Left, Plan, Sizes, Source, can_take};
use crate::kernels::cross_entropy::Output;
use crate::kernels::gru::ResetForm;
use crate::kernels::product::{Form, Matrix, Precision, Right, Write};
use crate::kernels::{Values, log_softmax};
use crate::search::{Step, Stepper};

/// A model with its weights in a form for decoding.
#[derive(Debug)]
pub struct HostModel {
    cell: Cell,
    /// Vectors of target tokens, `[V, E]`.
    embedding: Values,
    /// From the embedding to the gates, `[E, 3H]`, and b.
    gates: (Right, Vec<f32>),
    /// From the embedding to the readout (timing `before`), and the readout's bias.
    readout: (Option<Right>, Vec<f32>),
    /// `[R, V]`, some columns for each core.
    output: Vec<Right>,
    embedding_size: usize,
}

/// A model's weights in every form, each when it is first asked for.
#[derive(Debug, Default)]
pub struct LaidOut {
    plain: OnceLock<Option<HostModel>>,
    packed: OnceLock<Option<HostModel>>,
    int8: OnceLock<Option<HostModel>>,
    /// Sentences that were asked about.
    sentences: AtomicUsize,
}

/// Sentences that are translated with weights as they lie: laying them out takes about as long as one or two.
const FIRST: usize = 2;

impl LaidOut {
    /// The weights of this model (always the same one) for so many sentences, if the kernels know all of its
    /// parts.
    pub fn get(&self, model: &Seq2Seq, precision: Precision, sentences: usize) -> Option<&HostModel> {
        let before = self.sentences.fetch_add(sentences, Ordering::Relaxed);
        let (slot, form) = match precision {
            Precision::F32 if before + sentences <= FIRST => (&self.plain, Form::Plain),
            Precision::F32 => (&self.packed, Form::Packed),
            Precision::Int8 => (&self.int8, Form::Int8),
        };
        let lay_out = || {
            let laid = HostModel::new(model, form);
            if laid.is_none() && precision == Precision::Int8 {
                tracing::warn!("this model or device has no 8-bit weights: it translates in 32 bits");
            }
            laid
        };
        slot.get_or_init(lay_out).as_ref()
    }
}

/// One batch being written.
#[derive(Debug)]
pub struct HostStepper<'a> {
    host: &'a HostModel,
    /// `[B, S, K]`.
    keys: Option<Values>,
    /// `[B, S, C]`.
    values: Option<Values>,
    /// The context of a model without attention, `[B, C]`.
    summaries: Values,
    lengths: Vec<usize>,
    /// S.
    positions: usize,
    /// Cores that share a step: its rows, then the output's columns.
    cores: usize,
}

/// Where each row is.
#[derive(Clone, Debug)]
pub struct HostState {
    /// `[N, H]`.
    state: Vec<f32>,
    /// `[N, R]`.
    fed: Vec<f32>,
    /// Which sentence a row translates.
    sentence: Vec<usize>,
}

impl HostModel {
    /// The weights of a model without gradients, if the kernels know all of its parts: on flex in 32 bits, one
    /// decoder layer with the reset gate after, any score but `linear` and `location`.
    pub fn new(model: &Seq2Seq, form: Form) -> Option<Self> {
        let lay = |weight: Tensor<2>| Right::of(weight, form);
        let decoder = &model.decoder;
        let [gru] = decoder.layers.as_slice() else { return None };
        let matcher = match &decoder.attention.score {
            Some(score) => Some(score.matcher(gru.hidden())?),
            None => None,
        };
        let weight = gru.input_weight.val();
        if gru.reset != ResetForm::ResetAfter || !can_take(&weight) || weight.device().is_autodiff() {
            return None;
        }
        let (h, e) = (gru.hidden(), model.target_embedding.weight.dims()[1]);
        let memory = decoder.bridge.weight.dims()[0];
        let c = decoder.attention.context_size(memory);
        let [joined, r] = decoder.readout.weight.dims();
        let key = match &matcher {
            Some(matcher) => matcher.query.as_ref().map_or(h, |query| query.dims()[1]),
            None => 0,
        };
        let plan = Plan {
            timing: decoder.timing,
            feeding: decoder.input_feeding,
            matching: matcher.as_ref().map(|matcher| matcher.matching),
            sizes: Sizes { hidden: h, key, context: c, readout: r },
        };
        let readout = decoder.readout.weight.val();
        let (query, energy) = matcher.map_or((None, None), |matcher| (matcher.query, matcher.energy));
        let cell = Cell {
            plan,
            recurrent: lay(gru.hidden_weight.val()),
            bias: host(gru.hidden_bias.val()),
            extra: (plan.extra() > 0).then(|| lay(weight.clone().narrow(0, e, plan.extra()))),
            query: query.map(lay),
            energy: energy.map_or_else(Vec::new, host),
            readout: Some(lay(readout.clone().narrow(0, 0, h + c))),
        };
        let bias = decoder.readout.bias.as_ref().map_or_else(|| vec![0.0; r], |bias| host(bias.val()));
        let skip = (joined > h + c).then(|| lay(readout.narrow(0, h + c, joined - h - c)));
        let output = match model.output() {
            Output::Own(weight) => weight,
            Output::Tied(weight) => weight.transpose(),
        };
        Some(Self {
            cell,
            embedding: Values::of(model.target_embedding.weight.val()),
            gates: (lay(weight.narrow(0, 0, e)), host(gru.input_bias.val())),
            readout: (skip, bias),
            output: parts(output).into_iter().map(lay).collect(),
            embedding_size: e,
        })
    }

    /// Reads the sources with the model that the weights are of: one row each. So many `cores` share a
    /// step.
    pub fn start(&self, model: &Seq2Seq, batch: &SourceBatch, cores: usize) -> (HostStepper<'_>, HostState) {
        let (memory, state) = model.encode(batch);
        let (b, positions) = (batch.lengths.len(), memory.values.dims()[1]);
        let state = state.layers.into_iter().next().map_or_else(Vec::new, host);
        let fed = vec![0.0; b * self.cell.plan.sizes.readout];
        let attends = self.cell.plan.matching.is_some();
        let stepper = HostStepper {
            host: self,
            keys: attends.then(|| Values::of(memory.keys)),
            values: attends.then(|| Values::of(memory.values)),
            summaries: Values::of(memory.summary),
            lengths: batch.lengths.clone(),
            positions,
            cores,
        };
        (stepper, HostState { state, fed, sentence: (0..b).collect() })
    }
}

/// What one core's rows gave.
struct Share {
    state: Vec<f32>,
    readouts: Vec<f32>,
    weights: Vec<f32>,
}

impl Stepper for HostStepper<'_> {
    type State = HostState;

    fn vocabulary(&self) -> usize {
        self.host.output.iter().map(Right::columns).sum()
    }

    fn step(&mut self, rows: HostState, last: &[usize]) -> Step<HostState> {
        let share = last.len().div_ceil(self.cores).max(1);
        let shares: Vec<Share> =
            last.par_chunks(share).enumerate().map(|(i, last)| self.step_rows(&rows, i * share, last)).collect();
        let all = |of: fn(&Share) -> &[f32]| shares.iter().map(of).collect::<Vec<_>>().concat();
        let attention = match self.host.cell.plan.matching {
            Some(_) => shares
                .iter()
                .flat_map(|share| share.weights.chunks(self.positions.max(1)))
                .map(<[f32]>::to_vec)
                .collect(),
            None => Vec::new(),
        };
        let state = HostState { state: all(|s| &s.state), fed: all(|s| &s.readouts), sentence: rows.sentence };
        Step { log_probs: self.log_probs(&state.fed, last.len()), attention, state }
    }

    fn select(&self, rows: HostState, order: &[usize]) -> HostState {
        let Sizes { hidden: h, readout: r, .. } = self.host.cell.plan.sizes;
        let gather = |values: &[f32], width: usize| -> Vec<f32> {
            order.iter().flat_map(|&row| &values[row * width..][..width]).copied().collect()
        };
        HostState {
            state: gather(&rows.state, h),
            fed: gather(&rows.fed, r),
            sentence: order.iter().map(|&row| rows.sentence[row]).collect(),
        }
    }
}

impl HostStepper<'_> {
    /// What a row looks at.
    fn source(&self, sentence: usize) -> Source<'_> {
        let Sizes { key: k, context: c, .. } = self.host.cell.plan.sizes;
        let (Some(keys), Some(values)) = (&self.keys, &self.values) else {
            return Source { keys: &[], values: &[] };
        };
        let (first, length) = (sentence * self.positions, self.lengths[sentence]);
        Source { keys: &keys[first * k..][..length * k], values: &values[first * c..][..length * c] }
    }

    /// Readouts `[N, R]` → log-probabilities `[N, V]`. Cores that share a step take columns, so that each reads
    /// only its part of the weights.
    fn log_probs(&self, readouts: &[f32], rows: usize) -> Vec<f32> {
        let (v, r) = (self.vocabulary(), self.host.cell.plan.sizes.readout);
        let mut log_probs = vec![0.0; rows * v];
        let readouts = Matrix::new(readouts, [rows, r]);
        if self.cores == 1 {
            let mut first = 0;
            for part in &self.host.output {
                part.multiply(readouts, &mut log_probs[first..], v, Write::Replace);
                first += part.columns();
            }
            log_probs.chunks_mut(v).for_each(log_softmax);
            return log_probs;
        }
        let multiply = |part: &Right| {
            let mut logits = vec![0.0; rows * part.columns()];
            part.multiply(readouts, &mut logits, part.columns(), Write::Replace);
            logits
        };
        let found: Vec<Vec<f32>> = self.host.output.par_iter().map(multiply).collect();
        log_probs.par_chunks_mut(v).enumerate().for_each(|(i, row)| {
            let mut rest = &mut *row;
            for logits in &found {
                let columns = logits.len() / rows;
                let (slots, after) = rest.split_at_mut(columns);
                slots.copy_from_slice(&logits[i * columns..][..columns]);
                rest = after;
            }
            log_softmax(row);
        });
        log_probs
    }

    /// One core's rows: from their last tokens to readouts.
    fn step_rows(&self, rows: &HostState, first: usize, last: &[usize]) -> Share {
        let HostModel { cell, embedding, gates, readout, embedding_size: e, .. } = self.host;
        let Sizes { hidden: h, key: k, context: c, readout: r } = cell.plan.sizes;
        let (n, e) = (last.len(), *e);
        let sentences = &rows.sentence[first..][..n];
        let embedded: Vec<f32> = last.iter().flat_map(|&id| &embedding[id * e..][..e]).copied().collect();
        let embedded = Matrix::new(&embedded, [n, e]);
        let mut said = gates.1.repeat(n);
        gates.0.multiply(embedded, &mut said, 3 * h, Write::Add);
        let mut given = readout.1.repeat(n);
        if let Some(skip) = &readout.0 {
            skip.multiply(embedded, &mut given, r, Write::Add);
        }
        let sources: Vec<Source<'_>> = sentences.iter().map(|&sentence| self.source(sentence)).collect();
        let mut context = match cell.plan.matching {
            Some(_) => vec![0.0; n * c],
            None => sentences.iter().flat_map(|&i| &self.summaries[i * c..][..c]).copied().collect(),
        };
        let positions = if cell.plan.matching.is_some() { self.positions } else { 0 };
        let mut share =
            Share { state: vec![0.0; n * h], readouts: vec![0.0; n * r], weights: vec![0.0; n * positions] };
        let state = &rows.state[first * h..][..n * h];
        let given = Given {
            gates: &said,
            readout: &given,
            state,
            fed: &rows.fed[first * r..][..n * r],
            sources: &sources,
        };
        cell.step(
            given,
            &mut Left {
                state: &mut share.state,
                gates: &mut vec![0.0; n * 4 * h],
                query: &mut vec![0.0; n * k],
                weights: &mut share.weights,
                context: &mut context,
                extra: &mut vec![0.0; n * cell.plan.extra()],
                readout: &mut share.readouts,
            },
        );
        share
    }
}

/// The columns of a matrix in a part for each core, up to [`PARTS`].
fn parts(matrix: Tensor<2>) -> Vec<Tensor<2>> {
    let columns = matrix.dims()[1];
    let part = columns.div_ceil(rayon::current_num_threads().min(PARTS)).next_multiple_of(GRAIN);
    (0..columns).step_by(part).map(|first| matrix.clone().narrow(1, first, part.min(columns - first))).collect()
}

/// More would each do too little, and in 8 bits every part rounds the left side anew.
const PARTS: usize = 4;

/// Columns of a part come in multiples of this.
const GRAIN: usize = 64;

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    Values::of(tensor).to_vec()
}
