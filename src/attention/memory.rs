//! What is looked at, and what is known of earlier looks.

use burn::tensor::{Int, Tensor};

use super::mask::SourceMask;

/// A source sentence ready to be looked at: keys are projected once, not once a step.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What queries are compared with, `[B · N, S, K]`.
    pub keys: Tensor<3>,
    /// What is summed, `[B · N, S, C]`.
    pub values: Tensor<3>,
    /// Which positions are padding.
    pub mask: SourceMask,
    /// The whole source in one vector, `[B, M]`: the context of a model without attention.
    pub summary: Tensor<2>,
}

/// What attention carries from step to step.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Steps so far.
    pub step: usize,
    /// The weights that each position has had, `[B, N, S]`; only with coverage, and not before the first step.
    pub covered: Option<Tensor<3>>,
    /// Weights that the next look takes in place of its own, `[B, N, S]`: somebody says where to look.
    pub instead: Option<Tensor<3>>,
}

impl Memory {
    /// The memories of some sentences, in that order, repeats allowed (hypotheses of a beam).
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        let heads = self.keys.dims()[0] / self.mask.dims()[0];
        let select = |tensor: &Tensor<3>| {
            let ([all, s, size], n) = (tensor.dims(), rows.dims()[0]);
            let sentences = tensor.clone().reshape([all / heads, heads * s, size]);
            sentences.select(0, rows.clone()).reshape([n * heads, s, size])
        };
        Self {
            keys: select(&self.keys),
            values: select(&self.values),
            mask: self.mask.select(rows.clone()),
            summary: self.summary.clone().select(0, rows),
        }
    }
}

impl Track {
    /// The tracks of some sentences, in that order, repeats allowed.
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        let select = |tensor: &Tensor<3>| tensor.clone().select(0, rows.clone());
        Self {
            step: self.step,
            covered: self.covered.as_ref().map(select),
            instead: self.instead.as_ref().map(select),
        }
    }
}
