//! Where there is something to look at.

use std::sync::Arc;

use burn::tensor::activation;
use burn::tensor::{Bool, Device, FloatDType, Int, Tensor, TensorData, assert_shape};

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

    /// B and S.
    pub fn dims(&self) -> [usize; 2] {
        self.padding.dims()
    }

    /// How many positions of each sentence are real, `[B, 1]`.
    pub fn real_positions(&self) -> Tensor<2, Int> {
        self.padding.clone().bool_not().int().sum_dim(1)
    }

    /// Where R looks at each sentence can't go, `[B, R, S]`: padding.
    pub fn blocked(&self, looks: usize) -> Tensor<3, Bool> {
        let [b, s] = self.dims();
        self.padding.clone().unsqueeze_dim::<3>(1).expand([b, looks, s])
    }
}

/// Where T positions that look at themselves can't go if they must not see what comes after them: true for s > t,
/// `[1, T, T]`.
pub fn causal(positions: usize, device: &Device) -> Tensor<3, Bool> {
    Tensor::<2, Bool>::tril_mask([positions, positions], 0, device).unsqueeze()
}

/// Scores that can't win: finite (in 32 and 64 bits), so that a row of nothing else stays finite until
/// it is set to 0 afterwards; far enough down that exp() of its distance to any real score is exactly 0.
pub(super) fn blocked_out(scores: Tensor<3>, blocked: Tensor<3, Bool>) -> Tensor<3> {
    scores.mask_fill(blocked, -1e30)
}

/// Softmax over what is not blocked, `[B, R, S]`. What is, gets exactly 0; a row with nothing else gets 0
/// everywhere instead of the NaN of 0/0, and no gradient.
pub fn softmax(scores: Tensor<3>, blocked: Tensor<3, Bool>) -> Tensor<3> {
    let [b, r, s] = scores.dims();
    assert_shape!(blocked, [b, r, s]);
    activation::softmax(blocked_out(scores, blocked.clone()), 2).mask_fill(blocked, 0.0)
}

/// Whole numbers in the float type of a tensor.
pub(super) fn like<const D: usize, const E: usize>(numbers: Tensor<D, Int>, tensor: &Tensor<E>) -> Tensor<D> {
    numbers.float().cast(FloatDType::from(tensor.dtype()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(scores: &[f32], lengths: &[usize]) -> Vec<f32> {
        let (b, s) = (lengths.len(), scores.len() / lengths.len());
        let device = Device::flex();
        let scores = Tensor::<1>::from_floats(scores, &device).reshape([b, 1, s]);
        softmax(scores, SourceMask::from_lengths(lengths, s, &device).blocked(1)).into_data().try_to_vec().unwrap()
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
        let loss = softmax(scores.clone(), mask.blocked(1)).slice([0..2, 0..1, 0..1]).sum();
        let gradients = loss.backward();
        let gradient: Vec<f32> = scores.grad(&gradients).unwrap().into_data().try_to_vec().unwrap();
        assert_eq!(gradient[..2], [0.0, 0.0]);
        assert!(gradient[2] > 0.1 && (gradient[2] + gradient[3]).abs() < 1e-6);
    }
}
