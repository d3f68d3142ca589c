//! The straight-through Gumbel softmax: Jang, Gu & Poole 2017, "Categorical reparameterization with
//! Gumbel-softmax", sections 2.1 and 2.2.

use burn::tensor::{Bool, Tensor, TensorData};

use super::best;
use crate::attention::mask::softmax;
use crate::rng::Rng;

/// Exactly one 1 a row of scores `[B, R, S]`: at the best position after Gumbel noise, which is a draw from the
/// softmax of the scores. The gradient is that of the softmax of the noisy scores over τ, as if that had been
/// returned; so it is biased.
pub fn weights(scores: Tensor<3>, blocked: Tensor<3, Bool>, temperature: f64, rng: &mut Rng) -> Tensor<3> {
    let shape = scores.dims();
    let noise: Vec<f64> =
        (0..shape.iter().product()).map(|_| -(-rng.unit().max(f64::MIN_POSITIVE).ln()).ln()).collect();
    let data = TensorData::new(noise, shape).convert_dtype(scores.dtype());
    let noisy = scores.clone() + Tensor::from_data(data, (&scores.device(), scores.dtype()));
    let chosen = best(noisy.clone(), blocked.clone());
    let soft = softmax(noisy.div_scalar(temperature), blocked);
    // Exactly 0 is added: chosen + soft − soft, from left to right, would be 1 only about.
    chosen + (soft.clone() - soft.detach())
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[test]
    fn rows_are_exactly_one_hot_and_drawn_from_the_softmax() {
        let device = Device::flex().autodiff();
        let rows = 10_000;
        let probabilities = [0.5f64, 0.3, 0.2];
        let scores = Tensor::<1>::from_floats(probabilities.map(|p| p.ln() as f32), &device);
        let scores = scores.reshape([1, 1, 3]).expand([1, rows, 3]);
        let open = Tensor::<3, Bool>::from_data([[[false; 3]]], &device).expand([1, rows, 3]);
        let run = |seed| {
            let weights = weights(scores.clone(), open.clone(), 0.5, &mut Rng::new(seed, 0));
            weights.into_data().try_to_vec::<f32>().unwrap()
        };
        let drawn = run(1);
        let mut counts = [0.0; 3];
        for row in drawn.chunks(3) {
            assert!(row.iter().all(|&w| w == 0.0 || w == 1.0) && row.iter().sum::<f32>() == 1.0, "{row:?}");
            counts.iter_mut().zip(row).for_each(|(count, w)| *count += f64::from(*w));
        }
        for (count, p) in counts.iter().zip(probabilities) {
            assert!((count - p * rows as f64).abs() <= 4.0 * (p * (1.0 - p) * rows as f64).sqrt(), "{counts:?}");
        }
        assert_eq!(drawn, run(1));
        assert_ne!(drawn, run(2));
    }

    /// Without a tie to break, noise of one seed on equal scores: the gradient is the softmax's, p₁ (u₁ − Σ p u).
    #[test]
    fn the_gradient_is_the_softmaxs() {
        let device = Device::flex().autodiff();
        let scores = Tensor::<3>::from_floats([[[0.3, -0.2]]], &device).require_grad();
        let open = Tensor::<3, Bool>::from_data([[[false; 2]]], &device);
        let upstream = Tensor::<3>::from_floats([[[1.0, 0.0]]], &device);
        let gradients = (weights(scores.clone(), open, 2.0, &mut Rng::new(1, 0)) * upstream).sum().backward();
        let gradient: Vec<f32> = scores.grad(&gradients).unwrap().into_data().try_to_vec().unwrap();
        let mut rng = Rng::new(1, 0);
        let noise = [0, 1].map(|_| -(-rng.unit().ln()).ln());
        let p = 1.0 / (1.0 + ((-0.2 + noise[1] - 0.3 - noise[0]) / 2.0).exp());
        let right = p * (1.0 - p) / 2.0;
        assert!((f64::from(gradient[0]) - right).abs() < 1e-6 && (gradient[0] + gradient[1]).abs() < 1e-6);
    }
}
