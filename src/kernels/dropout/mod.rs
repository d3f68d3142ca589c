//! Dropout: Srivastava et al. 2014, "Dropout: a simple way to prevent neural networks from overfitting",
//! scaled in training as everybody does since.

mod fused;

use burn::backend::Dispatch;
use burn::module::Module;
use burn::tensor::{Distribution, Int, Tensor, TensorData};
use serde::{Deserialize, Serialize};

use crate::rng::Rng;
use fused::DropoutOps;

/// Which numbers of a sentence are dropped together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropoutKind {
    /// None.
    #[default]
    Plain,
    /// The same at every step (Gal & Ghahramani 2016, "A theoretically grounded application of dropout in recurrent neural
    /// networks", section 4), of what goes into layers and out of them. Where the paper also drops the states between
    /// steps, these are left alone here.
    Variational,
}

impl DropoutKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Plain, Self::Variational];

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Variational => "variational",
        }
    }
}

/// Sets a share of numbers to 0 and scales the others up, once it is given noise; before that does nothing.
#[derive(Module, Debug)]
pub struct Dropout {
    /// The share, at least 0 and less than 1.
    #[module(skip)]
    share: f64,
    /// Which are dropped together.
    #[module(skip)]
    kind: DropoutKind,
    /// The seed of what is dropped; none outside training.
    #[module(skip)]
    noise: Option<u64>,
}

impl Dropout {
    /// Dropout of this share, without noise yet.
    pub fn new(share: f64) -> Self {
        Self { share, kind: DropoutKind::Plain, noise: None }
    }

    /// The same of a kind.
    pub fn of(self, kind: DropoutKind) -> Self {
        Self { kind, ..self }
    }

    /// The same with the noise of a seed.
    pub fn noisy(self, seed: u64) -> Self {
        Self { noise: Some(seed), ..self }
    }

    /// Drops numbers of steps `[B, T, X]`; which ones, as [`Dropout::forward`] says.
    pub fn steps(&self, input: Tensor<3>, place: u64) -> Tensor<3> {
        if self.kind == DropoutKind::Plain || !self.drops() {
            return self.forward(input, place);
        }
        let [b, _, x] = input.dims();
        input.clone() * self.forward(ones([b, x], &input), place).unsqueeze_dim::<3>(1)
    }

    /// The same of steps of which the first is the `first` of its sentence: where they come one by one, each has noise of its
    /// own, unless the same is to be dropped at all of them. (On devices other than flex that needs all steps at once.)
    pub fn steps_from(&self, input: Tensor<3>, place: u64, first: usize) -> Tensor<3> {
        match self.kind {
            DropoutKind::Plain => self.forward(input, place | (first as u64) << 32),
            DropoutKind::Variational => self.steps(input, place),
        }
    }

    /// Drops numbers of the real steps `[N, X]` of sentences with so many steps each.
    pub fn real_steps(&self, input: Tensor<2>, steps: &[usize], place: u64) -> Tensor<2> {
        if self.kind == DropoutKind::Plain || !self.drops() {
            return self.forward(input, place);
        }
        let [n, x] = input.dims();
        let mask = self.forward(ones([steps.len(), x], &input), place);
        let sentences = steps.iter().enumerate().flat_map(|(row, &steps)| std::iter::repeat_n(row as i64, steps));
        let rows = TensorData::new(sentences.collect::<Vec<_>>(), [n]);
        input.clone() * mask.select(0, Tensor::<1, Int>::from_data(rows, &input.device()))
    }

    /// Drops whole vectors of `[B, T, X]`.
    pub fn vectors(&self, input: Tensor<3>, place: u64) -> Tensor<3> {
        if !self.drops() {
            return input;
        }
        let [b, t, _] = input.dims();
        input.clone() * self.forward(ones([b, t], &input), place).unsqueeze_dim::<3>(2)
    }

    fn drops(&self) -> bool {
        self.noise.is_some() && self.share > 0.0
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

/// What becomes a mask: on the device of `like`, without a graph.
fn ones<const D: usize, const L: usize>(shape: [usize; D], like: &Tensor<L>) -> Tensor<D> {
    Tensor::ones(shape, (&like.device(), like.dtype()))
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

    /// By sentence and number whatever the step, by sentence and step whatever the number.
    #[test]
    fn variational_dropout_repeats_and_words_go_as_a_whole() {
        let device = Device::flex();
        let [b, t, x] = [6, 5, 40];
        let host = |tensor: Tensor<3>| -> Vec<f32> { tensor.into_data().try_to_vec().unwrap() };
        let dropped =
            Dropout::new(0.5).of(DropoutKind::Variational).noisy(1).steps(Tensor::ones([b, t, x], &device), 0);
        let values = host(dropped.clone());
        let count = values.iter().filter(|&&v| v == 0.0).count() / t;
        assert!((60..180).contains(&count), "{count} of 240");
        assert!(values.iter().all(|&v| v == 0.0 || v == 2.0));
        let at = |row: usize, step: usize, number: usize| values[(row * t + step) * x + number];
        assert!((0..b * t * x).all(|i| at(i / (t * x), i / x % t, i % x) == at(i / (t * x), 0, i % x)));
        assert!((0..x).any(|number| at(0, 0, number) != at(1, 0, number)), "sentences differ");
        // The same numbers where only real steps are there.
        let steps = [5, 3, 0, 1, 5, 2];
        let real = Dropout::new(0.5).of(DropoutKind::Variational).noisy(1);
        let real = real.real_steps(Tensor::ones([16, x], &device), &steps, 0);
        let expected: Vec<f32> = (0..b)
            .flat_map(|row| (0..steps[row] * x).map(move |i| (row, i / x, i % x)))
            .map(|(r, s, n)| at(r, s, n))
            .collect();
        assert_eq!(real.into_data().try_to_vec::<f32>().unwrap(), expected);

        let words = host(Dropout::new(0.3).noisy(1).vectors(Tensor::ones([b, t, x], &device), 0));
        let whole: Vec<f32> = words.chunks(x).map(|word| word[0]).collect();
        assert!(words.chunks(x).zip(&whole).all(|(word, first)| word.iter().all(|v| v == first)));
        let gone = whole.iter().filter(|&&v| v == 0.0).count();
        assert!(
            (1..20).contains(&gone) && whole.iter().all(|v| *v == 0.0 || (v - 1.0 / 0.7).abs() < 1e-6),
            "{gone}"
        );
    }

    #[test]
    fn without_noise_nothing_is_dropped() {
        let input = Tensor::<2>::ones([3, 4], &Device::flex().autodiff());
        let output: Vec<f32> = Dropout::new(0.9).forward(input, 0).into_data().try_to_vec().unwrap();
        assert_eq!(output, [1.0; 12]);
    }
}
