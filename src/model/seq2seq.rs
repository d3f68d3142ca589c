//! Embedding, encoder and decoder as one model.

use burn::module::{Module, ModuleMapper, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::decoder::{Decoded, Decoder, DecoderConfig, DecoderState, Opened, Readouts};
use super::embedding::{Embedding, EmbeddingConfig};
use super::encoder::{Encoder, EncoderConfig};
use super::names::named;
use crate::attention::{AttentionConfig, Memory, Score, Sizes, SourceMask, Weights};
use crate::error::{Error, Result};
use crate::init::{self, Bias, Draw};
use crate::kernels::can_take;
use crate::kernels::cross_entropy::Output;
use crate::kernels::dropout::{Dropout, DropoutKind};
use crate::rng::Rng;

/// How the model is kept from learning by heart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Regularization {
    /// The share of values set to 0 in training: embeddings, between layers, readouts.
    pub dropout: f64,
    /// Which of a sentence's values are dropped together.
    pub dropout_kind: DropoutKind,
    /// The share of words, on both sides, whose vectors are set to 0 in training (Sennrich, Haddow & Birch 2016, "Edinburgh
    /// neural machine translation systems for WMT 16", section 2.4).
    pub word_dropout: f64,
}

/// The configs of all components.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelConfig {
    /// Both embeddings.
    pub embedding: EmbeddingConfig,
    /// The encoder.
    pub encoder: EncoderConfig,
    /// The decoder.
    pub decoder: DecoderConfig,
    /// Attention.
    pub attention: AttentionConfig,
    /// Dropout.
    pub regularization: Regularization,
}

/// How many ids each side has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vocabularies {
    /// Of the source tokenizer.
    pub source: usize,
    /// V, of the target tokenizer.
    pub target: usize,
}

/// Source sentences, padded to the same length.
#[derive(Clone, Debug)]
pub struct SourceBatch {
    /// Ids, `[B, S]`.
    pub ids: Tensor<2, Int>,
    /// How many of a row's ids are real.
    pub lengths: Vec<usize>,
}

/// Target sentences as decoder inputs (each begins with the begin-of-sentence token), padded.
#[derive(Clone, Debug)]
pub struct TargetBatch {
    /// Ids, `[B, T]`.
    pub inputs: Tensor<2, Int>,
    /// Real steps of each.
    pub lengths: Vec<usize>,
    /// Where they stand among the `B · T`, `[N]`.
    pub places: Tensor<1, Int>,
}

/// The translation model.
#[derive(Module, Debug)]
pub struct Seq2Seq {
    /// Vectors of source tokens; without them those of the target tokens are used.
    pub source_embedding: Option<Embedding>,
    /// Vectors of target tokens.
    pub target_embedding: Embedding,
    /// Reads the source.
    pub encoder: Encoder,
    /// Writes the target.
    pub decoder: Decoder,
    /// From readouts to logits, no bias, `[R, V]`; when tied, the target embedding is used instead.
    pub output: Option<Linear>,
    /// On embeddings and readouts, in training.
    pub dropout: Dropout,
    /// On whole embeddings, in training.
    pub word_dropout: Dropout,
}

impl ModelConfig {
    /// A model with fresh weights.
    ///
    /// # Errors
    /// What [`ModelConfig::check`] refuses.
    pub fn init(&self, vocabularies: Vocabularies, rng: &mut Rng, device: &Device) -> Result<Seq2Seq> {
        self.build(vocabularies, &mut Draw::Random(rng), device)
    }

    /// A model without values, for weights that are read from a file right after.
    ///
    /// # Errors
    /// What [`ModelConfig::check`] refuses.
    pub fn blank(&self, vocabularies: Vocabularies, device: &Device) -> Result<Seq2Seq> {
        self.build(vocabularies, &mut Draw::Blank, device)
    }

    fn build(&self, vocabularies: Vocabularies, draw: &mut Draw<'_>, device: &Device) -> Result<Seq2Seq> {
        self.check()?;
        let size = self.embedding.size;
        let Regularization { dropout, dropout_kind, word_dropout } = self.regularization;
        let layers = || Dropout::new(dropout).of(dropout_kind);
        let source_embedding =
            (!self.embedding.shared).then(|| self.embedding.init(vocabularies.source, draw, device));
        let target_embedding = self.embedding.init(vocabularies.target, draw, device);
        let encoder = self.encoder.init(size, layers(), draw, device);
        let sizes = [size, self.encoder.memory_size()];
        let decoder = self.decoder.init(&self.attention, sizes, layers(), draw, device);
        let readout = self.decoder.readout_size(size);
        let output =
            (!self.decoder.tied).then(|| init::linear(draw, [readout, vocabularies.target], Bias::None, device));
        let (dropout, word_dropout) = (layers(), Dropout::new(word_dropout));
        Ok(Seq2Seq { source_embedding, target_embedding, encoder, decoder, output, dropout, word_dropout })
    }

