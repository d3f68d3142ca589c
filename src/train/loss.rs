//! Cross-entropy a real target token. Padding never comes here: it is left out before the logits.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Int, Tensor, assert_shape};

use super::batch::Batch;
use crate::model::Seq2Seq;
use crate::text::PAD;

/// The mean loss a target token of a batch, in nats, `[1]`.
pub fn batch_loss(model: &Seq2Seq, batch: &Batch, smoothing: f64) -> Tensor<1> {
    let (memory, state) = model.encode(&batch.source);
    let readouts = model.decode(&batch.inputs, state, &memory).readouts;
    let size = readouts.dims()[2];
    let [b, t] = batch.inputs.inputs.dims();
    let real = readouts.reshape([b * t, size]).select(0, batch.places.clone());
    cross_entropy(model.logits(real), batch.targets.clone(), smoothing).mean()
}

/// The loss of each row: logits `[N, V]` and targets `[N]` (none is padding) → `[N]`.
///
/// With smoothing ε (Szegedy et al. 2016, section 7) the target gets 1 − ε and every other id but padding
/// ε / (V − 2). Padding has no part in the sum, so its logit may be −∞. Where the paper spreads ε over
/// all ids, we leave out target and padding, as JoeyNMT does.
pub fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>, smoothing: f64) -> Tensor<1> {
    let [n, v] = logits.dims();
    assert_shape!(targets, [n]);
    let log_probs = log_softmax(logits, 1);
    let target = log_probs.clone().gather(1, targets.unsqueeze_dim(1)).squeeze_dim::<1>(1);
    if smoothing == 0.0 || v <= 2 {
        return -target;
    }
    const { assert!(PAD == 0) };
    let all_but_padding = log_probs.slice([0..n, 1..v]).sum_dim(1).squeeze_dim::<1>(1);
    let others = (all_but_padding - target.clone()).mul_scalar(smoothing / (v - 2) as f64);
    -(target.mul_scalar(1.0 - smoothing) + others)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn losses(logits: &[f32], targets: &[i32], smoothing: f64) -> Vec<f32> {
        let device = Device::flex();
        let (n, v) = (targets.len(), logits.len() / targets.len());
        let logits = Tensor::<1>::from_floats(logits, &device).reshape([n, v]);
        cross_entropy(logits, Tensor::from_ints(targets, &device), smoothing).into_data().to_vec().unwrap()
    }

    /// Known fault T1: the mean is over real tokens (with ids moved past padding: classes 1, 2, 3 here).
    #[test]
    fn the_mean_is_over_real_tokens() {
        let none = f32::NEG_INFINITY;
        let rows = losses(&[none, 2.0, 0.0, 0.0, none, 0.0, 1.0, 0.0], &[1, 2], 0.0);
        assert!(((rows[0] + rows[1]) / 2.0 - 0.395495).abs() < 1e-6, "{rows:?}");
    }

    /// Known fault T2: smoothed mass never touches padding, even where its logit is −∞.
    #[test]
    fn smoothing_leaves_padding_alone() {
        let equal = losses(&[0.0; 5], &[3], 0.1);
        assert!((equal[0] - 5.0f32.ln()).abs() < 1e-6);
        let row = [f32::NEG_INFINITY, 1.0, 2.0, 0.5, 0.1];
        let smoothed = losses(&row, &[2], 0.1)[0];
        // By hand: log-sum-exp of the four is 2.50188…; 0.9·2 + (0.1/3)·(1 + 0.5 + 0.1).
        let log_sum = [1.0f64, 2.0, 0.5, 0.1].iter().map(|x| x.exp()).sum::<f64>().ln();
        let expected = 0.9 * (log_sum - 2.0) + 0.1 / 3.0 * (3.0 * log_sum - 1.6);
        assert!((f64::from(smoothed) - expected).abs() < 1e-6, "{smoothed} {expected}");
    }
}
