//! Vectors for tokens.

use burn::module::Param;
use burn::nn::Embedding;
use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::init::uniform;
use crate::rng::Rng;

/// The sizes of both embeddings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// E, on both sides.
    pub size: usize,
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { size: 128 }
    }
}

impl EmbeddingConfig {
    /// Fresh vectors for `tokens` ids: uniform with the variance 1/E, so that a tied table also makes
    /// sensible first logits.
    pub fn init(&self, tokens: usize, rng: &mut Rng, device: &Device) -> Embedding {
        let bound = (3.0 / self.size as f64).sqrt();
        Embedding { weight: Param::from_tensor(uniform(rng, [tokens, self.size], bound, device)) }
    }
}
