//! Several heads: the same cost, as many views.

use std::time::Instant;

use burn::tensor::Tensor;
use serde_json::json;

use super::board::{Figure, Lesson, matrix, text};
use super::bottleneck::translated;
use super::tensors::{device, row_sums};
use crate::alignment::Alignment;
use crate::alignment::entropy::entropy;
use crate::attention::{AttentionConfig, ScoreKind, Sight, Sizes, SourceMask};
use crate::error::{Error, Result};
use crate::init::{Draw, uniform};
use crate::rng::Rng;
use crate::translator::Translator;

const MODEL: usize = 512;
const HEADS: usize = 8;
/// Positions of the sequence that is timed.
const LENGTH: usize = 256;
const SENTENCE: &str = "the teacher sees two beautiful birds in the library every day";

pub fn work(translator: &Translator) -> Result<Lesson> {
    let rendered = translated(translator, SENTENCE)?;
    let alignment = &rendered.alignment;
    if alignment.heads.is_empty() {
        return Err(Error::Usage(
            "this run's attention has one head: name a run of --attention multi-head, or none for the one that is built in"
                .into(),
        ));
    }
    let mut lesson = Lesson::new("heads", text!("Several heads", "多头"));
    let cost = cost(&mut lesson);
    let weights = |head: &[Vec<f32>]| -> Vec<Vec<f64>> {
        head.iter().map(|row| row.iter().map(|&weight| f64::from(weight)).collect()).collect()
    };
    let heads: Vec<Vec<Vec<f64>>> = alignment.heads.iter().map(|head| weights(head)).collect();
    views(&mut lesson, alignment, &heads, &rendered.translation);
    lesson.number(
        "heads",
        json!({
            "d_model": MODEL, "heads": HEADS, "d_k": MODEL / HEADS, "cost": cost,
            "source": alignment.source, "target": alignment.target, "translation": rendered.translation,
            "weights": heads, "row_sums": heads.iter().map(|head| row_sums(head)).collect::<Vec<_>>(),
        }),
    );
    Ok(lesson)
}

fn cost(lesson: &mut Lesson) -> serde_json::Value {
    let size = MODEL / HEADS;
    let multiply_adds = |heads: usize| heads * 2 * LENGTH * LENGTH * (MODEL / heads);
    let (one, eight) = (multiply_adds(1), multiply_adds(HEADS));
    let [one_ms, eight_ms] = [1, HEADS].map(milliseconds);
    let (one_m, eight_m) = (one as f64 / 1e6, eight as f64 / 1e6);
    lesson.step(text!("1. {MODEL} = {HEADS} × {size}: the same cost", "1. {MODEL} = {HEADS} × {size}：代价相同"));
    lesson.say(text!(
        "Queries, keys and values of {MODEL} numbers are cut into {HEADS} parts of {size}; each part is compared and summed by itself, and the {HEADS} contexts are put together again. For {LENGTH} positions, scores and sums take:",
        "{MODEL} 维的查询、键、值切成 {HEADS} 份，每份 {size} 维；每份各自比较、求和，再把 {HEADS} 个上下文拼起来。对 {LENGTH} 个位置，打分与求和需要："
    ));
    lesson.table(vec![
        vec!["".into(), text!("multiply-adds", "乘加"), text!("ms here", "本机毫秒")],
        vec!["1 × 512".into(), format!("{one_m:.1} M").into(), format!("{one_ms:.2}").into()],
        vec!["8 × 64".into(), format!("{eight_m:.1} M").into(), format!("{eight_ms:.2}").into()],
    ]);
    lesson.say(text!(
        "The products cost the same; {HEADS} heads have {HEADS} times as many weights to normalise, which is the rest of the time. (Projections are left out of the count and in the time.)",
        "乘积的代价相同；{HEADS} 个头要归一化的权重是 {HEADS} 倍，多出的时间在此。（计数不含投影，时间含投影。）"
    ));
    json!({
        "positions": LENGTH, "multiply_adds": { "one_head": one, "eight_heads": eight },
        "milliseconds": { "one_head": one_ms, "eight_heads": eight_ms },
    })
}

/// Milliseconds in which a sequence looks at itself, the best of three.
fn milliseconds(heads: usize) -> f64 {
    let mut rng = Rng::new(1, 0);
    let config = AttentionConfig { score: ScoreKind::ScaledDot, heads, size: MODEL, ..AttentionConfig::default() };
    let sizes = Sizes { query: MODEL, memory: MODEL };
    let attention = config.init(sizes, &mut Draw::Random(&mut rng), &device());
    let sequence: Tensor<3> = uniform(&mut Draw::Random(&mut rng), [1, LENGTH, MODEL], 1.0, &device());
    let run = || {
        let started = Instant::now();
        let mask = SourceMask::from_lengths(&[LENGTH], LENGTH, &device());
        // Waits for the result.
        let _ = attention.attend_to_self(sequence.clone(), mask, Sight::Whole).context.sum().into_scalar::<f32>();
        1000.0 * started.elapsed().as_secs_f64()
    };
    (0..3).map(|_| run()).fold(f64::INFINITY, f64::min)
}

fn views(lesson: &mut Lesson, alignment: &Alignment, heads: &[Vec<Vec<f64>>], translation: &str) {
    let n = heads.len();
    lesson.step(text!("2. {n} views of a trained model", "2. 训练好的模型的 {n} 个视角"));
    lesson.say(text!(
        "{SENTENCE} → {translation}. Columns are source tokens, rows what it wrote:",
        "{SENTENCE} → {translation}。列为源词元，行为所写："
    ));
    let (rows, columns): (Vec<&str>, Vec<&str>) = (
        alignment.target.iter().map(String::as_str).collect(),
        alignment.source.iter().map(String::as_str).collect(),
    );
    let mut table = vec![vec![text!("head", "头"), text!("entropy", "熵"), text!("peaks", "峰")]];
    let mut panels = Vec::new();
    for (i, (head, single)) in heads.iter().zip(&alignment.heads).enumerate() {
        let number = i + 1;
        let name = text!("head {number}", "头 {number}");
        lesson.matrix(name.clone(), &rows, &columns, head);
        let mean = single.iter().map(|row| entropy(row)).sum::<f64>() / single.len().max(1) as f64;
        let peaks: Vec<&str> = head.iter().filter_map(|row| Some(columns[peak(row)?])).collect();
        table.push(vec![number.to_string().into(), format!("{mean:.3}").into(), peaks.join(" ").into()]);
        panels.push((matrix(name, &rows, &columns, head), 1.0));
    }
    lesson.say(text!(
        "The entropy says how spread a head's rows are (0: one place), the peaks where each row looks most:",
        "熵说明各行有多分散（0 为只看一处），峰是每行看得最多的地方："
    ));
    lesson.table(table);
    lesson.say(text!(
        "See what one is for by leaving it out: zhuyi translate --without-head 3.",
        "去掉一个头，看看它有什么用：zhuyi translate --without-head 3。"
    ));
    lesson.figure = Some(Figure::Panels([text!("source", "源"), text!("output", "输出")], panels));
}

/// The first of the largest.
fn peak(row: &[f64]) -> Option<usize> {
    (0..row.len()).reduce(|best, s| if row[s] > row[best] { s } else { best })
}
