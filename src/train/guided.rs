//! Guided alignment: Chen, Matusov, Khadivi & Peter 2016, "Guided alignment training for topic-aware neural machine
//! translation", section 3, eq. 5 and 6: where an aligner or a person linked a target token, attention is taught to look
//! there. Where the paper sums over all target tokens, those without a link are left out here: nothing is known of them.

use burn::tensor::Tensor;

use super::batch::Guide;
use crate::attention::Weights;

/// Weights that are smaller count as this: the logarithm of 0 has no value to learn by.
const LEAST: f64 = 1e-8;

/// The cross-entropy of weights `[B, T, S]` (of several heads their mean) and links, in nats, `[1]`: the sum over linked target
/// tokens, divided by `tokens`.
pub fn guided(weights: &Weights, guide: &Guide, tokens: usize) -> Tensor<1> {
    let [b, t, s] = weights.mean.dims();
    let looked = weights.mean.clone().reshape([b * t * s]).select(0, guide.places.clone());
    (looked.clamp_min(LEAST).log() * guide.shares.clone()).sum().mul_scalar(-1.0 / tokens as f64)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::train::batch::{Batch, Example};

    /// By hand: the first sentence's token 0 is linked to positions 0 and 2, its token 1 to 1; the second has no links.
    #[test]
    fn linked_tokens_alone_count() {
        let device = Device::flex();
        let linked = Example { links: vec![[0, 0], [2, 0], [1, 1]], ..Example::new(vec![5, 6, 7], vec![8, 9]) };
        let other = Example::new(vec![5, 6], vec![8]);
        let guide = Batch::new(&[&other, &linked], &device).guide.unwrap();
        let first = [[0.5, 0.2, 0.2, 0.1], [0.1, 0.6, 0.2, 0.1], [0.0, 0.0, 0.0, 1.0]];
        let weights = Tensor::<3>::from_floats([first, [[0.0, 0.5, 0.5, 0.0]; 3]], &device);
        let found = guided(&Weights { mean: weights, heads: None }, &guide, 5).into_scalar::<f64>();
        let expected = -(0.5 * 0.5f64.ln() + 0.5 * 0.2f64.ln() + 0.6f64.ln()) / 5.0;
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        assert!(Batch::new(&[&other], &device).guide.is_none());
    }
}
