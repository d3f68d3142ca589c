//! Concat: Luong, Pham & Manning 2015, section 3.1.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};
use crate::kernels::energies::energies;

/// score(q, k) = v·tanh(W[q; k]).
///
/// W is one matrix; since W[q; k] = W_left q + W_right k, its right part is applied to the memory once a
/// sentence and its left part to the query, and no pair is ever concatenated. With W cut in two this is
/// the additive score.
#[derive(Module, Debug)]
pub struct Concat {
    /// W, `[H + M, K]`.
    pub weight: Linear,
    /// v, `[K]`.
    pub energy: Param<Tensor<1>>,
}

impl Concat {
    /// Fresh weights.
    pub fn init(config: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self {
            weight: init::linear(draw, [sizes.query + sizes.memory, config.size], Bias::None, device),
            energy: init::uniform_param(draw, [config.size], 1.0 / (config.size as f64).sqrt(), device),
        }
    }

    /// The part of W[q; k] that is the key's, `[B, S, K]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        let (weight, size) = (self.weight.weight.val(), memory.dims()[2]);
        let rows = weight.dims()[0];
        memory.matmul(weight.narrow(0, rows - size, size).unsqueeze())
    }

    /// `[B, T, H]` and `[B, S, K]` → `[B, T, S]`.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        let weight = self.query_weight(query.dims()[2]);
        energies(query.matmul(weight.unsqueeze()), keys, self.energy.val())
    }

    /// The part of W that is the query's, `[H, K]`.
    pub fn query_weight(&self, size: usize) -> Tensor<2> {
        self.weight.weight.val().narrow(0, 0, size)
    }

    /// K.
    pub fn key_size(&self, _: Sizes) -> usize {
        self.energy.dims()[0]
    }

    /// W in two halves, then v.
    pub fn work(&self, sizes: Sizes) -> Work {
        let k = self.energy.dims()[0];
        Work { key: sizes.memory * k, query: sizes.query * k, pair: k }
    }

    /// The additive score of W's two halves.
    pub fn kernel(&self, query: usize) -> Option<Kernel> {
        Some(Kernel::additive(self.query_weight(query), self.energy.val()))
    }
}
