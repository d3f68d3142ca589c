//! Additive: Bahdanau, Cho & Bengio 2015, "Neural machine translation by jointly learning to align and
//! translate", appendix A.1.2.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};
use crate::kernels::energies::energies;
use crate::kernels::linear::{self, Activation};

/// score(q, k) = v·tanh(W q + U k).
#[derive(Module, Debug)]
pub struct Additive {
    /// W, `[H, K]`.
    pub query: Linear,
    /// U, `[M, K]`.
    pub key: Linear,
    /// v, `[K]`.
    pub energy: Param<Tensor<1>>,
}

impl Additive {
    /// Fresh weights.
    pub fn init(config: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self {
            query: init::linear(draw, [sizes.query, config.size], Bias::None, device),
            key: init::linear(draw, [sizes.memory, config.size], Bias::None, device),
            energy: init::uniform_param(draw, [config.size], 1.0 / (config.size as f64).sqrt(), device),
        }
    }

    /// U h, `[B, S, K]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        linear::apply(&self.key, memory, Activation::Identity)
    }

    /// `[B, T, H]` and `[B, S, K]` → `[B, T, S]`.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        energies(linear::apply(&self.query, query, Activation::Identity), keys, self.energy.val())
    }

    /// K.
    pub fn key_size(&self, _: Sizes) -> usize {
        self.energy.dims()[0]
    }

    /// W and U, then v.
    pub fn work(&self, sizes: Sizes) -> Work {
        let k = self.energy.dims()[0];
        Work { key: sizes.memory * k, query: sizes.query * k, pair: k }
    }

    /// As it is.
    pub fn kernel(&self, _: usize) -> Option<Kernel> {
        Some(Kernel::additive(self.query.weight.val(), self.energy.val()))
    }
}
