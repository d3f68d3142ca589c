//! Operations that are worth more than the sum of their parts: fused on the processor (burn's flex, 32
//! bits) with hand-written gradients. Each stands beside a twin of ordinary tensor operations, which every
//! other device and float type runs, and which tests compare it with (dropout's, which draws other numbers, has
//! the same properties).

pub mod adam;
pub mod added;
pub mod attentive;
pub mod cross_entropy;
pub mod dropout;
pub mod energies;
mod flex;
pub mod gru;
pub mod linear;
pub mod log_probs;
mod look;
pub mod product;
mod rows;
mod simd;
pub mod square_sum;

pub use flex::cores;
pub(crate) use flex::{Values, can_take};
pub use product::{Form, Precision, product_rate};
pub(crate) use rows::gather;
