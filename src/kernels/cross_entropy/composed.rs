//! Cross-entropy from ordinary tensor operations: for every device and float type, the reference in tests.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor};

use super::{FIRST, Smoothing};

pub(super) fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>, smoothing: Smoothing) -> Tensor<1> {
    let [n, v] = logits.dims();
    let log_probs = log_softmax(logits, 1);
    let target = log_probs.clone().gather(1, targets.unsqueeze_dim(1)).squeeze_dim::<1>(1);
    if smoothing.other == 0.0 {
        return target.mul_scalar(-smoothing.target);
    }
    let all_but_padding = log_probs.slice([0..n, FIRST..v]).sum_dim(1).squeeze_dim::<1>(1);
    let others = (all_but_padding - target.clone()).mul_scalar(smoothing.other);
    -(target.mul_scalar(smoothing.target) + others)
}
