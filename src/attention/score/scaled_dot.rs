//! Scaled dot product: Vaswani et al. 2017, "Attention is all you need", section 3.2.1, eq. 1, with the
//! projections of section 3.2.2 for one head.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use crate::attention::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};
use crate::kernels::linear::{self, Activation};

/// score(q, k) = (W_q q)ᵀ(W_k k) / √K, and values W_v h.
///
/// No biases: one on W_k would add the same to every key of a query, which the softmax takes away again.
#[derive(Module, Debug)]
pub struct ScaledDot {
    /// W_q, `[H, K]`.
    pub query: Linear,
    /// W_k, `[M, K]`.
    pub key: Linear,
    /// W_v, `[M, K]`.
    pub value: Linear,
}

impl ScaledDot {
    /// Fresh weights.
    pub fn init(config: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self {
            query: init::linear(draw, [sizes.query, config.size], Bias::None, device),
            key: init::linear(draw, [sizes.memory, config.size], Bias::None, device),
            value: init::linear(draw, [sizes.memory, config.size], Bias::None, device),
        }
    }

    /// W_k h, `[B, S, K]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        linear::apply(&self.key, memory, Activation::Identity)
    }

    /// W_v h, `[B, S, K]`.
    pub fn values(&self, memory: Tensor<3>) -> Tensor<3> {
        linear::apply(&self.value, memory, Activation::Identity)
    }

    /// 1/√K.
    pub fn scale(&self) -> f32 {
        (1.0 / (self.key.weight.dims()[1] as f64).sqrt()) as f32
    }

    /// K.
    pub fn value_size(&self) -> usize {
        self.value.weight.dims()[1]
    }

    /// `[B, T, H]` and `[B, S, K]` → `[B, T, S]`.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        linear::apply(&self.query, query, Activation::Identity)
            .matmul(keys.swap_dims(1, 2))
            .mul_scalar(self.scale())
    }
}
