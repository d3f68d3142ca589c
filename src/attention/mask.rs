//! Where there is something to look at.

use std::sync::Arc;

use burn::tensor::activation::softmax;
use burn::tensor::{Bool, Device, Int, Tensor, TensorData, assert_shape};

/// Which source positions are padding.
#[derive(Clone, Debug)]
pub struct SourceMask {
    /// True at padding, `[B, S]`.
    padding: Tensor<2, Bool>,
    /// How many positions of each sentence are real, where the host knows.
    lengths: Option<Arc<[usize]>>,
}

impl SourceMask {
    /// The mask of sentences with these lengths in a batch of `positions` columns.
    pub fn from_lengths(lengths: &[usize], positions: usize, device: &Device) -> Self {
        let padding: Vec<bool> =
            lengths.iter().flat_map(|&length| (0..positions).map(move |s| s >= length)).collect();
        let padding = Tensor::from_data(TensorData::new(padding, [lengths.len(), positions]), device);
        Self { padding, lengths: Some(lengths.into()) }
    }

    /// A mask from `[B, S]` values, true at padding.
    pub fn from_padding(padding: Tensor<2, Bool>) -> Self {
        Self { padding, lengths: None }
    }

    /// How many positions of each sentence are real, where the host knows: made by [`Self::from_lengths`].
    pub fn lengths(&self) -> Option<&[usize]> {
        self.lengths.as_deref()
    }

    /// The masks of some sentences, in that order, repeats allowed.
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        Self { padding: self.padding.clone().select(0, rows), lengths: None }
    }

    /// Softmax over the real positions of scores `[B, T, S]`. Padding gets exactly 0; a sentence with no
    /// real position gets 0 everywhere instead of the NaN of 0/0, and no gradient.
    pub fn softmax(&self, scores: Tensor<3>) -> Tensor<3> {
        let [b, t, s] = scores.dims();
        assert_shape!(self.padding, [b, s]);
        let padding = self.padding.clone().unsqueeze_dim::<3>(1).expand([b, t, s]);
        // Finite (in 32 and 64 bits), so that a row of nothing but padding stays finite until it is set to 0 below; far enough
        // down that exp() of its distance to any real score is exactly 0.
        let scores = scores.mask_fill(padding.clone(), -1e30);
        softmax(scores, 2).mask_fill(padding, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(scores: &[f32], lengths: &[usize]) -> Vec<f32> {
        let (b, s) = (lengths.len(), scores.len() / lengths.len());
        let device = Device::flex();
        let scores = Tensor::<1>::from_floats(scores, &device).reshape([b, 1, s]);
        SourceMask::from_lengths(lengths, s, &device).softmax(scores).into_data().try_to_vec().unwrap()
    }

    /// Known fault A1: padding must get nothing, however high its score.
    #[test]
    fn padding_gets_exactly_nothing() {
        let rows = weights(&[0.0, 0.0, 1e9, 2.0f32.ln(), 0.0, 0.0], &[2, 3]);
        assert_eq!(rows[..3], [0.5, 0.5, 0.0]);
        assert!((rows[3] - 0.5).abs() < 1e-6 && (rows[4] - 0.25).abs() < 1e-6);
    }

    /// Known fault A3: a sentence that is all padding neither spreads NaN nor looks at padding.
    #[test]
    fn a_fully_masked_row_is_zero_and_so_is_its_gradient() {
        assert_eq!(weights(&[1.0, 2.0], &[0]), [0.0, 0.0]);
        let device = Device::flex().autodiff();
        let scores = Tensor::<3>::from_floats([[[1.0, 2.0]], [[1.0, 3.0]]], &device).require_grad();
        let mask = SourceMask::from_lengths(&[0, 2], 2, &device);
        let loss = mask.softmax(scores.clone()).slice([0..2, 0..1, 0..1]).sum();
        let gradients = loss.backward();
        let gradient: Vec<f32> = scores.grad(&gradients).unwrap().into_data().try_to_vec().unwrap();
        assert_eq!(gradient[..2], [0.0, 0.0]);
        assert!(gradient[2] > 0.1 && (gradient[2] + gradient[3]).abs() < 1e-6);
    }
}
