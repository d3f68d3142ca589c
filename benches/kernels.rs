//! The fused operations, one by one, at the sizes of `scripts/compare.py`: `cargo bench --profile dev`.
//! A gradient's time holds its forward's. Compare on a quiet machine, and pairs rather than days.

use burn::tensor::{Device, Tensor};
use divan::Bencher;
use zhuyi::kernels::adam::{self, Moments, Step};
use zhuyi::kernels::attentive::{self, Matching, Recurrence, Sources, Timing};
use zhuyi::kernels::cross_entropy::{Output, cross_entropy};
use zhuyi::kernels::dropout::Dropout;
use zhuyi::kernels::energies::energies;
use zhuyi::kernels::gru::{self, Direction, ResetForm};
use zhuyi::kernels::linear::{Activation, linear};
use zhuyi::kernels::product::{Matrix, Packed, Write};
use zhuyi::kernels::square_sum::square_sum;

/// Sentences, steps, state, vocabulary.
const SIZES: (usize, usize, usize, usize) = (64, 15, 512, 8000);

fn main() {
    divan::main();
}

fn random<const D: usize>(shape: [usize; D]) -> Tensor<D> {
    let device = Device::flex().autodiff();
    let values: Vec<f32> =
        (0..shape.iter().product()).map(|i: usize| (i * 31 % 97) as f32 / 970.0 - 0.05).collect();
    Tensor::<1>::from_floats(values.as_slice(), &device).reshape(shape).require_grad()
}

#[divan::bench]
fn product_960_512_8000(bencher: Bencher) {
    bencher.bench(zhuyi::kernels::product_rate);
}

/// What a decoding step's output layer is: a few rows on one core, the right side laid out once.
#[divan::bench(args = [5, 40, 80])]
fn output_of_a_step_256_8000(bencher: Bencher, rows: usize) {
    let right = random([256, 8000]).inner();
    let left: Vec<f32> = vec![0.01; rows * 256];
    let mut out = vec![0.0; rows * 8000];
    let right = Packed::of(right);
    bencher.bench_local(|| right.multiply(Matrix::new(&left, [rows, 256]), &mut out, 8000, Write::Replace));
}

#[divan::bench]
fn linear_and_gradient(bencher: Bencher) {
    let (b, t, h, _) = SIZES;
    let (x, w, bias) = (random([b * t, h]), random([h, 3 * h]), random([3 * h]));
    bencher.bench(|| {
        linear(x.clone(), w.clone(), Some(bias.clone()), Activation::Tanh).sum().backward();
    });
}

#[divan::bench]
fn energies_and_gradient(bencher: Bencher) {
    let (b, t, h, _) = SIZES;
    let (queries, keys, energy) = (random([b, t, h]), random([b, t, h]), random([h]));
    bencher.bench(|| {
        energies(queries.clone(), keys.clone(), energy.clone()).sum().backward();
    });
}

#[divan::bench]
fn gru_and_gradient(bencher: Bencher) {
    let (b, t, h, _) = SIZES;
    let (gates, start) = (random([b, t, 3 * h]), random([b, h]));
    let recurrence =
        gru::Recurrence { weight: random([h, 3 * h]), bias: random([3 * h]), reset: ResetForm::ResetAfter };
    let lengths = vec![t; b];
    bencher.bench(|| {
        gru::sequence(gates.clone(), start.clone(), &recurrence, &lengths, Direction::Forward).sum().backward();
    });
}

#[divan::bench(args = [Timing::Before, Timing::After])]
fn attentive_with_feeding_and_gradient(bencher: Bencher, timing: Timing) {
    let (b, t, h, _) = SIZES;
    let (gates, start) = (random([b * t, 3 * h]), random([b, h]));
    let (keys, values) = (random([b, t, h]), random([b, t, h]));
    let extra = if timing == Timing::Before { 2 * h } else { h };
    let recurrence = Recurrence {
        timing,
        matching: Matching::Additive,
        recurrent: random([h, 3 * h]),
        bias: random([3 * h]),
        extra: random([extra, 3 * h]),
        query: Some(random([h, h])),
        energy: Some(random([h])),
        readout: Some((random([2 * h, h]), random([b * t, h]))),
    };
    let lengths = vec![t; b];
    bencher.bench(|| {
        let sources = Sources { keys: keys.clone(), values: values.clone(), lengths: &lengths };
        attentive::sequence(gates.clone(), start.clone(), recurrence.clone(), sources, &lengths).sum().backward();
    });
}

#[divan::bench]
fn output_with_loss_and_gradient(bencher: Bencher) {
    let (b, t, h, v) = SIZES;
    let (readouts, weight) = (random([b * t, h]), random([h, v]));
    let ids: Vec<i32> = (0..b * t).map(|i| 1 + (i * 13 % (v - 1)) as i32).collect();
    let targets = Tensor::from_ints(ids.as_slice(), &readouts.device());
    bencher.bench(|| {
        cross_entropy(readouts.clone(), Output::Own(weight.clone()), targets.clone(), 0.1, b * t).backward();
    });
}

#[divan::bench]
fn dropout_and_gradient(bencher: Bencher) {
    let (b, t, h, _) = SIZES;
    let x = random([b, t, h]);
    bencher.bench(|| {
        Dropout::new(0.3).noisy(1).forward(x.clone(), 0).sum().backward();
    });
}

#[divan::bench]
fn adam_over_4_million(bencher: Bencher) {
    let device = Device::flex();
    let zeros = || Tensor::<1>::zeros([4_000_000], &device);
    let gradient = random([4_000_000]).inner();
    let mut state = Some((zeros(), Moments { first: zeros(), second: zeros() }));
    bencher.bench_local(|| {
        let (parameter, moments) = state.take().unwrap_or_else(|| unreachable!("put back each time"));
        state = Some(adam::step(parameter, gradient.clone(), moments, Step { rate: 1e-3, time: 3, scale: 1.0 }));
    });
}

#[divan::bench]
fn square_sum_of_4_million(bencher: Bencher) {
    let x = random([4_000_000]).inner();
    bencher.bench(|| square_sum(x.clone()));
}
