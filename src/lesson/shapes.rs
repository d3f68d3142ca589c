//! The ledger of dimensions: every shape is that of a tensor which was computed.

use burn::tensor::{DType, Tensor, TensorData};
use serde_json::json;

use super::board::{Lesson, Text, text};
use super::tensors::{device, look, row_sums, rows, scaled};
use crate::attention::{AttentionConfig, ScoreKind, Sight, Sizes, SourceMask};
use crate::error::Result;
use crate::init::Draw;
use crate::rng::Rng;

/// A tensor of numbers from N(0, 1).
fn random<const D: usize>(shape: [usize; D], rng: &mut Rng) -> Tensor<D> {
    let numbers: Vec<f64> = (0..shape.iter().product()).map(|_| rng.normal()).collect();
    Tensor::from_data(TensorData::new(numbers, shape), (&device(), DType::F64))
}

fn told(shape: &[usize]) -> String {
    format!("[{}]", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "))
}

pub fn work() -> Result<Lesson> {
    let mut lesson = Lesson::new("shapes", text!("The ledger of dimensions", "维度账本"));
    let mut rng = Rng::new(1, 0);
    let course = course(&mut lesson, &mut rng);
    let homework = homework(&mut lesson, &mut rng);
    let products = products(&mut lesson, &mut rng);
    let heads = heads(&mut lesson);
    lesson.number(
        "shapes",
        json!({ "course": course, "homework": homework, "batched_matmul": products, "multi_head": heads }),
    );
    Ok(lesson)
}

fn course(lesson: &mut Lesson, rng: &mut Rng) -> serde_json::Value {
    let [b, t, s, k, v] = [2, 3, 4, 32, 64];
    let (queries, keys, values) = (random([b, t, k], rng), random([b, s, k], rng), random([b, s, v], rng));
    let scores = scaled().score.map(|score| score.scores(queries.clone(), keys.clone()).dims());
    let seen = look(&scaled(), queries.clone(), keys.clone(), values.clone());
    let (scores, output) = (scores.unwrap_or_default(), seen.context.dims());
    let weights = seen.weights.map(|weights| weights.mean.dims()).unwrap_or_default();
    lesson.step(text!(
        "1. Batch {b}, target {t}, source {s}, d_k {k}, d_v {v}",
        "1. 批 {b}，目标 {t}，源 {s}，d_k {k}，d_v {v}"
    ));
    let row = |name: &str, shape: &[usize], letters: Text| vec![name.into(), told(shape).into(), letters];
    let [target, source] =
        [text!("batch, target, d_k", "批, 目标, d_k"), text!("batch, source, d_k", "批, 源, d_k")];
    let pairs = text!("batch, target, source", "批, 目标, 源");
    lesson.table(vec![
        vec!["".into(), text!("shape", "形状"), "".into()],
        row("Q", &queries.dims(), target),
        row("K", &keys.dims(), source),
        row("V", &values.dims(), text!("batch, source, d_v", "批, 源, d_v")),
        row("Q Kᵀ / √d_k", &scores, pairs.clone()),
        row("softmax", &weights, pairs),
        row("output", &output, text!("batch, target, d_v", "批, 目标, d_v")),
    ]);
    lesson.say(text!(
        "d_k must be the same in Q and K, the number of positions in K and V; d_v is free. The output has a row for each query, as wide as a value.",
        "Q 与 K 的 d_k 必须相同，K 与 V 的位置数必须相同；d_v 自由。输出对每个查询有一行，宽度与值相同。"
    ));
    json!({ "batch": b, "tgt": t, "src": s, "d_k": k, "d_v": v, "scores": scores, "weights": weights, "output": output })
}

fn homework(lesson: &mut Lesson, rng: &mut Rng) -> serde_json::Value {
    let [b, l, k] = [2, 5, 16];
    let sequence = random([b, l, k], rng);
    let seen = look(&scaled(), sequence.clone(), sequence.clone(), sequence);
    let Some(weights) = seen.weights else { return json!(null) };
    let shape = weights.mean.dims();
    let flat = weights.mean.reshape([1, b * l, l]);
    let sums = row_sums(&rows(&flat));
    let furthest = sums
        .iter()
        .copied()
        .fold(1.0, |far: f64, sum| if (sum - 1.0).abs() > (far - 1.0).abs() { sum } else { far });
    let shape_told = told(&shape);
    let (count, far) = (sums.len(), (furthest - 1.0).abs());
    lesson.step(text!("2. Homework: batch {b}, sequence {l}, d_k {k}", "2. 作业：批 {b}，序列 {l}，d_k {k}"));
    lesson.say(text!(
        "A sequence that looks at itself: weights {shape_told}; all {count} rows sum to 1 (the furthest is off by {far:.0e}).",
        "序列关注自身：权重 {shape_told}；全部 {count} 行之和为 1（最大偏差 {far:.0e}）。"
    ));
    json!({ "batch": b, "seq": l, "d_k": k, "weights": shape, "row_sum": furthest })
}

fn products(lesson: &mut Lesson, rng: &mut Rng) -> serde_json::Value {
    let (a, b): (Tensor<3>, Tensor<3>) = (random([2, 3, 4], rng), random([2, 4, 3], rng));
    let three = [a.dims(), b.dims(), a.clone().matmul(b.clone()).dims()];
    let (a, b): (Tensor<4>, Tensor<4>) = (random([3, 2, 3, 4], rng), random([3, 2, 4, 3], rng));
    let four = [a.dims(), b.dims(), a.clone().matmul(b.clone()).dims()];
    lesson.step(text!(
        "3. Batched products: the last two dimensions multiply, the others stay",
        "3. 批量乘积：最后两维相乘，其余不变"
    ));
    lesson.table(vec![
        vec!["".into(), "A".into(), "B".into(), "A B".into()],
        std::iter::once("3-D".to_owned()).chain(three.iter().map(|shape| told(shape))).map(Text::from).collect(),
        std::iter::once("4-D".to_owned()).chain(four.iter().map(|shape| told(shape))).map(Text::from).collect(),
    ]);
    json!({ "3d": three, "4d": four })
}

fn heads(lesson: &mut Lesson) -> serde_json::Value {
    let [b, t, model, n] = [2, 5, 512, 8];
    let config =
        AttentionConfig { score: ScoreKind::ScaledDot, heads: n, size: model, ..AttentionConfig::default() };
    let attention = config.init(Sizes { query: model, memory: model }, &mut Draw::Blank, &device());
    let sequence = Tensor::<3>::zeros([b, t, model], &device());
    let mask = SourceMask::from_lengths(&[t; 2], t, &device());
    let queries = attention.projections.as_ref().map(|projections| projections.queries(sequence.clone()).dims());
    let seen = attention.attend_to_self(sequence.clone(), mask, Sight::Whole);
    let weights = seen.weights.and_then(|weights| Some(weights.heads?.dims())).unwrap_or_default();
    let [rows, _, size] = queries.unwrap_or_default();
    let cut = [rows / n, n, t, size];
    lesson.step(text!("4. Heads: d_model {model} = {n} × {size}", "4. 多头：d_model {model} = {n} × {size}"));
    let row = |name: Text, shape: &[usize]| vec![name, told(shape).into()];
    lesson.table(vec![
        vec!["".into(), text!("shape", "形状")],
        row(text!("sequence", "序列"), &sequence.dims()),
        row(text!("Q, cut into heads", "Q，切成多头"), &cut),
        row(text!("weights of each head", "各头的权重"), &weights),
        row(text!("contexts, put together and mixed by W_o", "上下文，拼接并由 W_o 混合"), &seen.context.dims()),
    ]);
    json!({ "d_model": model, "heads": n, "d_k": size, "queries": cut, "weights": weights, "output": seen.context.dims() })
}
