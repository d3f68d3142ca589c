//! Several heads: the same cost, as many views.

use burn::tensor::Tensor;
use serde_json::json;

use super::board::{Figure, Lesson, matrix, text};
use super::bottleneck::translated;
use super::tensors::{device, look, milliseconds, names, peak, row_sums, scaled, wide};
use crate::alignment::Alignment;
use crate::alignment::entropy::entropy;
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
    let attention = &translator.run().model.decoder.attention;
    let projections = attention.projections.as_ref().filter(|_| !alignment.heads.is_empty());
    let Some(projections) = projections else {
        return Err(Error::Usage(
            "this run has no several heads to show: name a run of --attention multi-head, or leave --run out for the one \
             that is built in"
                .into(),
        ));
    };
    let mut lesson = Lesson::new("heads", text!("Several heads", "多头"));
    let cost = cost(&mut lesson);
    let heads: Vec<Vec<Vec<f64>>> = alignment.heads.iter().map(|head| wide(head)).collect();
    views(&mut lesson, alignment, &heads, projections.head_size(), &rendered.translation);
    lesson.number(
        "heads",
        json!({
            "cost": cost, "d_k": projections.head_size(), "source": alignment.source, "target": alignment.target,
            "translation": rendered.translation, "weights": heads,
            "row_sums": heads.iter().map(|head| row_sums(head)).collect::<Vec<_>>(),
        }),
    );
    Ok(lesson)
}

fn cost(lesson: &mut Lesson) -> serde_json::Value {
    let size = MODEL / HEADS;
    let multiply_adds = |heads: usize| heads * 2 * LENGTH * LENGTH * (MODEL / heads);
    let (one, several) = (multiply_adds(1), multiply_adds(HEADS));
    let [one_ms, several_ms] = [1, HEADS].map(time);
    lesson.step(text!("1. {MODEL} = {HEADS} × {size}: the same cost", "1. {MODEL} = {HEADS} × {size}：代价相同"));
    lesson.say(text!(
        "Queries, keys and values of {MODEL} numbers are cut into {HEADS} parts of {size}; each part is compared and summed by itself, and the {HEADS} contexts are put together again and mixed by W_o. For {LENGTH} positions, comparing and summing take:",
        "{MODEL} 维的查询、键、值切成 {HEADS} 份，每份 {size} 维；每份各自比较、求和，再把 {HEADS} 个上下文拼起来，由 W_o 混合。对 {LENGTH} 个位置，比较与求和需要："
    ));
    let row = |name: String, operations: usize, ms: f64| {
        vec![name.into(), format!("{:.1} M", operations as f64 / 1e6).into(), format!("{ms:.2}").into()]
    };
    lesson.table(vec![
        vec![text!("heads × d_k", "头数 × d_k"), text!("multiply-adds", "乘加"), text!("ms here", "本机毫秒")],
        row(format!("1 × {MODEL}"), one, one_ms),
        row(format!("{HEADS} × {size}"), several, several_ms),
    ]);
    lesson.say(text!(
        "The products cost the same. {HEADS} heads have {HEADS} times as many weights to normalise, which shows in the time the more, the smaller d_k is. Projections are in neither column.",
        "乘积的代价相同。{HEADS} 个头要归一化的权重是 {HEADS} 倍，d_k 越小，这在时间里就越明显。两列都不含投影。"
    ));
    json!({
        "d_model": MODEL, "heads": HEADS, "d_k": size, "positions": LENGTH,
        "multiply_adds": { "one_head": one, "several_heads": several },
        "milliseconds": { "one_head": one_ms, "several_heads": several_ms },
    })
}

/// Milliseconds in which a sequence that is projected already looks at itself: heads stand beside each other as
/// sentences do.
fn time(heads: usize) -> f64 {
    let mut rng = Rng::new(1, 0);
    let sequence: Tensor<3> = uniform(&mut Draw::Random(&mut rng), [heads, LENGTH, MODEL / heads], 1.0, &device());
    milliseconds(|| look(&scaled(), sequence.clone(), sequence.clone(), sequence.clone()).context)
}

fn views(lesson: &mut Lesson, alignment: &Alignment, heads: &[Vec<Vec<f64>>], size: usize, translation: &str) {
    let (n, whole) = (heads.len(), heads.len() * size);
    lesson.step(text!("2. {n} views of a trained model", "2. 训练好的模型的 {n} 个视角"));
    lesson.say(text!(
        "This one is small: {whole} = {n} × {size}. {SENTENCE} → {translation}. Columns are source tokens, each row one token of the output:",
        "这个模型很小：{whole} = {n} × {size}。{SENTENCE} → {translation}。列为源词元，每行一个输出词元："
    ));
    let (rows, columns) = (names(&alignment.target), names(&alignment.source));
    let mut table = vec![vec![text!("head", "头"), text!("entropy (nats)", "熵（nat）"), text!("peaks", "峰")]];
    let mut panels = Vec::new();
    for (i, (head, single)) in heads.iter().zip(&alignment.heads).enumerate() {
        let number = i + 1;
        let name = text!("head {number}", "头 {number}");
        lesson.weights(name.clone(), &rows, &columns, head);
        let mean = single.iter().map(|row| entropy(row)).sum::<f64>() / single.len().max(1) as f64;
        let peaks: Vec<&str> = head.iter().map(|row| columns[peak(row)]).collect();
        table.push(vec![number.to_string().into(), format!("{mean:.3}").into(), peaks.join(" ").into()]);
        panels.push((matrix(name, &rows, &columns, head), 1.0));
    }
    lesson.say(text!(
        "The entropy says how spread a head's rows are (0: one place), the peaks where each row looks most:",
        "熵说明各行有多分散（0 为只看一处），峰是每行看得最多的地方："
    ));
    lesson.table(table);
    lesson.say(text!(
        "Some heads repeat each other, and some look at a place that has nothing to do with the word, such as the end of the sentence: weights say where a head looks, not what the model makes of it. See what one is for by leaving it out: zhuyi translate --without-head 3, with a run of --attention multi-head.",
        "有些头彼此重复，有些头看向与该词无关的地方，例如句末：权重说明一个头看向哪里，不说明模型如何使用它。去掉一个头就能看出它的作用：用 --attention multi-head 训练的模型，zhuyi translate --without-head 3。"
    ));
    lesson.figure = Some(Figure::Panels([text!("source", "源"), text!("output", "输出")], panels));
}