    /// Refuses what can't be built.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        let sizes = [
            ("embedding.size", self.embedding.size),
            ("encoder.hidden", self.encoder.hidden),
            ("encoder.layers", self.encoder.layers),
            ("decoder.hidden", self.decoder.hidden),
            ("decoder.layers", self.decoder.layers),
        ];
        if let Some((key, _)) = sizes.iter().find(|(_, size)| *size == 0) {
            return Err(Error::Config(format!("{key} must be at least 1")));
        }
        let Regularization { dropout, word_dropout, .. } = self.regularization;
        for (key, share) in [("dropout", dropout), ("word_dropout", word_dropout)] {
            if !(0.0..1.0).contains(&share) {
                return Err(Error::Config(format!(
                    "model.{key} is {share}; it must be at least 0 and less than 1"
                )));
            }
        }
        self.attention.check(Sizes { query: self.decoder.hidden, memory: self.encoder.memory_size() })
    }
}

impl SourceBatch {
    /// Pads sentences with id 0.
    pub fn new(sentences: &[&[usize]], device: &Device) -> Self {
        Self { ids: padded(sentences, device), lengths: sentences.iter().map(|ids| ids.len()).collect() }
    }
}

impl TargetBatch {
    /// Pads decoder inputs with id 0.
    pub fn new(inputs: &[&[usize]], device: &Device) -> Self {
        let padded = padded(inputs, device);
        let [b, steps] = padded.dims();
        let lengths: Vec<usize> = inputs.iter().map(|ids| ids.len()).collect();
        let places: Vec<i64> =
            (0..b).flat_map(|row| (0..lengths[row]).map(move |t| (row * steps + t) as i64)).collect();
        let tokens = places.len();
        Self { inputs: padded, lengths, places: Tensor::from_data(TensorData::new(places, [tokens]), device) }
    }
}

fn padded(sentences: &[&[usize]], device: &Device) -> Tensor<2, Int> {
    let longest = sentences.iter().map(|ids| ids.len()).max().unwrap_or(0);
    let mut ids = vec![crate::text::PAD as i64; sentences.len() * longest];
    for (row, sentence) in ids.chunks_mut(longest.max(1)).zip(sentences) {
        row.iter_mut().zip(*sentence).for_each(|(slot, &id)| *slot = id as i64);
    }
    Tensor::from_data(TensorData::new(ids, [sentences.len(), longest]), device)
}

impl Seq2Seq {
    /// Refuses a source that this model can't attend to: `location` has a last position.
    ///
    /// # Errors
    /// Names both lengths and the key that sets the limit.
    pub fn check_length(&self, tokens: usize) -> Result<()> {
        match self.most_positions() {
            Some(most) if tokens > most => Err(Error::Model(format!(
                "a source of {tokens} tokens is longer than attention.max_positions = {most}, which `location` can't pass"
            ))),
            _ => Ok(()),
        }
    }

    /// The most tokens that a source may have, its end counted, if there is a limit.
    pub fn most_positions(&self) -> Option<usize> {
        match &self.decoder.attention.score {
            Some(Score::Location(score)) => Some(score.max_positions()),
            _ => None,
        }
    }

    /// Refuses ids that the model has no vectors for: some devices would read zeros, or another token's vector, without a
    /// word.
    ///
    /// # Errors
    /// Names the id and how many there are.
    pub fn check_ids(&self, source: &[usize], target: &[usize]) -> Result<()> {
        let sides = [("source", source, self.source_vectors()), ("target", target, &self.target_embedding)];
        for (side, ids, embedding) in sides {
            let tokens = embedding.weight.shape()[0];
            if let Some(id) = ids.iter().find(|&&id| id >= tokens) {
                return Err(Error::Model(format!(
                    "the {side} token id {id} is not one of the model's {tokens}: were tokenizer and model made together?"
                )));
            }
        }
        Ok(())
    }

    /// What the source's tokens are looked up in.
    pub fn source_vectors(&self) -> &Embedding {
        self.source_embedding.as_ref().unwrap_or(&self.target_embedding)
    }

