//! Dropout: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting",
//! scaled in training as everybody does since.

mod fused;

use burn::backend::Dispatch;
use burn::module::Module;
use burn::tensor::{Distribution, Tensor};

use fused::DropoutOps;

/// Sets a share of numbers to 0 in training and scales the others up; elsewhere does nothing.
#[derive(Module, Debug)]
pub struct Dropout {
    /// The share, at least 0 and less than 1.
    #[module(skip)]
    pub share: f64,
}

impl Dropout {
    /// Dropout of this share.
    pub fn new(share: f64) -> Self {
        Self { share }
    }

    /// Which numbers are dropped, depends on the device's generator (`device.seed`) alone.
    pub fn forward<const D: usize>(&self, input: Tensor<D>) -> Tensor<D> {
        let device = input.device();
        if self.share == 0.0 || !device.is_autodiff() {
            return input;
        }
        if !super::flex::can_take(&input) {
            let kept = input.random_like(Distribution::Bernoulli(1.0 - self.share));
            return (input * kept).mul_scalar(1.0 / (1.0 - self.share));
        }
        // One draw a call instead of one a number: flex's generator runs on one thread.
        let seed = Tensor::<1>::random([2], Distribution::Uniform(0.0, 16_777_216.0), &device.without_autodiff());
        let seed = seed.into_data().iter::<f32>().fold(0u64, |seed, part| seed << 24 | part as u64);
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
        let device = Device::flex().autodiff();
        // The generator is the process's: what other tests draw between is their own thread's.
        device.seed(seed);
        let input = Tensor::<1>::ones([n], &device).require_grad();
        let output = Dropout::new(share).forward(input.clone());
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
    fn outside_training_nothing_is_dropped() {
        let input = Tensor::<2>::ones([3, 4], &Device::flex());
        let output: Vec<f32> = Dropout::new(0.9).forward(input).into_data().try_to_vec().unwrap();
        assert_eq!(output, [1.0; 12]);
    }
}
