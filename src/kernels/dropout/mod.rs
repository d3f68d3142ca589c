//! Dropout: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting",
//! scaled in training as everybody does since.

mod fused;

use burn::backend::Dispatch;
use burn::module::Module;
use burn::tensor::{Distribution, Tensor};

use crate::rng::Rng;
use fused::DropoutOps;

/// Sets a share of numbers to 0 and scales the others up, once it is given noise; before that does nothing.
#[derive(Module, Debug)]
pub struct Dropout {
    /// The share, at least 0 and less than 1.
    #[module(skip)]
    share: f64,
    /// The seed of what is dropped; none outside training.
    #[module(skip)]
    noise: Option<u64>,
}

impl Dropout {
    /// Dropout of this share, without noise yet.
    pub fn new(share: f64) -> Self {
        Self { share, noise: None }
    }

    /// The same with the noise of a seed.
    pub fn noisy(self, seed: u64) -> Self {
        Self { noise: Some(seed), ..self }
    }

    /// Drops numbers. Which ones, depends on the seed and the `place` in the model, so that places of one
    /// seed have nothing to do with each other; on devices other than flex on the device's generator.
    pub fn forward<const D: usize>(&self, input: Tensor<D>, place: u64) -> Tensor<D> {
        let Some(seed) = self.noise.filter(|_| self.share > 0.0) else {
            return input;
        };
        if !super::flex::can_take(&input) {
            let kept = input.random_like(Distribution::Bernoulli(1.0 - self.share));
            return (input * kept).mul_scalar(1.0 / (1.0 - self.share));
        }
        let seed = Rng::new(seed, place).bits();
        let shape = input.dims();
        let input = input.reshape([shape.iter().product::<usize>()]).into_dispatch();
        Tensor::<1>::from_dispatch(<Dispatch as DropoutOps>::dropout(input, self.share, seed)).reshape(shape)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn run(seed: u64, n: usize, share: f64) -> (Vec<f32>, Vec<f32>) {
        let input = Tensor::<1>::ones([n], &Device::flex().autodiff()).require_grad();
        let output = Dropout::new(share).noisy(seed).forward(input.clone(), 0);
        let gradients = output.clone().mul_scalar(3.0).sum().backward();
        let host = |tensor: Tensor<1>| tensor.into_data().try_to_vec().unwrap();
        (host(output), host(input.grad(&gradients).unwrap()))
    }

    #[test]
    fn drops_its_share_scales_the_rest_and_lets_gradients_through_where_numbers_went() {
        let n = 100_000;
        let (output, gradient) = run(1, n, 0.3);
        let dropped = output.iter().filter(|&&x| x == 0.0).count();
        // Five standard deviations.
        assert!((dropped as f64 - 0.3 * n as f64).abs() < 5.0 * (0.21 * n as f64).sqrt(), "{dropped}");
        assert!(output.iter().all(|&x| x == 0.0 || (x - 1.0 / 0.7).abs() < 1e-6));
        assert!(output.iter().zip(&gradient).all(|(y, g)| (g - 3.0 * y).abs() < 1e-5));
        // Neighbours know nothing of each other.
        for apart in [1, 2, 8, 16, 256] {
            let both = output.iter().zip(&output[apart..]).filter(|&(&a, &b)| a == 0.0 && b == 0.0).count();
            assert!((both as f64 - 0.09 * n as f64).abs() < 6.0 * (0.082 * n as f64).sqrt(), "{apart}: {both}");
        }
    }

    #[test]
    fn a_seed_repeats_and_places_differ() {
        let run = |seed, place| {
            let input = Tensor::<1>::ones([1000], &Device::flex());
            let output = Dropout::new(0.5).noisy(seed).forward(input, place);
            output.into_data().try_to_vec::<f32>().unwrap()
        };
        assert_eq!(run(1, 0), run(1, 0));
        for other in [run(2, 0), run(1, 1)] {
            let same = run(1, 0).iter().zip(&other).filter(|(a, b)| a == b).count();
            assert!((400..600).contains(&same), "{same}");
        }
    }

    #[test]
    fn without_noise_nothing_is_dropped() {
        let input = Tensor::<2>::ones([3, 4], &Device::flex().autodiff());
        let output: Vec<f32> = Dropout::new(0.9).forward(input, 0).into_data().try_to_vec().unwrap();
        assert_eq!(output, [1.0; 12]);
    }
}