    /// Vectors of ids `[B, T]`, some dropped in training.
    fn embedded(&self, vectors: &Embedding, ids: Tensor<2, Int>, place: u64) -> Tensor<3> {
        self.word_dropout.vectors(self.dropout.steps(vectors.forward(ids), place), place)
    }

    /// Reads the source: what the decoder looks at, and its first state.
    pub fn encode(&self, source: &SourceBatch) -> (Memory, DecoderState) {
        let embedded = self.embedded(self.source_vectors(), source.ids.clone(), SOURCE);
        let positions = embedded.dims()[1];
        let mask = SourceMask::from_lengths(&source.lengths, positions, &embedded.device());
        let encoded = self.encoder.forward(embedded, &source.lengths);
        let state = self.decoder.start(encoded.last.clone());
        (self.decoder.attention.remember(encoded.states, mask, encoded.last), state)
    }

    /// Runs the decoder over target inputs `[B, T]`: readouts `[B, T, R]`, weights, the last state.
    pub fn decode(&self, target: &TargetBatch, state: DecoderState, memory: &Memory) -> Decoded {
        let embedded = self.embedded(&self.target_embedding, target.inputs.clone(), TARGET);
        self.decoder.forward(embedded, &target.lengths, state, memory)
    }

    /// One step over target inputs `[B, 1]`, laid open.
    pub fn open(&self, target: &TargetBatch, state: DecoderState, memory: &Memory) -> Opened {
        let embedded = self.embedded(&self.target_embedding, target.inputs.clone(), TARGET);
        self.decoder.open(embedded, state, memory)
    }

    /// The readouts alone, of the real steps `[N, R]` of targets from their beginning: what training needs.
    pub fn readouts(&self, target: &TargetBatch, state: DecoderState, memory: &Memory) -> Readouts {
        let embedded = self.embedded(&self.target_embedding, target.inputs.clone(), TARGET);
        self.decoder.readouts(embedded, &target.lengths, target.places.clone(), state, memory)
    }

    /// The same with where each step looked.
    pub fn watched(
        &self,
        target: &TargetBatch,
        state: DecoderState,
        memory: &Memory,
    ) -> (Readouts, Option<Weights>) {
        let embedded = self.embedded(&self.target_embedding, target.inputs.clone(), TARGET);
        self.decoder.watched(embedded, &target.lengths, target.places.clone(), state, memory)
    }

    /// A copy for one step of training, with the noise of a seed: dropout's, and what attention draws. It has a graph of its own, so that
    /// gradients of several copies can be computed at the same time.
    pub fn noisy(&self, seed: u64) -> Self {
        let weight = self.target_embedding.weight.val();
        if !can_take(&weight) {
            // There the device draws the noise.
            weight.device().seed(seed);
        }
        let mut copy = self.clone().map(&mut OwnGraph);
        let mut seeds = Rng::new(seed, 0);
        copy.dropout = copy.dropout.noisy(seeds.bits());
        copy.encoder.dropout = copy.encoder.dropout.noisy(seeds.bits());
        copy.decoder.dropout = copy.decoder.dropout.noisy(seeds.bits());
        copy.decoder.attention = copy.decoder.attention.noisy(seeds.bits());
        copy.word_dropout = copy.word_dropout.noisy(seeds.bits());
        copy
    }

    /// Readouts `[N, R]` of targets with so many real steps each, as the loss is given them: some dropped in training.
    pub fn regularized(&self, readouts: Tensor<2>, steps: &[usize]) -> Tensor<2> {
        self.dropout.real_steps(readouts, steps, READOUTS)
    }

    /// What makes logits of readouts (after dropout).
    pub fn output(&self) -> Output {
        match &self.output {
            Some(output) => Output::Own(output.weight.val()),
            None => Output::Tied(self.target_embedding.weight.val()),
        }
    }

    /// Every parameter's name and how many numbers it has.
    pub fn parameters(&self) -> Vec<(String, usize)> {
        named(self).into_iter().map(|param| (param.name.clone(), param.values())).collect()
    }
}

/// Dropout's places in [`Seq2Seq`].
const SOURCE: u64 = 0;
const TARGET: u64 = 1;
const READOUTS: u64 = 2;

/// Makes every parameter a leaf that no other graph knows; one that does not learn stays one.
struct OwnGraph;

impl ModuleMapper for OwnGraph {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let learns = tensor.is_require_grad();
        Param::from_mapped_value(id, Tensor::from_inner(tensor.inner()).set_require_grad(learns), mapper)
    }
}
