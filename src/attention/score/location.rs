//! Location: Luong, Pham & Manning 2015, section 3.1, eq. 8 (a_t = softmax(W_a h_t)).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};

/// score(q, s) = (W q + b)_s: how much position s is wanted. It never sees what stands there, so it can
/// learn "about as far as I have written" and nothing else.
#[derive(Module, Debug)]
pub struct Location {
    /// W and b, `[H, positions]`.
    pub position: Linear,
}

impl Location {
    /// Fresh weights for `attention.max_positions` positions.
    pub fn init(config: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self { position: init::linear(draw, [sizes.query, config.max_positions], Bias::Learned, device) }
    }

    /// The longest source that can be pointed into.
    pub fn max_positions(&self) -> usize {
        self.position.weight.dims()[1]
    }

    /// The memory itself: only the number of its positions is used.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        memory
    }

    /// `[B, T, H]` and `[B, S, M]` → `[B, T, S]`. Longer sources must be refused before they
    /// come here (see [`Location::max_positions`]).
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        let positions = keys.dims()[1];
        self.position.forward(query).narrow(2, 0, positions)
    }

    /// The memory itself.
    pub fn key_size(&self, sizes: Sizes) -> usize {
        sizes.memory
    }

    /// W for each query; keys are not looked at.
    pub fn work(&self, sizes: Sizes) -> Work {
        Work { query: sizes.query * self.max_positions(), ..Work::default() }
    }

    /// None.
    pub fn kernel(&self, _: usize) -> Option<Kernel> {
        None
    }
}
