//! zhuyi: translation with attention.
pub mod alignment;
pub mod attention;
pub mod corpus;
pub mod error;
pub mod hash;
pub mod init;
pub mod kernels;
pub mod metrics;
pub mod model;
pub mod rng;
pub mod search;
pub mod text;
pub mod train;
pub use error::{Error, Result};
