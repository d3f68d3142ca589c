use burn::tensor::{Device, Tensor};

use super::*;

fn values(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 31 + seed * 17) % 23) as f32 / 23.0 - 0.5).collect()
}

type Map = fn(Tensor<2>, Tensor<2>, Option<Tensor<1>>, Activation) -> Tensor<2>;

/// The output, and the gradients of inputs, weight and bias for an uneven upstream.
fn run(map: Map, bias: bool, activation: Activation, parameters: [&[f32]; 3]) -> Vec<Vec<f32>> {
    let device = Device::flex().autodiff();
    let matrix = |values: &[f32], shape| Tensor::<1>::from_floats(values, &device).reshape::<2, _>(shape);
    let (x, w) = (matrix(parameters[0], [7, 5]).require_grad(), matrix(parameters[1], [5, 19]).require_grad());
    let b = Tensor::<1>::from_floats(parameters[2], &device).require_grad();
    let output = map(x.clone(), w.clone(), bias.then(|| b.clone()), activation);
    let upstream = matrix(&values(7 * 19, 4), [7, 19]);
    let gradients = (output.clone() * upstream).sum().backward();
    let host = |tensor: Tensor<1>| tensor.into_data().try_to_vec().unwrap();
    let mut found = vec![
        host(output.flatten(0, 1)),
        host(x.grad(&gradients).unwrap().flatten(0, 1)),
        host(w.grad(&gradients).unwrap().flatten(0, 1)),
    ];
    found.extend(bias.then(|| host(b.grad(&gradients).unwrap())));
    found
}

#[test]
fn fused_and_composed_agree_forward_and_backward() {
    let parameters = [&values(35, 1)[..], &values(95, 2), &values(19, 3)];
    for bias in [true, false] {
        for activation in [Activation::Identity, Activation::Tanh] {
            let fused = run(linear, bias, activation, parameters);
            let twin = run(composed::linear, bias, activation, parameters);
            assert_eq!(fused.len(), twin.len());
            for (fused, twin) in fused.iter().flatten().zip(twin.iter().flatten()) {
                assert!((fused - twin).abs() < 1e-5, "{bias} {activation:?}: {fused} {twin}");
            }
        }
    }
}

#[test]
fn gradients_are_central_differences() {
    let parameters = [values(35, 1), values(95, 2), values(19, 3)];
    let slices = |p: &[Vec<f32>; 3]| run(linear, true, Activation::Tanh, [&p[0], &p[1], &p[2]]);
    let gradients = slices(&parameters);
    let loss = |p: &[Vec<f32>; 3]| -> f64 {
        slices(p)[0].iter().zip(values(7 * 19, 4)).map(|(y, u)| f64::from(y * u)).sum()
    };
    for which in 0..3 {
        for place in [0, 3, 18] {
            let at = |shift: f32| {
                let mut moved = parameters.clone();
                moved[which][place] += shift;
                loss(&moved)
            };
            let difference = (at(0.01) - at(-0.01)) / 0.02;
            let gradient = f64::from(gradients[which + 1][place]);
            assert!((gradient - difference).abs() < 1e-3, "{which} {place}: {gradient} {difference}");
        }
    }
}
