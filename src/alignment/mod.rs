//! Who is linked to whom: soft alignments as matrices, hard ones as links, and how well links agree
//! with a person's.

pub mod aer;
pub mod entropy;
pub mod links;
pub mod matrix;

pub use aer::AlignmentErrorRate;
pub use entropy::Entropy;
pub use links::{Link, SentenceLinks};
pub use matrix::Alignment;
