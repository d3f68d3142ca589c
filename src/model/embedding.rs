//! Vectors for tokens.

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use crate::init::{Draw, uniform};

/// The sizes of both embeddings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// E, on both sides.
    pub size: usize,
    /// Whether source and target have the same vectors; with `decoder.tied` the output has them too (Press & Wolf 2017,
    /// section 3, "three-way").
    pub shared: bool,
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { size: 128, shared: false }
    }
}

/// A table of vectors.
#[derive(Module, Debug)]
pub struct Embedding {
    /// `[V, E]`.
    pub weight: Param<Tensor<2>>,
}

impl EmbeddingConfig {
    /// Fresh vectors for `tokens` ids: uniform with the variance 1/E, so that a tied table also makes
    /// sensible first logits. (Larger ones learn faster in the first epoch and worse afterwards:
    /// docs/experiments.md.)
    pub fn init(&self, tokens: usize, draw: &mut Draw<'_>, device: &Device) -> Embedding {
        let bound = (3.0 / self.size as f64).sqrt();
        Embedding { weight: Param::from_tensor(uniform(draw, [tokens, self.size], bound, device)) }
    }
}

impl Embedding {
    /// The vectors of ids: `[B, T]` → `[B, T, E]`.
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        burn::tensor::module::embedding(self.weight.val(), ids)
    }
}
