//! Hard attention learns what the expectation says: the mean of many draws' gradients is the gradient of the
//! expected loss, enumerated on three positions.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Device, Tensor, TensorData};
use zhuyi::attention::choice::Choice;
use zhuyi::attention::score::dot::Dot;
use zhuyi::attention::{Attention, ChoiceKind, Drawn, Memory, Score, SourceMask, Track, Weights};
use zhuyi::kernels::cross_entropy::{Output, cross_entropy};
use zhuyi::train::batch::{Batch, Example};
use zhuyi::train::reward::{Baseline, policy};

use super::support::values;

const SAMPLES: usize = 20_000;
/// Two steps ask, in two dimensions; three positions answer.
const QUERIES: [[f32; 2]; 2] = [[0.4, -0.3], [0.1, 0.8]];
const KEYS: [[f32; 2]; 3] = [[1.0, 0.2], [-0.5, 0.7], [0.3, -1.1]];
const VALUES: [[f32; 2]; 3] = [[1.5, -0.5], [-1.0, 0.5], [0.2, 2.0]];
/// Logits of five tokens; the targets are 4 and the end, 2.
const OUTPUT: [[f32; 5]; 2] = [[0.3, -0.2, 1.0, 0.1, -1.2], [0.5, 0.4, -0.9, 0.0, 0.8]];
const TARGETS: [usize; 2] = [4, 2];

fn rows<const N: usize, const M: usize>(rows: [[f32; M]; N], copies: usize, device: &Device) -> Tensor<3> {
    let data = TensorData::new(rows.concat(), [1, N, M]);
    Tensor::<3>::from_data(data, device).expand([copies, N, M])
}

fn memory(copies: usize, device: &Device) -> Memory {
    Memory {
        keys: rows(KEYS, copies, device),
        values: rows(VALUES, copies, device),
        mask: SourceMask::from_lengths(&vec![3; copies], 3, device),
        summary: Tensor::zeros([copies, 2], device),
    }
}

/// Σ over both steps and all positions of π(a) · (−log p(y | a)): what training should make small.
fn expected_loss(queries: Tensor<3>, device: &Device) -> Tensor<1> {
    let attention = Attention::plain(Score::Dot(Dot {}));
    let weights = attention.attend(queries, &memory(1, device), Track::default()).weights.unwrap().mean;
    let output = Tensor::<2>::from_floats(OUTPUT, device);
    let log_probs = values(log_softmax(Tensor::<2>::from_floats(VALUES, device).matmul(output), 1));
    let losses: Vec<f32> = TARGETS
        .iter()
        .flat_map(|&target| (0..3).map(|a| -log_probs[a * 5 + target]).collect::<Vec<_>>())
        .collect();
    (weights * Tensor::<1>::from_floats(losses.as_slice(), device).reshape([1, 2, 3])).sum()
}

/// How the two steps are taken.
#[derive(Clone, Copy, Debug)]
enum Steps {
    /// As one look of two queries.
    Together,
    /// One look after the other.
    OneByOne,
}

