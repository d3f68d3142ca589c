//! Vectors for tokens.

use burn::module::{Module, Param};
use burn::tensor::{Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use crate::init::{Draw, uniform};

/// What both embeddings are made of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EmbeddingConfig {
    /// E, on both sides.
    pub size: usize,
    /// What vectors are multiplied by when they are read.
    pub scale: Scale,
}

/// What vectors are multiplied by when they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// 1.
    #[default]
    One,
    /// √E (Vaswani et al. 2017, "Attention is all you need", section 3.4): the recurrent layers hear inputs of
    /// variance 1 from the first step on, and a tied table still makes sensible first logits.
    Root,
}

impl Default for EmbeddingConfig {
    fn default() -> Self {
        Self { size: 128, scale: Scale::One }
    }
}

/// A table of vectors.
#[derive(Module, Debug)]
pub struct Embedding {
    /// `[V, E]`.
    pub weight: Param<Tensor<2>>,
    /// What vectors are multiplied by when they are read.
    #[module(skip)]
    pub scale: Scale,
}

impl EmbeddingConfig {
    /// Fresh vectors for `tokens` ids: uniform with the variance 1/E, so that a tied table also makes
    /// sensible first logits.
    pub fn init(&self, tokens: usize, draw: &mut Draw<'_>, device: &Device) -> Embedding {
        let bound = (3.0 / self.size as f64).sqrt();
        Embedding { weight: Param::from_tensor(uniform(draw, [tokens, self.size], bound, device)), scale: self.scale }
    }
}

impl Embedding {
    /// The vectors of ids: `[B, T]` → `[B, T, E]`.
    pub fn forward(&self, ids: Tensor<2, Int>) -> Tensor<3> {
        let vectors = burn::tensor::module::embedding(self.weight.val(), ids);
        match self.scale {
            Scale::One => vectors,
            Scale::Root => vectors.mul_scalar(self.factor()),
        }
    }

    /// What vectors are multiplied by when they are read, as a number.
    pub fn factor(&self) -> f32 {
        match self.scale {
            Scale::One => 1.0,
            Scale::Root => (self.weight.dims()[1] as f32).sqrt(),
        }
    }
}
