//! The fused GRU against its twin, and its hand-written gradient against central differences.

use burn::tensor::Device;

use super::*;
use crate::init::{Draw, uniform};
use crate::rng::Rng;

const LENGTHS: [usize; 5] = [4, 1, 6, 3, 6];
const STEPS: usize = 6;
const HIDDEN: usize = 5;

/// Gates, first state, weight and bias.
type Arguments = (Tensor<3>, Tensor<2>, Tensor<2>, Tensor<1>);

fn arguments(device: &Device) -> Arguments {
    let mut rng = Rng::new(11, 0);
    (
        uniform(&mut Draw::Random(&mut rng), [LENGTHS.len(), STEPS, 3 * HIDDEN], 1.0, device).require_grad(),
        uniform(&mut Draw::Random(&mut rng), [LENGTHS.len(), HIDDEN], 1.0, device).require_grad(),
        uniform(&mut Draw::Random(&mut rng), [HIDDEN, 3 * HIDDEN], 0.8, device).require_grad(),
        uniform(&mut Draw::Random(&mut rng), [3 * HIDDEN], 0.5, device).require_grad(),
    )
}

fn run(arguments: &Arguments, direction: Direction, fused: bool) -> Tensor<3> {
    let (gates, start, weight, bias) = arguments.clone();
    let recurrence = Recurrence { weight, bias, reset: ResetForm::ResetAfter };
    match fused {
        true => sequence(gates, start, &recurrence, &LENGTHS, direction),
        false => composed::sequence(gates, start, &recurrence, &LENGTHS, direction),
    }
}

/// A number that depends on every state differently.
fn weighed(states: Tensor<3>) -> Tensor<1> {
    let weights = uniform(&mut Draw::Random(&mut Rng::new(5, 0)), states.dims(), 1.0, &states.device());
    (states * weights).sum()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().unwrap()
}

fn assert_close(ours: &[f32], twin: &[f32], what: &str) {
    let worst = ours.iter().zip(twin).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(ours.len() == twin.len() && worst < 2e-6, "{what}: off by {worst}");
}

#[test]
fn states_and_gradients_are_the_twins() {
    let device = Device::flex().autodiff();
    for direction in [Direction::Forward, Direction::Backward] {
        let results = [true, false].map(|fused| {
            let arguments = arguments(&device);
            let states = run(&arguments, direction, fused);
            let gradients = weighed(states.clone()).backward();
            let (gates, start, weight, bias) = arguments;
            [
                values(states),
                values(gates.grad(&gradients).unwrap()),
                values(start.grad(&gradients).unwrap()),
                values(weight.grad(&gradients).unwrap()),
                values(bias.grad(&gradients).unwrap()),
            ]
        });
        for (i, what) in ["states", "gates", "start", "weight", "bias"].iter().enumerate() {
            assert_close(&results[0][i], &results[1][i], what);
        }
    }
}

#[test]
fn the_gradient_is_the_central_difference() {
    let device = Device::flex().autodiff();
    for direction in [Direction::Forward, Direction::Backward] {
        let base = arguments(&device);
        let gradients = weighed(run(&base, direction, true)).backward();
        let gradient = values(base.2.grad(&gradients).unwrap());
        let weight = values(base.2.clone());
        for place in (0..weight.len()).step_by(7) {
            let at = |shift: f32| -> f32 {
                let mut moved = weight.clone();
                moved[place] += shift;
                let mut arguments = base.clone();
                arguments.2 = Tensor::<1>::from_floats(moved.as_slice(), &device).reshape([HIDDEN, 3 * HIDDEN]);
                weighed(run(&arguments, direction, true)).into_scalar()
            };
            let difference = (at(0.01) - at(-0.01)) / 0.02;
            let scale = difference.abs().max(0.1);
            assert!(
                (gradient[place] - difference).abs() / scale < 1e-2,
                "{place}: {} {difference}",
                gradient[place]
            );
        }
    }
}

#[test]
fn no_steps_and_one_sentence_are_fine() {
    let device = Device::flex();
    let recurrence = Recurrence {
        weight: Tensor::zeros([HIDDEN, 3 * HIDDEN], &device),
        bias: Tensor::zeros([3 * HIDDEN], &device),
        reset: ResetForm::ResetAfter,
    };
    let empty = sequence(
        Tensor::zeros([1, 0, 3 * HIDDEN], &device),
        Tensor::ones([1, HIDDEN], &device),
        &recurrence,
        &[0],
        Direction::Forward,
    );
    assert_eq!(empty.dims(), [1, 0, HIDDEN]);
}
