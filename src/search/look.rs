//! Where a step looked, as search hands it on.

use serde::{Deserialize, Serialize};

/// Where one step of one row looked. Rows are as long as the batch's longest source, 0 past the sentence's own end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The weights; of several heads the mean.
    pub weights: Vec<f32>,
    /// Each head's, where there are several.
    pub heads: Vec<Vec<f32>>,
}

impl Look {
    /// The look of a single head.
    pub fn single(weights: Vec<f32>) -> Self {
        Self { weights, heads: Vec::new() }
    }
}
