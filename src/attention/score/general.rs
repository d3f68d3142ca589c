//! General: Luong, Pham & Manning 2015, section 3.1.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};
use crate::kernels::linear::{self, Activation};

/// score(q, k) = qᵀW k.
#[derive(Module, Debug)]
pub struct General {
    /// W, stored as `[M, H]`: it turns a memory row into a key that a query can be multiplied with.
    pub key: Linear,
}

impl General {
    /// Fresh weights.
    pub fn init(_: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self { key: init::linear(draw, [sizes.memory, sizes.query], Bias::None, device) }
    }

    /// W h, `[B, S, H]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        linear::apply(&self.key, memory, Activation::Identity)
    }

    /// `[B, T, H]` and `[B, S, H]` → `[B, T, S]`.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        query.matmul(keys.swap_dims(1, 2))
    }

    /// H.
    pub fn key_size(&self, _: Sizes) -> usize {
        self.key.weight.dims()[1]
    }

    /// W for each key, then the product.
    pub fn work(&self, sizes: Sizes) -> Work {
        Work { key: sizes.memory * sizes.query, pair: sizes.query, query: 0 }
    }

    /// A product: keys know W.
    pub fn kernel(&self, _: usize) -> Option<Kernel> {
        Some(Kernel::product(1.0))
    }
}
