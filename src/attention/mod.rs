//! Attention in three steps: **score** how well the query matches each key, **normalise** the scores into
//! weights, **sum** the values by weight. The steps are written once, in [`Attention::attend`]; what
//! varies is the score function ([`score`]).
//!
//! Letters: B sentences, T queries (target positions), S source positions, H query size, M memory size,
//! K key size, C context size.

pub mod mask;
pub mod score;

use burn::module::Module;
use burn::tensor::{Device, Int, Tensor, assert_shape};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::init::Draw;
pub use mask::SourceMask;
pub use score::{Score, ScoreKind};

/// What attention is made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttentionConfig {
    /// How a query matches a key; `none` is the single fixed context vector.
    pub score: ScoreKind,
    /// K, the size in which queries and keys are compared (additive, concat, scaled-dot).
    pub size: usize,
    /// The longest source that `location` can point into, in tokens with the end of the sentence.
    pub max_positions: usize,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        Self { score: ScoreKind::General, size: 128, max_positions: 128 }
    }
}

/// The sizes that attention connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// H, the size of a query (the decoder's state).
    pub query: usize,
    /// M, the size of a memory row (the encoder's output).
    pub memory: usize,
}

/// A learned way to look at the source, or (`none`) the lack of one.
#[derive(Module, Debug)]
pub struct Attention {
    /// The score function; without one every step sees the same summary of the source.
    pub score: Option<Score>,
}

/// A source sentence ready to be looked at: keys are projected once, not once a step.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What queries are compared with, `[B, S, K]`.
    pub keys: Tensor<3>,
    /// What is summed, `[B, S, C]`.
    pub values: Tensor<3>,
    /// Which positions are padding.
    pub mask: SourceMask,
    /// The whole source in one vector, `[B, M]`: the context of a model without attention.
    pub summary: Tensor<2>,
}

/// What a look at the source gave.
#[derive(Clone, Debug)]
pub struct Attended {
    /// The weighted sum of the values, `[B, T, C]`.
    pub context: Tensor<3>,
    /// Where it looked, `[B, T, S]`; rows sum to 1 and padding is exactly 0. Without attention: nothing.
    pub weights: Option<Tensor<3>>,
}

impl AttentionConfig {
    /// Refuses sizes that the score function can't connect.
    ///
    /// # Errors
    /// Names the keys and what to change.
    pub fn check(&self, sizes: Sizes) -> Result<()> {
        match self.score {
            ScoreKind::Dot => score::dot::Dot::check(sizes),
            _ => Ok(()),
        }
    }

    /// Attention with fresh weights. What [`AttentionConfig::check`] refuses must not come here.
    pub fn init(&self, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Attention {
        Attention { score: Score::init(self, sizes, draw, device) }
    }
}

impl Attention {
    /// C, the size of a context vector.
    pub fn context_size(&self, memory: usize) -> usize {
        self.score.as_ref().map_or(memory, |score| score.value_size(memory))
    }

    /// Projects an encoded source `[B, S, M]` into keys and values.
    pub fn remember(&self, encoded: Tensor<3>, mask: SourceMask, summary: Tensor<2>) -> Memory {
        let (keys, values) = match &self.score {
            Some(score) => (score.keys(encoded.clone()), score.values(encoded)),
            None => (encoded.clone(), encoded),
        };
        Memory { keys, values, mask, summary }
    }

    /// Looks at the source with queries `[B, T, H]`: score, normalise, sum.
    pub fn attend(&self, query: Tensor<3>, memory: &Memory) -> Attended {
        let [b, t, _] = query.dims();
        let Some(score) = &self.score else {
            let size = memory.summary.dims()[1];
            let context = memory.summary.clone().unsqueeze_dim::<3>(1).expand([b, t, size]);
            return Attended { context, weights: None };
        };
        let scores = score.scores(query, memory.keys.clone());
        assert_shape!(scores, [b, t, memory.values.dims()[1]]);
        let weights = memory.mask.softmax(scores);
        let context = weights.clone().matmul(memory.values.clone());
        Attended { context, weights: Some(weights) }
    }
}

impl Memory {
    /// The memories of some sentences, in that order, repeats allowed (hypotheses of a beam).
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        Self {
            keys: self.keys.clone().select(0, rows.clone()),
            values: self.values.clone().select(0, rows.clone()),
            mask: self.mask.select(rows.clone()),
            summary: self.summary.clone().select(0, rows),
        }
    }
}
