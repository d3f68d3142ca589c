//! How much a model has to compute: what speed is measured against.

use burn::nn::Linear;

use super::decoder::Decoder;
use super::encoder::Encoder;
use super::gru::Gru;
use super::seq2seq::Seq2Seq;
use crate::attention::{Sizes, score};

/// Sentence pairs, as far as arithmetic depends on them. Padding is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Pairs.
    pub pairs: usize,
    /// Source tokens.
    pub source_tokens: usize,
    /// Target tokens.
    pub target_tokens: usize,
    /// Σ source tokens · target tokens: how many places are looked at.
    pub looks: usize,
}

impl Work {
    /// The work of pairs of source and target lengths.
    pub fn of(pairs: impl Iterator<Item = (usize, usize)>) -> Self {
        pairs.fold(Self::default(), |work, (s, t)| Self {
            pairs: work.pairs + 1,
            source_tokens: work.source_tokens + s,
            target_tokens: work.target_tokens + t,
            looks: work.looks + s * t,
        })
    }
}

impl std::ops::Add for Work {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            pairs: self.pairs + other.pairs,
            source_tokens: self.source_tokens + other.source_tokens,
            target_tokens: self.target_tokens + other.target_tokens,
            looks: self.looks + other.looks,
        }
    }
}

impl Seq2Seq {
    /// Floating-point operations of matrix products and attention in one training step: two for each
    /// multiply-add, three products (forward, and two backward) for each one forward.
    pub fn training_flops(&self, work: Work) -> f64 {
        let [source, target, looks] = [work.source_tokens, work.target_tokens, work.looks].map(|n| n as f64);
        let output = self.output.as_ref().map_or(&self.target_embedding.weight, |output| &output.weight);
        let forward = source * encoder(&self.encoder)
            + work.pairs as f64 * numbers(self.decoder.bridge.weight.dims())
            + source * keys(&self.decoder)
            + target * decoder(&self.decoder)
            + looks * look(&self.decoder)
            + target * numbers(output.dims());
        6.0 * forward
    }
}

fn numbers([a, b]: [usize; 2]) -> f64 {
    a as f64 * b as f64
}

fn optional(linear: &Option<Linear>) -> f64 {
    linear.as_ref().map_or(0.0, |linear| numbers(linear.weight.dims()))
}

fn gru(gru: &Gru) -> f64 {
    numbers(gru.input_weight.dims()) + numbers(gru.hidden_weight.dims())
}

/// Multiply-adds a source token.
fn encoder(encoder: &Encoder) -> f64 {
    encoder.layers.iter().map(|layer| gru(&layer.forward) + layer.backward.as_ref().map_or(0.0, gru)).sum()
}

/// Multiply-adds a source token for keys and values.
fn keys(decoder: &Decoder) -> f64 {
    let attention = &decoder.attention;
    let projected = attention
        .projections
        .as_ref()
        .map_or(0.0, |projections| optional(&projections.key) + numbers(projections.value.weight.dims()));
    projected + (attention.heads() * score(decoder).key) as f64
}

/// What a head's score function costs.
fn score(decoder: &Decoder) -> score::Work {
    decoder.attention.score.as_ref().map_or_else(score::Work::default, |score| score.work(sizes(decoder)))
}

/// The sizes that a score function connects: those of the model, or of one head.
fn sizes(decoder: &Decoder) -> Sizes {
    match &decoder.attention.projections {
        Some(projections) => projections.inside(),
        None => {
            Sizes { query: decoder.layers.first().map_or(0, Gru::hidden), memory: decoder.bridge.weight.dims()[0] }
        }
    }
}

/// Multiply-adds a target token, the output and the looks left out.
fn decoder(decoder: &Decoder) -> f64 {
    let attention = &decoder.attention;
    let placed = attention.window.position.as_ref().map_or(0.0, |position| numbers(position.hidden.weight.dims()));
    let projected = attention
        .projections
        .as_ref()
        .map_or(0.0, |projections| optional(&projections.query) + optional(&projections.output));
    let asking = projected + attention.heads() as f64 * (score(decoder).query as f64 + placed);
    decoder.layers.iter().map(gru).sum::<f64>() + asking + numbers(decoder.readout.weight.dims())
}

/// Multiply-adds a target token and source token: the score, and the sum of values.
fn look(decoder: &Decoder) -> f64 {
    let attention = &decoder.attention;
    match attention.score {
        Some(_) => (attention.heads() * (score(decoder).pair + sizes(decoder).memory)) as f64,
        None => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::model::{ModelConfig, Vocabularies};
    use crate::rng::Rng;

    /// Every size is another one, so that no two can be mixed up.
    #[test]
    fn counted_by_hand() {
        let mut config = ModelConfig::default();
        config.embedding.size = 6;
        config.encoder.hidden = 5;
        config.decoder.hidden = 7;
        let vocabularies = Vocabularies { source: 11, target: 13 };
        let model = config.init(vocabularies, &mut Rng::new(1, 0), &Device::flex()).unwrap();
        // Two pairs: 3 source and 4 target tokens, 5 and 6.
        let work = Work::of([(3, 4), (5, 6)].into_iter());
        assert_eq!(work, Work { pairs: 2, source_tokens: 8, target_tokens: 10, looks: 42 });
        // E 6, encoder 2 × 5, decoder 7, general: keys 10 × 7, readout 17 → 7.
        let per_source = 2 * (6 * 15 + 5 * 15) + 10 * 7;
        let per_target = 6 * 21 + 7 * 21 + 17 * 7 + 7 * 13;
        let forward = 8 * per_source + 2 * 10 * 7 + 10 * per_target + 42 * (7 + 10);
        assert_eq!(model.training_flops(work), 6.0 * f64::from(forward));
    }
}
