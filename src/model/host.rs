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
use crate::kernels::attentive::{Cell, Given, Left, Plan, Sizes, Source};
use crate::kernels::cross_entropy::Output;
use crate::kernels::gru::ResetForm;
use crate::kernels::log_probs::{BLOCK, LogProbs, Part};
use crate::kernels::product::{Form, Matrix, Precision, Right, Write, by_columns};
use crate::kernels::{Values, can_take, gather};
use crate::search::{Look, Step, Stepper};

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
    /// `[R, V]`, some columns at a time.
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
    /// decoder layer with the reset gate after, and attention that they know ([`crate::attention::Attention::matcher`]).
    pub fn new(model: &Seq2Seq, form: Form) -> Option<Self> {
        let lay = |weight: Tensor<2>| Right::of(weight, form);
        let decoder = &model.decoder;
        let [gru] = decoder.layers.as_slice() else { return None };
        let matcher = match &decoder.attention.score {
            Some(_) => Some(decoder.attention.matcher(gru.hidden())?),
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
            output: parts(output, form).into_iter().map(lay).collect(),
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

    fn step(&mut self, rows: HostState, last: &[usize]) -> Step<HostState> {
        let share = last.len().div_ceil(self.cores).max(1);
        let shares: Vec<Share> =
            last.par_chunks(share).enumerate().map(|(i, last)| self.step_rows(&rows, i * share, last)).collect();
        let attention = match self.host.cell.plan.matching {
            Some(_) => shares
                .iter()
                .flat_map(|share| share.weights.chunks(self.positions.max(1)))
                .map(|row| Look::single(row.to_vec()))
                .collect(),
            None => Vec::new(),
        };
        let (mut state, mut fed) = (Vec::new(), Vec::new());
        for share in shares {
            append(&mut state, share.state);
            append(&mut fed, share.readouts);
        }
        let state = HostState { state, fed, sentence: rows.sentence };
        let readouts = Matrix::new(&state.fed, [last.len(), self.host.cell.plan.sizes.readout]);
        let parts = by_columns(readouts, &self.host.output, self.cores, Part::new);
        Step { log_probs: LogProbs::of_logits(parts, last.len()), attention, state }
    }

    fn select(&self, rows: HostState, order: &[usize]) -> HostState {
        let Sizes { hidden: h, readout: r, .. } = self.host.cell.plan.sizes;
        HostState {
            state: gather(&rows.state, h, order),
            fed: gather(&rows.fed, r, order),
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

    /// One core's rows: from their last tokens to readouts.
    fn step_rows(&self, rows: &HostState, first: usize, last: &[usize]) -> Share {
        let HostModel { cell, embedding, gates, readout, embedding_size: e, .. } = self.host;
        let Sizes { hidden: h, key: k, context: c, readout: r } = cell.plan.sizes;
        let (n, e) = (last.len(), *e);
        let sentences = &rows.sentence[first..][..n];
        let embedded = gather(embedding, e, last);
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
            None => gather(&self.summaries, c, sentences),
        };
        let positions = if cell.plan.matching.is_some() { self.positions } else { 0 };
        let mut share =
            Share { state: vec![0.0; n * h], readouts: vec![0.0; n * r], weights: vec![0.0; n * positions] };
        let state = &rows.state[first * h..][..n * h];
        let given =
            Given { gates: said, readout: &given, state, fed: &rows.fed[first * r..][..n * r], sources: &sources };
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

/// The columns of a matrix in parts. Laid out, a part is as wide as its logits can be looked at while they are in
/// the cache; as it lies, wide rows are read the faster, and there is one for each core.
fn parts(matrix: Tensor<2>, form: Form) -> Vec<Tensor<2>> {
    let columns = matrix.dims()[1];
    let part = match form {
        Form::Plain => columns.div_ceil(rayon::current_num_threads()).next_multiple_of(BLOCK),
        Form::Packed | Form::Int8 => BLOCK,
    };
    (0..columns).step_by(part).map(|first| matrix.clone().narrow(1, first, part.min(columns - first))).collect()
}

/// Without a copy where there is nothing to join.
fn append(values: &mut Vec<f32>, more: Vec<f32>) {
    if values.is_empty() {
        *values = more;
    } else {
        values.extend(more);
    }
}

fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    Values::of(tensor).to_vec()
}
