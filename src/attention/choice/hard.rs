//! Hard attention: Xu et al. 2015, "Show, attend and tell", section 4.1; Luong 2015 calls it so too. The gradient is
//! the score function's (Williams 1992, "Simple statistical gradient-following algorithms", REINFORCE); its reward
//! and baseline are training's (`train::reward`).

use burn::tensor::{Tensor, TensorData};

use super::Drawn;
use crate::rng::Rng;

/// Draws one position of each row of probabilities `[B, R, S]`: exactly one 1 a row, by which nothing learns to
/// choose; what was drawn, does. A row of zeros stays one.
pub fn draw(probabilities: Tensor<3>, rng: &mut Rng) -> (Tensor<3>, Drawn) {
    let shape = probabilities.dims();
    let values: Vec<f64> = probabilities.clone().into_data().iter::<f64>().collect();
    let mut one_hot = vec![0.0f32; values.len()];
    let positions = shape[2].max(1);
    for (row, one_hot) in values.chunks(positions).zip(one_hot.chunks_mut(positions)) {
        // One number a row, whatever is in it.
        let at = rng.unit() * row.iter().sum::<f64>();
        if let Some(s) = position(row, at) {
            one_hot[s] = 1.0;
        }
    }
    let data = TensorData::new(one_hot, shape).convert_dtype(probabilities.dtype());
    let one_hot = Tensor::from_data(data, (&probabilities.device(), probabilities.dtype()));
    let log = |x: Tensor<3>| x.clamp_min(1e-30).log();
    let drawn = Drawn {
        log_prob: log((probabilities.clone() * one_hot.clone()).sum_dim(2)).squeeze_dim(2),
        entropy: -(probabilities.clone() * log(probabilities)).sum_dim(2).squeeze_dim(2),
    };
    (one_hot, drawn)
}

/// The position in whose stretch of the cumulative sum `at` lies; never one of probability 0.
fn position(row: &[f64], at: f64) -> Option<usize> {
    let mut sum = 0.0;
    let mut found = None;
    for (s, &probability) in row.iter().enumerate().filter(|(_, probability)| **probability > 0.0) {
        found = Some(s);
        sum += probability;
        if at < sum {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[test]
    fn stretches_of_the_sum() {
        let row = [0.0, 0.25, 0.0, 0.75, 0.0];
        assert_eq!([0.0, 0.2, 0.25, 0.9, 1.0].map(|at| position(&row, at)), [1, 1, 3, 3, 3].map(Some));
        assert_eq!(position(&[0.0, 0.0], 0.0), None);
    }

    #[test]
    fn rows_are_one_hot_by_their_probabilities_and_repeat_by_seed() {
        let device = Device::flex();
        let rows = 10_000;
        let run = |seed| {
            let row = Tensor::<1>::from_floats([0.5, 0.0, 0.3, 0.2], &device);
            draw(row.reshape([1, 1, 4]).expand([1, rows, 4]), &mut Rng::new(seed, 0))
        };
        let values = |tensor: Tensor<3>| tensor.into_data().try_to_vec::<f32>().unwrap();
        let drawn = values(run(1).0);
        let mut counts = [0.0; 4];
        for row in drawn.chunks(4) {
            assert!(row.iter().all(|&w| w == 0.0 || w == 1.0) && row.iter().sum::<f32>() == 1.0);
            counts.iter_mut().zip(row).for_each(|(count, w)| *count += f64::from(*w));
        }
        for (count, p) in counts.iter().zip([0.5f64, 0.0, 0.3, 0.2]) {
            // Four standard deviations.
            assert!((count - p * rows as f64).abs() <= 4.0 * (p * (1.0 - p) * rows as f64).sqrt(), "{counts:?}");
        }
        assert_eq!(drawn, values(run(1).0));
        assert_ne!(drawn, values(run(2).0));
    }

    /// By hand: ln of the probability, and −Σ p ln p.
    #[test]
    fn log_probabilities_and_entropy_by_hand() {
        let probabilities = Tensor::<3>::from_floats([[[0.25, 0.75], [1.0, 0.0], [0.0, 0.0]]], &Device::flex());
        let (one_hot, drawn) = draw(probabilities, &mut Rng::new(1, 0));
        let values = |tensor: Tensor<2>| tensor.into_data().try_to_vec::<f32>().unwrap();
        let one_hot: Vec<f32> = one_hot.into_data().try_to_vec().unwrap();
        let first = if one_hot[0] == 1.0 { 0.25f32 } else { 0.75 };
        let (log_prob, entropy) = (values(drawn.log_prob), values(drawn.entropy));
        assert!((log_prob[0] - first.ln()).abs() < 1e-6 && log_prob[1] == 0.0 && log_prob[2].is_finite());
        assert!((entropy[0] - 0.562_335_1).abs() < 1e-6 && entropy[1..] == [0.0, 0.0], "{entropy:?}");
        assert_eq!(one_hot[2..], [1.0, 0.0, 0.0, 0.0]);
    }
}
