use burn::tensor::Device;

use super::*;

/// The mean loss of rows of logits (readouts through an identity), fused; the twin's must be the same.
fn loss(logits: &[f32], targets: &[i32], smoothing: f64) -> f32 {
    let (n, v) = (targets.len(), logits.len() / targets.len());
    let device = Device::flex();
    let readouts = Tensor::<1>::from_floats(logits, &device).reshape([n, v]);
    let targets = || Tensor::from_ints(targets, &device);
    let ours = cross_entropy(readouts.clone(), Output::Own(Tensor::eye(v, &device)), targets(), smoothing, n);
    let twin = composed::cross_entropy(readouts, targets(), Smoothing::new(smoothing, v)).mean();
    let (ours, twin) = (ours.into_scalar::<f32>(), twin.into_scalar::<f32>());
    assert!((ours - twin).abs() < 1e-5, "{ours} ≠ {twin}");
    ours
}

/// Known fault T1's numbers, with the classes moved past padding.
#[test]
fn rows_by_hand() {
    let none = -1e4;
    let mean = loss(&[none, 2.0, 0.0, 0.0, none, 0.0, 1.0, 0.0], &[1, 2], 0.0);
    assert!((mean - 0.395495).abs() < 1e-6, "{mean}");
}

/// Known fault T2: smoothed mass never touches padding, however unlikely it is.
#[test]
fn smoothing_leaves_padding_alone() {
    assert!((loss(&[0.0; 5], &[3], 0.1) - 5.0f32.ln()).abs() < 1e-6);
    let smoothed = loss(&[-1e4, 1.0, 2.0, 0.5, 0.1], &[2], 0.1);
    let log_sum = [1.0f64, 2.0, 0.5, 0.1].iter().map(|x| x.exp()).sum::<f64>().ln();
    let expected = 0.9 * (log_sum - 2.0) + 0.1 / 3.0 * (3.0 * log_sum - 1.6);
    assert!((f64::from(smoothed) - expected).abs() < 1e-6, "{smoothed} {expected}");
}

const SIZES: (usize, usize, usize) = (700, 6, 37);

/// The loss and the gradients of readouts and weight, times 2.5.
fn run(tied: bool, fused: bool, readouts: &[f32], weight: &[f32]) -> [Vec<f32>; 3] {
    let (n, r, v) = SIZES;
    let device = Device::flex().autodiff();
    let readouts = Tensor::<1>::from_floats(readouts, &device).reshape::<2, _>([n, r]).require_grad();
    let shape = if tied { [v, r] } else { [r, v] };
    let weight = Tensor::<1>::from_floats(weight, &device).reshape::<2, _>(shape).require_grad();
    let ids: Vec<i32> = (0..n).map(|i| 1 + (i * 5 % (v - 1)) as i32).collect();
    let targets = Tensor::from_ints(ids.as_slice(), &device);
    let output = if tied { Output::Tied(weight.clone()) } else { Output::Own(weight.clone()) };
    let loss = match fused {
        // As a part of 1,000 tokens.
        true => cross_entropy(readouts.clone(), output, targets, 0.2, 1000),
        false => {
            let losses = composed::cross_entropy(output.logits(readouts.clone()), targets, Smoothing::new(0.2, v));
            losses.sum().div_scalar(1000.0)
        }
    };
    let gradients = loss.clone().mul_scalar(2.5).backward();
    let host = |tensor: Tensor<1>| tensor.into_data().try_to_vec().unwrap();
    let flat = |tensor: &Tensor<2>| host(tensor.grad(&gradients).unwrap().flatten(0, 1));
    [host(loss), flat(&readouts), flat(&weight)]
}

/// The hand-written gradients against the twin's and against central differences; more rows than a block.
#[test]
fn the_gradients_are_right() {
    let (n, r, v) = SIZES;
    let values =
        |n: usize, by: usize| -> Vec<f32> { (0..n).map(|i| ((i * by % 23) as f32 - 11.0) / 9.0).collect() };
    let (readouts, weight) = (values(n * r, 37), values(r * v, 13));
    for tied in [false, true] {
        let (fused, twin) = (run(tied, true, &readouts, &weight), run(tied, false, &readouts, &weight));
        for (fused, twin) in fused.iter().flatten().zip(twin.iter().flatten()) {
            assert!((fused - twin).abs() < 2e-6, "{fused} {twin}");
        }
        for place in [0, 5, 101] {
            let at = |shift: f32| -> f64 {
                let mut moved = weight.clone();
                moved[place] += shift;
                f64::from(run(tied, true, &readouts, &moved)[0][0])
            };
            let difference = 2.5 * (at(0.05) - at(-0.05)) / 0.1;
            assert!((f64::from(fused[2][place]) - difference).abs() < 1e-3, "{} {difference}", fused[2][place]);
        }
    }
}
