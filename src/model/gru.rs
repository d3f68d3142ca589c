//! One GRU layer in one direction: Cho et al. 2014, "Learning phrase representations using RNN
//! encoder-decoder for statistical machine translation", section 2.3, with PyTorch's gate order and
//! biases on both sides.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, assert_shape};

use crate::init::{Draw, uniform_param};
use crate::kernels::gru::{self, Direction, Recurrence, ResetForm};
use crate::kernels::linear::{Activation, linear};

/// r = σ(W_r x + b_r + R_r h + c_r), z = σ(W_z x + b_z + R_z h + c_z), n per [`ResetForm`],
/// h′ = (1 − z) ⊙ n + z ⊙ h. Weights are stored `[in, out]`, gates in the order r, z, n.
#[derive(Module, Debug)]
pub struct Gru {
    /// W, `[I, G]`.
    pub input_weight: Param<Tensor<2>>,
    /// R, `[H, G]`.
    pub hidden_weight: Param<Tensor<2>>,
    /// b, `[G]`.
    pub input_bias: Param<Tensor<1>>,
    /// c, `[G]`.
    pub hidden_bias: Param<Tensor<1>>,
    /// Where the reset gate is applied.
    #[module(skip)]
    pub reset: ResetForm,
}

impl Gru {
    /// Fresh weights, U(−1/√H, 1/√H) as PyTorch's.
    pub fn init([d_in, hidden]: [usize; 2], reset: ResetForm, draw: &mut Draw<'_>, device: &Device) -> Self {
        let bound = 1.0 / (hidden as f64).sqrt();
        Self {
            input_weight: uniform_param(draw, [d_in, 3 * hidden], bound, device),
            hidden_weight: uniform_param(draw, [hidden, 3 * hidden], bound, device),
            input_bias: uniform_param(draw, [3 * hidden], bound, device),
            hidden_bias: uniform_param(draw, [3 * hidden], bound, device),
            reset,
        }
    }

    /// H.
    pub fn hidden(&self) -> usize {
        self.hidden_weight.dims()[0]
    }

    /// Reads inputs `[B, T, I]` from the state `[B, H]` on → the state after each step `[B, T, H]`.
    /// Steps past a sentence's length keep its state; read backward, a sentence starts at its own end.
    pub fn sequence(
        &self,
        inputs: Tensor<3>,
        start: Tensor<2>,
        lengths: &[usize],
        direction: Direction,
    ) -> Tensor<3> {
        let [b, t, i] = inputs.dims();
        assert_shape!(start, [b, self.hidden()]);
        // One product for the inputs of all steps.
        let bias = Some(self.input_bias.val());
        let gates = linear(inputs.reshape([b * t, i]), self.input_weight.val(), bias, Activation::Identity);
        let gates = gates.reshape([b, t, 3 * self.hidden()]);
        let recurrence =
            Recurrence { weight: self.hidden_weight.val(), bias: self.hidden_bias.val(), reset: self.reset };
        gru::sequence(gates, start, &recurrence, lengths, direction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// Hidden size 1, the weights of known fault B1.
    fn tiny(reset: ResetForm, device: &Device) -> Gru {
        let row = |values: [f32; 3]| Tensor::<1>::from_floats(values, device);
        Gru {
            input_weight: Param::from_tensor(row([0.5, -0.3, 0.8]).unsqueeze()),
            hidden_weight: Param::from_tensor(row([0.1, 0.4, -0.6]).unsqueeze()),
            input_bias: Param::from_tensor(row([0.1, 0.0, 0.2])),
            hidden_bias: Param::from_tensor(row([0.0, 0.2, 0.5])),
            reset,
        }
    }

    fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
        tensor.into_data().try_to_vec().unwrap()
    }

    fn close(actual: &[f32], expected: &[f32]) {
        assert_eq!(actual.len(), expected.len());
        assert!(actual.iter().zip(expected).all(|(a, e)| (a - e).abs() < 1e-6), "{actual:?} ≠ {expected:?}");
    }

    /// Known fault B1: a GRU that forgets its state; both reset forms, whole and step by step.
    #[test]
    fn matches_hand_arithmetic() {
        let device = Device::flex();
        let inputs = Tensor::<3>::from_floats([[[1.0], [-2.0], [0.5]]], &device);
        for (reset, expected) in [
            (ResetForm::ResetAfter, [0.455412, 0.094338, 0.382379]),
            (ResetForm::ResetBefore, [0.475184, 0.141844, 0.444724]),
        ] {
            let gru = tiny(reset, &device);
            let start = Tensor::zeros([1, 1], &device);
            close(&values(gru.sequence(inputs.clone(), start.clone(), &[3], Direction::Forward)), &expected);
            let mut state = start;
            for (t, expected) in expected.iter().enumerate() {
                let states = gru.sequence(inputs.clone().narrow(1, t, 1), state, &[1], Direction::Forward);
                state = states.squeeze_dim(1);
                close(&values(state.clone()), &[*expected]);
            }
        }
    }

    /// Known fault A4: read backward, a sentence must start at its own end and not in the padding.
    #[test]
    fn padding_is_not_read_in_either_direction() {
        let device = Device::flex();
        let mut rng = Rng::new(3, 0);
        let gru = Gru::init([2, 4], ResetForm::ResetAfter, &mut Draw::Random(&mut rng), &device);
        let alone = crate::init::uniform(&mut Draw::Random(&mut rng), [1, 3, 2], 1.0, &device);
        for padding in [1, 5, 50] {
            let padded = Tensor::cat(vec![alone.clone(), Tensor::full([1, padding, 2], 7.0, &device)], 1);
            for direction in [Direction::Forward, Direction::Backward] {
                let start = || Tensor::zeros([1, 4], &device);
                let single = gru.sequence(alone.clone(), start(), &[3], direction);
                let batched = gru.sequence(padded.clone(), start(), &[3], direction);
                close(&values(batched.clone().narrow(1, 0, 3)), &values(single.clone()));
                if direction == Direction::Forward {
                    close(&values(batched.narrow(1, 2 + padding, 1)), &values(single.narrow(1, 2, 1)));
                }
            }
        }
    }
}
