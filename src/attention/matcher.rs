//! Attention as the fused kernels know it.

use super::score::Kernel;
use super::{Attention, ChoiceKind, WindowKind};

impl Attention {
    /// This attention for kernels, if they know it: one head that looks everywhere, softly, by a score that they know.
    /// `hidden` is H.
    pub fn matcher(&self, hidden: usize) -> Option<Kernel> {
        let plain = self.window.kind() == WindowKind::Global
            && self.choice.kind() == ChoiceKind::Soft
            && self.coverage.is_none()
            && self.heads() == 1;
        let score = self.score.as_ref().filter(|_| plain)?;
        let Some(projections) = &self.projections else { return score.kernel(hidden) };
        // The query is projected here or by the score, not by both.
        let kernel = score.kernel(projections.head_size()).filter(|kernel| kernel.query.is_none())?;
        let query = projections.query.as_ref().map(|query| query.weight.val());
        Some(Kernel { query, ..kernel })
    }
}
