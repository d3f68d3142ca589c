//! Dot product: Luong, Pham & Manning 2015, "Effective approaches to attention-based neural machine
//! translation", section 3.1.

use burn::module::Module;
use burn::tensor::{Device, Tensor};

use super::{Kernel, Work};
use crate::attention::{AttentionConfig, Sizes};
use crate::error::{Error, Result};
use crate::init::Draw;

/// score(q, k) = qᵀk. Nothing is learned, so the decoder's state must be as large as the encoder's output.
#[derive(Module, Debug)]
pub struct Dot {}

impl Dot {
    /// Nothing to draw.
    pub fn init(_: &AttentionConfig, _: Sizes, _: &mut Draw<'_>, _: &Device) -> Self {
        Self {}
    }

    /// Refuses sizes that can't be multiplied.
    ///
    /// # Errors
    /// H ≠ M, with what to change.
    pub fn check(sizes: Sizes) -> Result<()> {
        if sizes.query == sizes.memory {
            return Ok(());
        }
        Err(Error::Config(format!(
            "attention.score = \"dot\" compares the decoder's state with the encoder's output, but they have \
             {} and {} values: make decoder.hidden {} (encoder.hidden, twice if bidirectional), or use \"general\"",
            sizes.query, sizes.memory, sizes.memory
        )))
    }

    /// The memory itself, `[B, S, M]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        memory
    }

    /// `[B, T, M]` and `[B, S, M]` → `[B, T, S]`.
    pub fn scores(&self, query: Tensor<3>, keys: Tensor<3>) -> Tensor<3> {
        query.matmul(keys.swap_dims(1, 2))
    }

    /// M.
    pub fn key_size(&self, sizes: Sizes) -> usize {
        sizes.memory
    }

    /// Nothing but the product.
    pub fn work(&self, sizes: Sizes) -> Work {
        Work { pair: sizes.query, ..Work::default() }
    }

    /// A product.
    pub fn kernel(&self, _: usize) -> Option<Kernel> {
        Some(Kernel::product(1.0))
    }
}
