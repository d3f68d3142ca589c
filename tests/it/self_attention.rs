//! Looks at several steps at once are the looks one by one; sequences that look at themselves.

use burn::tensor::{Device, Tensor};
use zhuyi::attention::{Attention, AttentionConfig, ScoreKind, Sight, Sizes, SourceMask, Track, Weights};
use zhuyi::init::Draw;
use zhuyi::rng::Rng;

use super::support::{assert_close, values};
use super::variants::{plain, varied};

const SIZE: usize = 6;

fn attention(config: &AttentionConfig, device: &Device) -> Attention {
    let sizes = Sizes { query: SIZE, memory: SIZE };
    config.init(sizes, &mut Draw::Random(&mut Rng::new(3, 0)), device)
}

/// Numbers that look random, `[b, rows, SIZE]`.
fn numbers(seed: u64, b: usize, rows: usize, device: &Device) -> Tensor<3> {
    zhuyi::init::uniform(&mut Draw::Random(&mut Rng::new(seed, 0)), [b, rows, SIZE], 1.5, device)
}

/// Every head's weights, `[B, N, T, S]`.
fn by_head(weights: Weights) -> Tensor<4> {
    weights.heads.unwrap_or_else(|| weights.mean.unsqueeze_dim(1))
}

/// Three steps at once and one after the other: rows of heads and of steps are never taken for each other.
#[test]
fn steps_at_once_are_the_steps_one_by_one() {
    let device = Device::flex();
    let base =
        AttentionConfig { size: 4, heads: 1, window_size: 1, max_positions: 9, ..AttentionConfig::default() };
    for config in plain(&base).into_iter().skip(1).chain(varied(&base)).filter(|config| !config.coverage) {
        let (attention, what) = (attention(&config, &device), config.told());
        let mask = SourceMask::from_lengths(&[5, 3], 5, &device);
        let memory = attention.remember(numbers(1, 2, 5, &device), mask, Tensor::zeros([2, SIZE], &device));
        let queries = numbers(2, 2, 3, &device);
        let together = attention.attend(queries.clone(), &memory, Track::default());
        let mut track = Track::default();
        let (mut contexts, mut weights) = (Vec::new(), Vec::new());
        for t in 0..3 {
            let one = attention.attend(queries.clone().narrow(1, t, 1), &memory, track);
            contexts.push(one.context);
            weights.push(by_head(one.weights.unwrap()));
            track = one.track;
        }
        assert_eq!((together.track.step, track.step), (3, 3));
        assert_close(&values(together.context), &values(Tensor::cat(contexts, 1)), 1e-6, &what);
        let together = by_head(together.weights.unwrap());
        assert_eq!(together.dims(), [2, config.heads, 3, 5], "{what}");
        assert_close(&values(together), &values(Tensor::cat(weights, 2)), 1e-6, &what);
    }
}

/// What is drawn at a step is told at that step, for all heads together: its log-probability is that of the weights
/// that a soft choice gives to the same scores.
#[test]
fn draws_are_told_at_their_steps() {
    let device = Device::flex();
    for heads in [1, 2] {
        let config = AttentionConfig { score: ScoreKind::ScaledDot, size: 4, heads, ..AttentionConfig::default() };
        let soft = attention(&config, &device);
        let hard =
            attention(&AttentionConfig { choice: zhuyi::attention::ChoiceKind::Hard, ..config.clone() }, &device)
                .noisy(7);
        let look = |attention: &Attention| {
            let mask = SourceMask::from_lengths(&[5, 3], 5, &device);
            let memory = attention.remember(numbers(1, 2, 5, &device), mask, Tensor::zeros([2, SIZE], &device));
            attention.attend(numbers(2, 2, 3, &device), &memory, Track::default())
        };
        let probabilities = values(by_head(look(&soft).weights.unwrap()));
        let seen = look(&hard);
        let chosen = values(by_head(seen.weights.unwrap()));
        let told = values(seen.drawn.unwrap().log_prob);
        for b in 0..2 {
            for t in 0..3 {
                let of_head = |head: usize| {
                    let row = ((b * heads + head) * 3 + t) * 5;
                    let at = (row..row + 5).find(|&i| chosen[i] == 1.0).unwrap();
                    probabilities[at].ln()
                };
                let right: f32 = (0..heads).map(of_head).sum();
                assert!((told[b * 3 + t] - right).abs() < 1e-5, "{heads} heads, sentence {b}, step {t}");
            }
        }
    }
}

/// A sequence that looks at itself: padding and what comes later get exactly nothing, a sentence of no length gets nothing
/// at all, everything is finite forward and backward, and each sentence is as it is alone.
#[test]
fn sequences_look_at_themselves_under_masks() {
    let device = Device::flex().autodiff();
    for &score in ScoreKind::ALL {
        for heads in [1, 2] {
            for sight in [Sight::Whole, Sight::Causal] {
                let config =
                    AttentionConfig { score, size: 4, heads, max_positions: 9, ..AttentionConfig::default() };
                let (attention, what) = (attention(&config, &device), format!("{}, {sight:?}", config.told()));
                let run = |first: usize, lengths: &[usize]| {
                    let all = numbers(4, 3, 3, &device).narrow(0, first, lengths.len());
                    let sequence = Tensor::<3>::from_data(all.into_data(), &device).require_grad();
                    let mask = SourceMask::from_lengths(lengths, 3, &device);
                    let seen = attention.attend_to_self(sequence.clone(), mask, sight);
                    let upstream = numbers(5, 3, 3, &device).narrow(0, first, lengths.len());
                    let size = seen.context.dims()[2].min(SIZE);
                    let product = seen.context.clone().narrow(2, 0, size) * upstream.narrow(2, 0, size);
                    let gradients = product.sum().backward();
                    let gradient = sequence.grad(&gradients).map(values).unwrap_or_default();
                    (values(by_head(seen.weights.unwrap())), values(seen.context), gradient)
                };
                let (weights, context, gradient) = run(0, &[3, 2, 0]);
                assert!(gradient.iter().chain(&context).all(|x| x.is_finite()), "{what}");
                for (row, weights) in weights.chunks(3).enumerate() {
                    let (length, t) = ([3, 2, 0][row / (heads * 3)], row % 3);
                    let last = if sight == Sight::Causal { length.min(t + 1) } else { length };
                    assert!(weights[last..].iter().all(|&weight| weight == 0.0), "{what}, row {row}: {weights:?}");
                    let right = if last == 0 { 0.0 } else { 1.0 };
                    assert!((weights.iter().sum::<f32>() - right).abs() < 1e-6, "{what}, row {row}: {weights:?}");
                }
                let third = |all: &[f32], i: usize| all[i * all.len() / 3..(i + 1) * all.len() / 3].to_vec();
                assert!(third(&context, 2).iter().all(|&x| x == 0.0), "{what}: {context:?}");
                for (i, length) in [(0, 3), (1, 2)] {
                    let alone = run(i, &[length]);
                    assert_close(&third(&context, i), &alone.1, 1e-6, &what);
                    assert_close(&third(&gradient, i), &alone.2, 1e-5, &what);
                }
            }
        }
    }
}
