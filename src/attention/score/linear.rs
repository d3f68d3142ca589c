//! Linear: the course's Linear([q; k]), one number a key, kept as a control.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};

/// score(q, k) = w·[q; k] + b = w_q·q + w_k·k + b.
///
/// w_q·q + b is the same for every key, and the softmax takes away what all keys share. So the weights
/// depend on the keys alone: whatever the decoder asks, it looks at the same places. That is why
/// a product (dot, general) or a nonlinearity (additive) is needed. Since w_q and b can have neither effect
/// nor gradient, they do not exist here.
#[derive(Module, Debug)]
pub struct Linear {
    /// w_k, `[M, 1]`.
    pub key: burn::nn::Linear,
}

impl Linear {
    /// Fresh weights.
    pub fn init(_: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self { key: init::linear(draw, [sizes.memory, 1], Bias::None, device) }
    }

    /// w_k·k, `[B, S, 1]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        self.key.forward(memory)
    }

    /// `[B, T, H]` and `[B, S, 1]` → `[B, T, S]`, every row the same.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        let [b, s, _] = keys.dims();
        keys.swap_dims(1, 2).expand([b, query.dims()[1], s])
    }

    /// A key is one number.
    pub fn key_size(&self, _: Sizes) -> usize {
        1
    }

    /// w for each key; the query is not asked.
    pub fn work(&self, sizes: Sizes) -> Work {
        Work { key: sizes.memory, ..Work::default() }
    }

    /// None.
    pub fn kernel(&self, _: usize) -> Option<Kernel> {
        None
    }
}
