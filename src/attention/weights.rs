//! Where steps looked.

use burn::tensor::Tensor;

use super::heads::Projections;

/// Where T steps looked: padding is exactly 0, rows sum to 1 (with local-p to at most 1).
#[derive(Clone, Debug)]
pub struct Weights {
    /// The mean of the heads that count, `[B, T, S]`.
    pub mean: Tensor<3>,
    /// Each head's, `[B, N, T, S]`; only where there are several.
    pub heads: Option<Tensor<4>>,
}

impl Weights {
    /// Of weights `[B, R, S]` of T steps, by head.
    pub(super) fn of(weights: Tensor<3>, t: usize, projections: Option<&Projections>) -> Self {
        let [b, looks, s] = weights.dims();
        let Some(projections) = projections.filter(|projections| projections.heads() > 1) else {
            return Self { mean: weights, heads: None };
        };
        let heads = weights.reshape([b, looks / t, t, s]);
        let left = projections.left();
        let counted = if left.len() == projections.heads() {
            heads.clone()
        } else {
            let left: Vec<i64> = left.into_iter().map(|head| head as i64).collect();
            heads.clone().select(1, Tensor::from_data(left.as_slice(), &heads.device()))
        };
        Self { mean: counted.mean_dim(1).squeeze_dim(1), heads: Some(heads) }
    }

    /// The weights of one step after the other.
    pub fn cat(steps: Vec<Self>) -> Option<Self> {
        if steps.is_empty() {
            return None;
        }
        let heads: Vec<Tensor<4>> = steps.iter().filter_map(|step| step.heads.clone()).collect();
        let mean = Tensor::cat(steps.into_iter().map(|step| step.mean).collect(), 1);
        Some(Self { mean, heads: (!heads.is_empty()).then(|| Tensor::cat(heads, 2)) })
    }
}
