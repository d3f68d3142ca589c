//! Scaled dot product: Vaswani et al. 2017, "Attention is all you need", section 3.2.1, eq. 1. The projections of
//! section 3.2.2 are heads' business, also when there is one ([`crate::attention::heads`]).

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::init::Draw;

/// score(q, k) = qᵀk / √K.
#[derive(Module, Debug)]
pub struct ScaledDot {}

impl ScaledDot {
    /// Nothing to draw.
    pub fn init(_: &AttentionConfig, _: Sizes, _: &mut Draw<'_>, _: &Device) -> Self {
        Self {}
    }

    /// The memory itself, `[B, S, K]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        memory
    }

    /// `[B, T, K]` and `[B, S, K]` → `[B, T, S]`.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        let size = query.dims()[2];
        query.matmul(keys.swap_dims(1, 2)).mul_scalar(scale(size))
    }

    /// K.
    pub fn key_size(&self, sizes: Sizes) -> usize {
        sizes.memory
    }

    /// Nothing but the product.
    pub fn work(&self, sizes: Sizes) -> Work {
        Work { pair: sizes.query, ..Work::default() }
    }

    /// A product, scaled.
    pub fn kernel(&self, query: usize) -> Option<Kernel> {
        Some(Kernel::product(scale(query) as f32))
    }
}

/// 1/√K.
pub fn scale(size: usize) -> f64 {
    1.0 / (size as f64).sqrt()
}
