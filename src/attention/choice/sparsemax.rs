//! Sparsemax: Martins & Astudillo 2016, "From softmax to sparsemax", sections 2.2 (algorithm 1) and 2.4.

use burn::tensor::{Bool, Int, Tensor};

use crate::attention::mask::{blocked_out, like};

/// The point of the simplex that is nearest to the scores: max(z − τ, 0), with τ such that a row sums to 1. Blocked
/// positions get exactly 0, and so do those far below the best.
///
/// The gradient is that of the closed form on the support, which is exact (eq. 14: the support does not move by small
/// steps): no position outside it has any.
pub fn weights(scores: Tensor<3>, blocked: Tensor<3, Bool>) -> Tensor<3> {
    let scores = blocked_out(scores, blocked.clone());
    // Relative to the best, so that large scores lose no digits; a shift of all changes nothing.
    let scores = scores.clone() - scores.max_dim(2).detach();
    let support = support(scores.clone().detach()).mask_fill(blocked, 0.0);
    // At least 1, but in rows that are all blocked.
    let size = support.clone().sum_dim(2).clamp_min(1.0);
    // Scores outside the support are left out before they are summed: blocked ones would drown the others.
    let inside = scores.mask_fill(support.clone().equal_elem(0.0), 0.0);
    let threshold = (inside.clone().sum_dim(2) - 1.0) / size;
    (inside - threshold) * support
}

/// Of scores whose best is 0: 1 where one is above the threshold, else 0: the k best, for the largest k with 1 + k z₍ₖ₎ > Σ z₍₁₎ … z₍ₖ₎.
fn support(scores: Tensor<3>) -> Tensor<3> {
    let [_, _, s] = scores.dims();
    let sorted = scores.clone().sort_descending(2);
    let places = like(Tensor::<1, Int>::arange(1..s as i64 + 1, &scores.device()), &scores).reshape([1, 1, s]);
    let is_in = (sorted.clone() * places + 1.0).greater(sorted.clone().cumsum(2));
    let size = is_in.int().sum_dim(2);
    let last = sorted.gather(2, size.sub_scalar(1).clamp_min(0));
    like(scores.clone().greater_equal(last.expand(scores.dims())).int(), &scores)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn run(scores: &[f32], blocked: &[bool]) -> Vec<f32> {
        let device = Device::flex();
        let scores = Tensor::<1>::from_floats(scores, &device).reshape([1, 1, scores.len()]);
        let blocked = Tensor::<1, Bool>::from_data(blocked, &device).reshape([1, 1, blocked.len()]);
        weights(scores, blocked).into_data().try_to_vec().unwrap()
    }

    fn close(ours: &[f32], right: &[f32]) {
        assert!(ours.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-6), "{ours:?} {right:?}");
    }

    /// By hand: of (1, 0.5, −1), k = 2, τ = (1.5 − 1)/2.
    #[test]
    fn worked_by_hand() {
        close(&run(&[1.0, 0.5, -1.0], &[false; 3]), &[0.75, 0.25, 0.0]);
        close(&run(&[0.0, 0.0, 0.0], &[false; 3]), &[1.0 / 3.0; 3]);
        // A gap of 1 is all it takes to be alone.
        close(&run(&[2.0, 1.0, 1.0], &[false; 3]), &[1.0, 0.0, 0.0]);
        // As in section 2.2: in two dimensions it is a hard sigmoid, (t + 1)/2.
        close(&run(&[0.4, 0.0], &[false; 2]), &[0.7, 0.3]);
        // However far from 0.
        close(&run(&[1000.25, 1000.0], &[false; 2]), &[0.625, 0.375]);
    }

    #[test]
    fn blocked_positions_get_nothing_however_high() {
        close(&run(&[1e9, 1.0, 0.5], &[true, false, false]), &[0.0, 0.75, 0.25]);
        assert_eq!(run(&[1.0, 2.0], &[true, true]), [0.0, 0.0]);
    }

    /// The Jacobian is diag(s) − s sᵀ/|s| with s the support (eq. 14): here with two of three in it.
    #[test]
    fn the_gradient_is_that_of_the_support() {
        let device = Device::flex().autodiff();
        let scores = Tensor::<3>::from_floats([[[1.0, 0.5, -1.0]]], &device).require_grad();
        let open = Tensor::<3, Bool>::from_data([[[false; 3]]], &device);
        let upstream = Tensor::<3>::from_floats([[[3.0, 1.0, 7.0]]], &device);
        let gradients = (weights(scores.clone(), open) * upstream).sum().backward();
        let gradient: Vec<f32> = scores.grad(&gradients).unwrap().into_data().try_to_vec().unwrap();
        close(&gradient, &[1.0, -1.0, 0.0]);
    }
}
