//! Who is linked to whom: soft alignments as matrices, hard ones as links, what they look like, and how well links agree
//! with a person's.

pub mod aer;
pub mod entropy;
pub mod lexicon;
pub mod links;
pub mod matrix;
pub mod npz;
pub mod statistics;
pub mod symmetrize;
mod zip;

pub use aer::AlignmentErrorRate;
pub use entropy::Entropy;
pub use lexicon::{Lexicon, LexiconCounts};
pub use links::{Link, SentenceLinks};
pub use matrix::{Alignment, Extraction};
pub use statistics::{Statistics, Summary};
pub use symmetrize::{Grow, Symmetry};
