//! First values of weights, drawn from our own generator so that they are the same on every device.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};

use crate::rng::Rng;

/// Where first values come from.
#[derive(Debug)]
pub enum Draw<'a> {
    /// From a generator.
    Random(&'a mut Rng),
    /// Nowhere, all are 0: weights that are read from a file right after.
    Blank,
}

/// A tensor of `shape` with values from U(−bound, bound).
pub fn uniform<const D: usize>(draw: &mut Draw<'_>, shape: [usize; D], bound: f64, device: &Device) -> Tensor<D> {
    match draw {
        Draw::Random(rng) => {
            let values: Vec<f32> = (0..shape.iter().product()).map(|_| (bound * rng.symmetric()) as f32).collect();
            Tensor::from_data(TensorData::new(values, shape), device)
        }
        // One number that is every place's: nothing that would have to be cleared first.
        Draw::Blank => Tensor::<D>::zeros([1; D], device).expand(shape),
    }
}

/// The same as a parameter.
pub fn uniform_param<const D: usize>(
    draw: &mut Draw<'_>,
    shape: [usize; D],
    bound: f64,
    device: &Device,
) -> Param<Tensor<D>> {
    Param::from_tensor(uniform(draw, shape, bound, device))
}

/// A linear map from `d_in` to `d_out` values, U(−1/√d_in, 1/√d_in) as PyTorch's.
pub fn linear(draw: &mut Draw<'_>, [d_in, d_out]: [usize; 2], bias: Bias, device: &Device) -> Linear {
    let bound = 1.0 / (d_in as f64).sqrt();
    let weight = uniform_param(draw, [d_in, d_out], bound, device);
    let bias = (bias == Bias::Learned).then(|| uniform_param(draw, [d_out], bound, device));
    Linear { weight, bias }
}

/// Whether a linear map adds a learned vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bias {
    /// It does.
    Learned,
    /// It does not.
    None,
}