/// Every sample's gradient of the queries, from one batch of as many sentences: no entropy bonus.
fn sampled(seed: u64, baseline: Baseline, steps: Steps, device: &Device) -> Vec<f32> {
    let mut attention = Attention::plain(Score::Dot(Dot {}));
    attention.choice = Choice::new(ChoiceKind::Hard, 1.0).noisy(seed);
    let queries = rows(QUERIES, SAMPLES, device).require_grad();
    let memory = memory(SAMPLES, device);
    let (context, weights, drawn) = match steps {
        Steps::Together => {
            let seen = attention.attend(queries.clone(), &memory, Track::default());
            (seen.context, seen.weights.unwrap().mean, seen.drawn.unwrap())
        }
        Steps::OneByOne => {
            let first = attention.attend(queries.clone().narrow(1, 0, 1), &memory, Track::default());
            let second = attention.attend(queries.clone().narrow(1, 1, 1), &memory, first.track);
            let weights = [first.weights, second.weights].map(Option::unwrap).to_vec();
            let drawn = [first.drawn, second.drawn].map(Option::unwrap).to_vec();
            let context = Tensor::cat(vec![first.context, second.context], 1);
            (context, Weights::cat(weights).unwrap().mean, Drawn::cat(drawn).unwrap())
        }
    };
    let weights = values(weights);
    assert!(
        weights
            .chunks(3)
            .all(|row| row.iter().filter(|&&w| w == 1.0).count() == 1 && row.iter().sum::<f32>() == 1.0)
    );

    let examples: Vec<Example> = (0..SAMPLES).map(|_| Example::new(vec![5, 6], vec![TARGETS[0]])).collect();
    let batch = Batch::new(&examples.iter().collect::<Vec<_>>(), device);
    let readouts: Tensor<2> = context.flatten(0, 1);
    let output = Output::Own(Tensor::from_floats(OUTPUT, device));
    let drawn = [drawn.log_prob, drawn.entropy].map(|all| all.flatten::<1>(0, 1));
    let choosing = policy(readouts.clone(), &output, drawn, &batch, baseline, 0.0, 1);
    let loss = cross_entropy(readouts, output, batch.targets.clone(), 0.0, 1) + choosing.loss;
    values(queries.grad(&loss.backward()).unwrap())
}

#[test]
fn the_mean_of_many_draws_is_the_gradient_of_the_expectation() {
    let device = Device::flex().autodiff();
    let queries = rows(QUERIES, 1, &device).require_grad();
    let right = values(queries.grad(&expected_loss(queries.clone(), &device).backward()).unwrap());
    // Whatever the baseline, as long as it knows nothing of the batch.
    for (seed, log_prob, steps) in
        [(1, -1.6, Steps::Together), (2, 0.0, Steps::Together), (3, -1.6, Steps::OneByOne)]
    {
        let gradients = sampled(seed, Baseline { log_prob }, steps, &device);
        let mut clear = 0;
        for (i, right) in right.iter().enumerate() {
            let samples: Vec<f64> = gradients.iter().skip(i).step_by(4).map(|&g| f64::from(g)).collect();
            let mean = samples.iter().sum::<f64>() / SAMPLES as f64;
            let variance = samples.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / (SAMPLES - 1) as f64;
            let error = (variance / SAMPLES as f64).sqrt();
            let apart = (mean - f64::from(*right)).abs();
            eprintln!("{steps:?}, query value {i}: {mean:.4} ± {error:.4}, right {right:.4}");
            assert!(apart <= 4.0 * error, "{steps:?}, query value {i}: {mean} ± {error}, right {right}");
            clear += usize::from(f64::from(right.abs()) > 8.0 * error);
        }
        // A test that could pass by having no gradient at all would say nothing.
        assert!(clear >= 2, "{clear} of 4 are no chance");
    }
}

/// The bonus adds the gradient of the entropy, and nothing else.
#[test]
fn the_entropy_bonus_is_the_gradient_of_the_entropy() {
    let device = Device::flex().autodiff();
    let queries = rows(QUERIES, 1, &device).require_grad();
    let mut attention = Attention::plain(Score::Dot(Dot {}));
    attention.choice = Choice::new(ChoiceKind::Hard, 1.0).noisy(1);
    let drawn = attention.attend(queries.clone(), &memory(1, &device), Track::default()).drawn.unwrap();
    let ours = values(queries.grad(&drawn.entropy.sum().backward()).unwrap());
    // d/dz of −Σ p ln p is −p (ln p + H); by the chain rule over z = q·k.
    for (step, query) in QUERIES.iter().enumerate() {
        let scores: Vec<f64> = KEYS.iter().map(|key| f64::from(query[0] * key[0] + query[1] * key[1])).collect();
        let sum: f64 = scores.iter().map(|z| z.exp()).sum();
        let p: Vec<f64> = scores.iter().map(|z| z.exp() / sum).collect();
        let entropy: f64 = -p.iter().map(|p| p * p.ln()).sum::<f64>();
        for d in 0..2 {
            let right: f64 = (0..3).map(|s| -p[s] * (p[s].ln() + entropy) * f64::from(KEYS[s][d])).sum();
            assert!((f64::from(ours[step * 2 + d]) - right).abs() < 1e-6);
        }
    }
}
