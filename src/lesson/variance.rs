//! Why scores are scaled: the variance of q·k is d_k.

use burn::tensor::{DType, Tensor, TensorData};
use serde_json::json;

use super::board::{Curves, Figure, Lesson, Text, text};
use super::tensors::{device, dot, scaled};
use crate::attention::Attention;
use crate::error::Result;
use crate::rng::Rng;

const SIZES: [usize; 4] = [4, 16, 64, 512];
const SAMPLES: usize = 20_000;
/// Pairs that are scored together.
const BATCH: usize = 2000;
/// How far a sampled variance may be from what to expect: four to six of its standard errors, which the lesson shows.
const TOLERANCE: f64 = 0.06;

/// The variance of the scores of independent pairs, and its standard error.
struct Spread {
    variance: f64,
    error: f64,
}

impl Spread {
    fn of(scores: &[f64]) -> Self {
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n;
        let moment = |power| scores.iter().map(|x| (x - mean).powi(power)).sum::<f64>() / n;
        let (second, fourth) = (moment(2), moment(4));
        Self { variance: second * n / (n - 1.0), error: ((fourth - second * second) / n).sqrt() }
    }
}

/// The scores of pairs whose numbers are all drawn from N(0, 1), by two attentions.
fn drawn(size: usize, attentions: &[Attention; 2]) -> [Vec<f64>; 2] {
    let mut rng = Rng::new(1, size as u64);
    let mut found = [Vec::with_capacity(SAMPLES), Vec::with_capacity(SAMPLES)];
    for _ in 0..SAMPLES / BATCH {
        let mut vectors = || {
            let numbers: Vec<f64> = (0..BATCH * size).map(|_| rng.normal()).collect();
            Tensor::<3>::from_data(TensorData::new(numbers, [BATCH, 1, size]), (&device(), DType::F64))
        };
        let (queries, keys) = (vectors(), vectors());
        for (scores, attention) in found.iter_mut().zip(attentions) {
            if let Some(score) = &attention.score {
                scores.extend(score.scores(queries.clone(), keys.clone()).into_data().iter::<f64>());
            }
        }
    }
    found
}

pub fn work() -> Result<Lesson> {
    let attentions = [dot(), scaled()];
    let (mut raw, mut small) = (Vec::new(), Vec::new());
    for size in SIZES {
        let [unscaled, scaled] = drawn(size, &attentions);
        raw.push(Spread::of(&unscaled));
        small.push(Spread::of(&scaled));
    }
    let mut lesson = Lesson::new("variance", text!("Why scores are scaled", "为什么要缩放得分"));
    lesson.step(text!(
        "Var(q·k) of {SAMPLES} pairs of vectors from N(0, 1)",
        "{SAMPLES} 对 N(0, 1) 向量的 Var(q·k)"
    ));
    lesson.say(text!(
        "q·k is a sum of d_k products, each with mean 0 and variance 1; they are independent, so the variances add up: d_k. Dividing the score by √d_k divides its variance by d_k: 1, whatever the size.",
        "q·k 是 d_k 个乘积之和，每个均值为 0、方差为 1；它们相互独立，方差相加得 d_k。得分除以 √d_k，方差就除以 d_k：无论多少维，方差恢复为 1。"
    ));
    let mut table = vec![["d_k", "Var(q·k)", "±", "Var(q·k/√d_k)", "±", "√d_k"].map(Text::from).to_vec()];
    for ((size, raw), small) in SIZES.iter().zip(&raw).zip(&small) {
        let numbers = [raw.variance, raw.error, small.variance, small.error, (*size as f64).sqrt()];
        table.push(
            std::iter::once(size.to_string()).chain(numbers.map(|x| format!("{x:.3}"))).map(Text::from).collect(),
        );
    }
    lesson.table(table);
    let shares = small.iter().map(|spread| 100.0 * spread.error / spread.variance);
    let (least, most) = shares.fold((f64::INFINITY, 0.0f64), |(a, b), x| (a.min(x), b.max(x)));
    lesson.say(text!(
        "± is the standard error of the variance, here {least:.1} to {most:.1} %: another seed prints other last digits.",
        "± 是方差的标准误，这里为 {least:.1} 到 {most:.1} %：换一个种子，末位数字就会不同。"
    ));
    compare(&mut lesson, &raw, &small);
    lesson.figure = Some(figure(&raw, &small));
    Ok(lesson)
}

fn compare(lesson: &mut Lesson, raw: &[Spread], small: &[Spread]) {
    let printed = [[4.0, 16.08, 63.41, 505.47], [1.0, 1.01, 0.99, 0.99]];
    let near = |printed: &[f64; 4], expected: &dyn Fn(usize) -> f64| {
        printed.iter().zip(SIZES).all(|(x, size)| (x / expected(size) - 1.0).abs() <= TOLERANCE)
    };
    let agrees = [near(&printed[0], &|size| size as f64), near(&printed[1], &|_| 1.0)];
    let told = |numbers: &[f64], decimals: usize| {
        numbers.iter().map(|x| format!("{x:.decimals$}")).collect::<Vec<_>>().join(" ")
    };
    let names = [text!("variance of the scores", "得分的方差"), text!("variance after scaling", "缩放后的方差")];
    let expected = [SIZES.map(|size| size as f64), [1.0; 4]];
    for (i, (name, spreads)) in names.into_iter().zip([raw, small]).enumerate() {
        let ours = told(&spreads.iter().map(|spread| spread.variance).collect::<Vec<_>>(), 2);
        let why = text!(
            "The course drew a sample too; it lies within 6 % of what to expect, as ours does: {ours}.",
            "课程也是抽样；与期望相差不超过 6 %，我们的样本也是：{ours}。"
        );
        lesson.compared(name, told(&printed[i], 2).into(), told(&expected[i], 0), agrees[i], why);
    }
    let of = |spreads: &[Spread], what: fn(&Spread) -> f64| spreads.iter().map(what).collect::<Vec<_>>();
    lesson.number(
        "variance",
        json!({
            "d_k": SIZES, "samples": SAMPLES,
            "expected_unscaled": SIZES, "expected_scaled": [1, 1, 1, 1],
            "unscaled": of(raw, |spread| spread.variance), "unscaled_standard_error": of(raw, |spread| spread.error),
            "scaled": of(small, |spread| spread.variance), "scaled_standard_error": of(small, |spread| spread.error),
            "text": { "unscaled": printed[0], "scaled": printed[1] },
            "agrees": { "unscaled": agrees[0], "scaled": agrees[1] },
            "why": "a sample of 20000 pairs scatters: the standard error of the variance is about 1 %, so another seed prints other last digits",
            "tolerance": "relative 0.06 at 20000 samples (about four standard errors)",
        }),
    );
}

fn figure(raw: &[Spread], small: &[Spread]) -> Figure {
    let of = |spreads: &[Spread]| spreads.iter().map(|spread| spread.variance).collect();
    Figure::Curves(Curves {
        title: text!("The variance of q·k", "q·k 的方差"),
        axes: [text!("d_k", "d_k"), text!("variance", "方差")],
        logarithmic: [true, true],
        x: SIZES.map(|size| size as f64).to_vec(),
        series: vec![(text!("q·k", "q·k"), of(raw)), (text!("q·k / √d_k", "q·k / √d_k"), of(small))],
    })
}
