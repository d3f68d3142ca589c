//! How both sides of a run become pieces.

use serde::{Deserialize, Serialize};

use super::{Normalization, TokenizerConfig};

/// How text is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TextConfig {
    /// One tokenizer for both sides, trained on both with the source's settings.
    pub joint: bool,
    /// Pairs that vocabularies are learnt from at most, evenly spread over the corpus: the words of all must be held in memory,
    /// and of text without spaces a word is a sentence.
    pub learn_from: usize,
    /// What is done to source sentences first; targets are never changed.
    pub normalize: Normalization,
    /// The source's tokenizer.
    pub source: TokenizerConfig,
    /// The target's tokenizer.
    pub target: TokenizerConfig,
}

impl Default for TextConfig {
    fn default() -> Self {
        Self {
            joint: false,
            learn_from: 1_000_000,
            normalize: Normalization::default(),
            source: TokenizerConfig::default(),
            target: TokenizerConfig::default(),
        }
    }
}
