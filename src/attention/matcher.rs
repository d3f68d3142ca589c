//! Attention as the fused kernels know it.

use burn::tensor::Tensor;

use super::score::scaled_dot;
use super::{Attention, ChoiceKind, Score, WindowKind};
use crate::kernels::attentive::Matching;

/// Attention that kernels know: the query is projected (or not), then matched with the key.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// How they are matched.
    pub matching: Matching,
    /// `[H, K]`, if the query is projected.
    pub query: Option<Tensor<2>>,
    /// v, `[K]`, of additive scores.
    pub energy: Option<Tensor<1>>,
}

impl Attention {
    /// This attention for kernels, if they know it: one head that looks everywhere, softly, by a product or an additive
    /// score. `hidden` is H.
    pub fn matcher(&self, hidden: usize) -> Option<Matcher> {
        let plain = self.window.kind() == WindowKind::Global
            && self.choice.kind() == ChoiceKind::Soft
            && self.coverage.is_none()
            && self.heads() == 1;
        let score = self.score.as_ref().filter(|_| plain)?;
        let projected =
            self.projections.as_ref().and_then(|projections| Some(projections.query.as_ref()?.weight.val()));
        let product = |scale| Matching::Product { scale };
        let (matching, query, energy) = match score {
            Score::Dot(_) | Score::General(_) => (product(1.0), projected, None),
            Score::ScaledDot(_) => {
                let size = projected.as_ref().map_or(hidden, |query| query.dims()[1]);
                (product(scaled_dot::scale(size) as f32), projected, None)
            }
            Score::Additive(score) => {
                (Matching::Additive, Some(score.query.weight.val()), Some(score.energy.val()))
            }
            Score::Concat(score) => {
                (Matching::Additive, Some(score.query_weight(hidden)), Some(score.energy.val()))
            }
            Score::Linear(_) | Score::Location(_) => return None,
        };
        Some(Matcher { matching, query, energy })
    }
}
