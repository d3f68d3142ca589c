//! Softmax, cross-entropy and label smoothing of rows of logits.

mod composed;
mod fused;

use burn::backend::Dispatch;
use burn::tensor::{Int, Tensor, assert_shape};

use crate::text::PAD;
use fused::CrossEntropyOps;

/// The loss of each row: logits `[N, V]` and targets `[N]` (none is padding) → `[N]`, in nats.
///
/// With smoothing ε (Szegedy et al. 2016, "Rethinking the inception architecture", section 7) the target
/// gets 1 − ε and every other id but padding ε / (V − 2). Padding has no part in the sum, so its logit
/// may be −∞. Where the paper spreads ε over all ids, we leave out target and padding, as JoeyNMT does.
pub fn cross_entropy(logits: Tensor<2>, targets: Tensor<1, Int>, smoothing: f64) -> Tensor<1> {
    let [n, v] = logits.dims();
    assert_shape!(targets, [n]);
    let smoothing = Smoothing::new(smoothing, v);
    if super::flex::can_take(&logits) {
        let (logits, targets) = (logits.into_dispatch(), targets.into_dispatch());
        let parts = vec![smoothing.target, smoothing.other];
        return Tensor::from_dispatch(<Dispatch as CrossEntropyOps>::cross_entropy(logits, targets, parts));
    }
    composed::cross_entropy(logits, targets, smoothing)
}

/// What each id gets of the target distribution.
#[derive(Clone, Copy, Debug)]
struct Smoothing {
    /// The target: 1 − ε.
    target: f32,
    /// Every other id but padding: ε / (V − 2).
    other: f32,
}

impl Smoothing {
    fn new(epsilon: f64, vocabulary: usize) -> Self {
        // Without other ids there is nobody to give anything to.
        if vocabulary <= 2 {
            return Self { target: 1.0, other: 0.0 };
        }
        Self { target: (1.0 - epsilon) as f32, other: (epsilon / (vocabulary - 2) as f64) as f32 }
    }
}

/// The columns that smoothing counts are all after padding's.
const FIRST: usize = {
    assert!(PAD == 0);
    1
};

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn losses(logits: &[f32], targets: &[i32], smoothing: f64) -> Vec<f32> {
        let (n, v) = (targets.len(), logits.len() / targets.len());
        let compute = |device: &Device, fused: bool| -> Vec<f32> {
            let logits = Tensor::<1>::from_floats(logits, device).reshape([n, v]);
            let targets = Tensor::from_ints(targets, device);
            let losses = match fused {
                true => cross_entropy(logits, targets, smoothing),
                false => composed::cross_entropy(logits, targets, Smoothing::new(smoothing, v)),
            };
            losses.into_data().try_to_vec().unwrap()
        };
        let (ours, twin) = (compute(&Device::flex(), true), compute(&Device::flex(), false));
        assert!(ours.iter().zip(&twin).all(|(a, b)| (a - b).abs() < 1e-5), "{ours:?} ≠ {twin:?}");
        ours
    }

    /// Known fault T1's numbers, with the classes moved past padding.
    #[test]
    fn rows_by_hand() {
        let none = f32::NEG_INFINITY;
        let rows = losses(&[none, 2.0, 0.0, 0.0, none, 0.0, 1.0, 0.0], &[1, 2], 0.0);
        assert!(((rows[0] + rows[1]) / 2.0 - 0.395495).abs() < 1e-6, "{rows:?}");
    }

    /// Known fault T2: smoothed mass never touches padding, even where its logit is −∞.
    #[test]
    fn smoothing_leaves_padding_alone() {
        let equal = losses(&[0.0; 5], &[3], 0.1);
        assert!((equal[0] - 5.0f32.ln()).abs() < 1e-6);
        let smoothed = losses(&[f32::NEG_INFINITY, 1.0, 2.0, 0.5, 0.1], &[2], 0.1)[0];
        let log_sum = [1.0f64, 2.0, 0.5, 0.1].iter().map(|x| x.exp()).sum::<f64>().ln();
        let expected = 0.9 * (log_sum - 2.0) + 0.1 / 3.0 * (3.0 * log_sum - 1.6);
        assert!((f64::from(smoothed) - expected).abs() < 1e-6, "{smoothed} {expected}");
    }

    /// The hand-written gradient against the twin's and against central differences.
    #[test]
    fn the_gradient_is_right() {
        let device = Device::flex().autodiff();
        let values: Vec<f32> = (0..3 * 40).map(|i| ((i * 37 % 23) as f32 - 11.0) / 5.0).collect();
        let targets = || Tensor::from_ints([5, 1, 39], &device);
        let weights = || Tensor::from_floats([0.5, 1.0, 2.0], &device);
        let tensor = |values: &[f32]| Tensor::<1>::from_floats(values, &device).reshape([3, 40]);
        let gradient = |compute: &dyn Fn(Tensor<2>) -> Tensor<1>| -> Vec<f32> {
            let logits = tensor(&values).require_grad();
            let gradients = (compute(logits.clone()) * weights()).sum().backward();
            logits.grad(&gradients).unwrap().into_data().try_to_vec().unwrap()
        };
        let fused = gradient(&|logits| cross_entropy(logits, targets(), 0.2));
        let twin = gradient(&|logits| composed::cross_entropy(logits, targets(), Smoothing::new(0.2, 40)));
        assert!(fused.iter().zip(&twin).all(|(a, b)| (a - b).abs() < 1e-6));
        for place in [0, 1, 5, 41, 119] {
            let at = |shift: f32| -> f32 {
                let mut moved = values.clone();
                moved[place] += shift;
                (cross_entropy(tensor(&moved), targets(), 0.2) * weights()).sum().into_scalar()
            };
            let difference = (at(0.01) - at(-0.01)) / 0.02;
            assert!((fused[place] - difference).abs() < 1e-3, "{place}: {} {difference}", fused[place]);
        }
    }
}
