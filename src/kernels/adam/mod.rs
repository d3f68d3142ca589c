//! One step of Adam over one parameter: Kingma & Ba 2015, "Adam: a method for stochastic optimization",
//! algorithm 1, in the order of operations of section 2's last paragraph.

mod composed;
mod fused;

use burn::backend::Dispatch;
use burn::tensor::Tensor;

use fused::AdamOps;

/// β₁.
const BETA_1: f32 = 0.9;
/// β₂.
const BETA_2: f32 = 0.999;
/// ε, PyTorch's.
const EPSILON: f32 = 1e-8;

/// The running means of a parameter's gradients.
#[derive(Clone, Debug)]
pub struct Moments {
    /// m, of the gradient.
    pub first: Tensor<1>,
    /// v, of its square.
    pub second: Tensor<1>,
}

/// How far a step goes.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The learning rate.
    pub rate: f64,
    /// t, from 1.
    pub time: usize,
    /// What the gradient is multiplied by first (clipping).
    pub scale: f64,
}

/// The numbers that are the same for a whole step.
#[derive(Clone, Copy, Debug)]
struct Factors {
    /// α √(1 − β₂ᵗ) / (1 − β₁ᵗ).
    rate: f32,
    /// ε √(1 − β₂ᵗ).
    epsilon: f32,
    scale: f32,
}

impl Step {
    fn factors(self) -> Factors {
        let left = |beta: f32| 1.0 - f64::from(beta).powf(self.time as f64);
        let second = left(BETA_2).sqrt();
        Factors {
            rate: (self.rate * second / left(BETA_1)) as f32,
            epsilon: (f64::from(EPSILON) * second) as f32,
            scale: self.scale as f32,
        }
    }
}

/// The parameter after the step, and its moments. All are `[N]` and without a graph; on flex their memory is
/// reused where nobody else holds it.
pub fn step(parameter: Tensor<1>, gradient: Tensor<1>, moments: Moments, step: Step) -> (Tensor<1>, Moments) {
    let factors = step.factors();
    let Moments { first, second } = moments;
    if super::flex::can_take(&parameter) {
        let (parameter, first, second) = <Dispatch as AdamOps>::adam(
            parameter.into_dispatch(),
            gradient.into_dispatch(),
            first.into_dispatch(),
            second.into_dispatch(),
            vec![factors.rate, factors.epsilon, factors.scale],
        );
        let [parameter, first, second] = [parameter, first, second].map(Tensor::from_dispatch);
        return (parameter, Moments { first, second });
    }
    composed::step(parameter, gradient, Moments { first, second }, factors)
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    fn host(tensor: &Tensor<1>) -> Vec<f32> {
        tensor.to_data().try_to_vec().unwrap()
    }

    /// Three steps of torch.optim.Adam(lr = 0.1) worked out in double precision.
    #[test]
    fn steps_by_hand() {
        let device = Device::flex();
        let one = |x: f32| Tensor::<1>::from_floats([x], &device);
        let (mut parameter, mut moments) = (one(1.0), Moments { first: one(0.0), second: one(0.0) });
        let (mut m, mut v, mut p) = (0.0f64, 0.0f64, 1.0f64);
        for (i, gradient) in [2.0f32, -1.0, 0.5].into_iter().enumerate() {
            let time = i + 1;
            let how = Step { rate: 0.1, time, scale: 0.5 };
            (parameter, moments) = step(parameter, one(gradient), moments, how);
            let g = f64::from(gradient) * 0.5;
            (m, v) = (0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g);
            let (m_hat, v_hat) = (m / (1.0 - 0.9f64.powi(time as i32)), v / (1.0 - 0.999f64.powi(time as i32)));
            p -= 0.1 * m_hat / (v_hat.sqrt() + 1e-8);
            assert!((f64::from(host(&parameter)[0]) - p).abs() < 1e-6, "{time}: {} {p}", host(&parameter)[0]);
        }
    }

    #[test]
    fn fused_and_composed_agree() {
        let device = Device::flex();
        let values: Vec<f32> = (0..100_003).map(|i| (i % 37) as f32 / 37.0 - 0.5).collect();
        let tensor = || Tensor::<1>::from_floats(values.as_slice(), &device);
        let moments = || Moments { first: tensor(), second: tensor().square() };
        let how = Step { rate: 0.01, time: 3, scale: 0.7 };
        let fused = step(tensor(), tensor(), moments(), how);
        let twin = composed::step(tensor(), tensor(), moments(), how.factors());
        for (fused, twin) in
            [(&fused.0, &twin.0), (&fused.1.first, &twin.1.first), (&fused.1.second, &twin.1.second)]
        {
            let worst = host(fused).iter().zip(host(twin)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst < 1e-6, "{worst}");
        }
    }
}
