use burn::tensor::{Device, Tensor};

use super::*;

/// B, T, S, K; K is no multiple of a vector's width.
const SIZES: [usize; 4] = [3, 4, 5, 37];

fn values(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 31 + seed * 17) % 23) as f32 / 12.0 - 0.9).collect()
}

fn parameters() -> [Vec<f32>; 3] {
    let [b, t, s, k] = SIZES;
    [values(b * t * k, 1), values(b * s * k, 2), values(k, 3)]
}

type Map = fn(Tensor<3>, Tensor<3>, Tensor<1>) -> Tensor<3>;

/// The scores, and the gradients of queries, keys and v for an uneven upstream with zeros in it.
fn run(map: Map, parameters: &[Vec<f32>; 3]) -> Vec<Vec<f32>> {
    let ([b, t, s, k], device) = (SIZES, Device::flex().autodiff());
    let flat = |values: &[f32]| Tensor::<1>::from_floats(values, &device);
    let queries = flat(&parameters[0]).reshape([b, t, k]).require_grad();
    let keys = flat(&parameters[1]).reshape([b, s, k]).require_grad();
    let energy = flat(&parameters[2]).require_grad();
    let scores = map(queries.clone(), keys.clone(), energy.clone());
    let gradients = (scores.clone() * flat(&upstream()).reshape([b, t, s])).sum().backward();
    let host = |tensor: Tensor<1>| tensor.into_data().try_to_vec().unwrap();
    vec![
        host(scores.flatten(0, 2)),
        host(queries.grad(&gradients).unwrap().flatten(0, 2)),
        host(keys.grad(&gradients).unwrap().flatten(0, 2)),
        host(energy.grad(&gradients).unwrap()),
    ]
}

fn upstream() -> Vec<f32> {
    let [b, t, s, _] = SIZES;
    values(b * t * s, 4).into_iter().enumerate().map(|(i, x)| if i % 5 == 4 { 0.0 } else { x }).collect()
}

#[test]
fn fused_and_composed_agree_forward_and_backward() {
    let (fused, twin) = (run(energies, &parameters()), run(composed::energies, &parameters()));
    for (fused, twin) in fused.iter().flatten().zip(twin.iter().flatten()) {
        assert!((fused - twin).abs() < 2e-5, "{fused} {twin}");
    }
}

#[test]
fn gradients_are_central_differences() {
    let gradients = run(energies, &parameters());
    let loss = |p: &[Vec<f32>; 3]| -> f64 {
        run(energies, p)[0].iter().zip(upstream()).map(|(y, u)| f64::from(y * u)).sum()
    };
    for which in 0..3 {
        for place in [0, 17, 36] {
            let at = |shift: f32| {
                let mut moved = parameters();
                moved[which][place] += shift;
                loss(&moved)
            };
            let difference = (at(0.01) - at(-0.01)) / 0.02;
            let gradient = f64::from(gradients[which + 1][place]);
            assert!((gradient - difference).abs() < 2e-3, "{which} {place}: {gradient} {difference}");
        }
    }
}

#[test]
fn an_empty_source_has_no_scores() {
    let device = Device::flex();
    let scores = energies(
        Tensor::zeros([2, 3, 4], &device),
        Tensor::zeros([2, 0, 4], &device),
        Tensor::zeros([4], &device),
    );
    assert_eq!(scores.dims(), [2, 3, 0]);
}
