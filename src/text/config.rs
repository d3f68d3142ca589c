//! How both sides of a run become pieces.

use serde::{Deserialize, Serialize};

use super::{Normalization, TokenizerConfig};

/// How text is read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextConfig {
    /// One tokenizer for both sides, trained on both with the source's settings.
    pub joint: bool,
    /// What is done to source sentences first; targets are never changed.
    pub normalize: Normalization,
    /// The source's tokenizer.
    pub source: TokenizerConfig,
    /// The target's tokenizer.
    pub target: TokenizerConfig,
}
