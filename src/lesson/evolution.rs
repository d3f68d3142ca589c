//! From no attention to the scaled dot product: what each step cured.

use burn::tensor::Tensor;
use serde::Deserialize;
use serde_json::json;

use super::board::{Curves, Figure, Lesson, Text, text};
use super::tensors::{device, dot, look, milliseconds, scaled, weights};
use crate::attention::{Attention, AttentionConfig, ScoreKind, Sizes, SourceMask, Track};
use crate::error::{Error, Result};
use crate::init::{Draw, uniform};
use crate::rng::Rng;

/// What `scripts/toy-table.sh` measured, for the README and for this lesson.
const MEASURED: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/lesson/toy.json"));

/// A line of it.
#[derive(Clone, Debug, Deserialize)]
struct Measured {
    attention: String,
    parameters: usize,
    exact_match: f64,
    aer: Option<f64>,
    entropy: Option<f64>,
    tokens_per_second: f64,
}

const STEPS: [&str; 5] = ["none", "additive", "general", "dot", "scaled-dot"];
const SIZES: [usize; 5] = [4, 16, 64, 256, 1024];
/// Rows of weights that a mean is taken of.
const ROWS: usize = 200;
/// Keys that each looks at.
const KEYS: usize = 10;

pub fn work() -> Result<Lesson> {
    let measured: Vec<Measured> =
        serde_json::from_str(MEASURED).map_err(|why| Error::Model(format!("data/lesson/toy.json: {why}")))?;
    let mut lesson = Lesson::new("evolution", text!("What each step cured", "每一步解决了什么"));
    trained(&mut lesson, &measured)?;
    let times = looks(&mut lesson);
    let sharp = sharpness(&mut lesson);
    let rows: Vec<_> = STEPS
        .iter()
        .filter_map(|step| measured.iter().find(|row| row.attention == *step))
        .map(|row| {
            json!({ "attention": row.attention, "parameters": row.parameters, "exact_match": row.exact_match,
            "aer": row.aer, "entropy": row.entropy, "tokens_per_second": row.tokens_per_second })
        })
        .collect();
    lesson.number("evolution", json!({ "trained": rows, "look_milliseconds": times, "largest_weight": sharp }));
    Ok(lesson)
}

fn trained(lesson: &mut Lesson, measured: &[Measured]) -> Result<()> {
    lesson.step(text!("1. none → additive: the bottleneck", "1. 无 → 加性：瓶颈"));
    lesson.say(text!(
        "Without attention every word is written from one vector (Sutskever 2014). Bahdanau 2015 lets the decoder look: v·tanh(W q + U k). Trained on the toy corpus with the same recipe (measured by scripts/toy-table.sh, one seed each, on the test sentences):",
        "没有注意力时，每个词都由一个向量写出（Sutskever 2014）。Bahdanau 2015 让解码器去看：v·tanh(W q + U k)。用同样的配方在玩具语料上训练（由 scripts/toy-table.sh 在测试集上测得，各一个种子）："
    ));
    let mut table = vec![vec![
        "".into(),
        text!("exact match", "完全匹配"),
        "AER".into(),
        text!("entropy", "熵"),
        text!("tokens/s", "词元/秒"),
        text!("parameters", "参数"),
    ]];
    for step in STEPS {
        let row = measured.iter().find(|row| row.attention == step);
        let row = row.ok_or_else(|| Error::Model(format!("data/lesson/toy.json has no line for {step}")))?;
        let optional = |x: Option<f64>| x.map_or("–".to_owned(), |x| format!("{x:.3}"));
        table.push(vec![
            row.attention.as_str().into(),
            format!("{:.1} %", 100.0 * row.exact_match).into(),
            optional(row.aer).into(),
            optional(row.entropy).into(),
            format!("{:.0}", row.tokens_per_second).into(),
            row.parameters.to_string().into(),
        ]);
    }
    lesson.table(table);
    lesson.say(text!(
        "The step from none to any attention is what this table shows. Between those below, one seed tells nothing about the last percent: what multiplicative attention brought is speed, and where it looks (AER) is not what it was trained for. scaled-dot also has projections for query, key and value.",
        "这张表说明的是从无到有的一步。其下各行之间，一个种子说明不了最后的百分之一：乘性注意力带来的是速度；看向哪里（AER）并不是训练目标。scaled-dot 另有查询、键、值的投影。"
    ));
    Ok(())
}

/// What is timed: sentences, positions of source and target, numbers of a query and a key.
const TIMED: [usize; 3] = [64, 30, 512];

/// Times looks by score, keys made before.
fn looks(lesson: &mut Lesson) -> serde_json::Value {
    let [b, l, size] = TIMED;
    let sequence: Tensor<3> = uniform(&mut Draw::Random(&mut Rng::new(1, 0)), [b, l, size], 1.0, &device());
    let sizes = Sizes { query: size, memory: size };
    let of_score = |score| {
        let config = AttentionConfig { score, size, ..AttentionConfig::default() };
        config.init(sizes, &mut Draw::Random(&mut Rng::new(1, 1)), &device())
    };
    // Without projections, which belong to heads.
    let attentions = [of_score(ScoreKind::Additive), of_score(ScoreKind::General), scaled()];
    let times = attentions.map(|attention| time(&attention, &sequence));
    lesson.step(text!("2. additive → multiplicative: the cost", "2. 加性 → 乘性：代价"));
    lesson.say(text!(
        "Additive needs a tanh of K numbers for every query with every key. Luong 2015 uses a product, q·W k, whose keys W k are made once a sentence. One look of {b} sentences, {l} queries at {l} keys, {size} numbers, keys made before, forward, on this machine now:",
        "加性打分对每个查询与每个键都要算 K 个数的 tanh。Luong 2015 改用乘积 q·W k，键 W k 每句只算一次。{b} 句，每句 {l} 个查询关注 {l} 个键，{size} 维，键已算好，仅前向，本机此刻："
    ));
    let row = |name: &str, time: f64, what: &str| vec![name.into(), format!("{time:.2}").into(), what.into()];
    lesson.table(vec![
        vec!["".into(), text!("ms", "毫秒"), "".into()],
        row("additive", times[0], "v·tanh(W q + k)"),
        row("general", times[1], "q·k"),
        row("scaled-dot", times[2], "q·k / √K"),
    ]);
    json!({ "additive": times[0], "general": times[1], "scaled-dot": times[2] })
}

/// Milliseconds in which a sequence is looked at by itself.
fn time(attention: &Attention, sequence: &Tensor<3>) -> f64 {
    let [b, l, size] = sequence.dims();
    let mask = SourceMask::from_lengths(&vec![l; b], l, &device());
    let memory = attention.remember(sequence.clone(), mask, Tensor::zeros([b, size], &device()));
    milliseconds(|| attention.attend(sequence.clone(), &memory, Track::default()).context)
}

/// The mean of the largest weight of rows of scores between vectors from N(0, 1), by d_k, without and with scaling.
fn sharpness(lesson: &mut Lesson) -> serde_json::Value {
    let mean_largest = |attention: &Attention, size: usize| {
        let mut rng = Rng::new(1, size as u64);
        let mut vectors =
            |n: usize| -> Vec<Vec<f64>> { (0..n).map(|_| (0..size).map(|_| rng.normal()).collect()).collect() };
        let (queries, keys) = (super::tensors::tensor(&vectors(ROWS)), super::tensors::tensor(&vectors(KEYS)));
        let rows = weights(&look(attention, queries, keys.clone(), keys));
        rows.iter().map(|row| row.iter().copied().fold(0.0, f64::max)).sum::<f64>() / ROWS as f64
    };
    let raw: Vec<f64> = SIZES.iter().map(|&size| mean_largest(&dot(), size)).collect();
    let small: Vec<f64> = SIZES.iter().map(|&size| mean_largest(&scaled(), size)).collect();
    let alike = 1.0 / KEYS as f64;
    lesson.step(text!("3. multiplicative → scaled: saturation", "3. 乘性 → 缩放：饱和"));
    lesson.say(text!(
        "The larger d_k, the larger q·k: with numbers of variance 1 a row is almost one-hot before anything is learnt, and its gradient all but gone (the lessons `variance` and `saturation`). Vaswani 2017 divides by √d_k. The mean of the largest of {KEYS} weights, vectors from N(0, 1), {ROWS} rows (all alike would be {alike}):",
        "d_k 越大，q·k 越大：若各数的方差为 1，还没学到任何东西，一行就几乎是独热，梯度几乎消失（见 `variance`、`saturation` 两课）。Vaswani 2017 除以 √d_k。{KEYS} 个权重中最大者的均值，向量取自 N(0, 1)，{ROWS} 行（若全部相同则为 {alike}）："
    ));
    let mut table = vec![["d_k", "q·k", "q·k/√d_k"].map(Text::from).to_vec()];
    for ((size, raw), small) in SIZES.iter().zip(&raw).zip(&small) {
        table.push(vec![size.to_string().into(), format!("{raw:.3}").into(), format!("{small:.3}").into()]);
    }
    lesson.table(table);
    lesson.figure = Some(Figure::Curves(Curves {
        title: text!("Mean of the largest of {KEYS} weights", "{KEYS} 个权重中最大者的均值"),
        axes: [text!("d_k", "d_k"), text!("largest weight", "最大权重")],
        logarithmic: [true, false],
        x: SIZES.map(|size| size as f64).to_vec(),
        series: vec![(text!("q·k", "q·k"), raw.clone()), (text!("q·k/√d_k", "q·k/√d_k"), small.clone())],
    }));
    json!({ "d_k": SIZES, "unscaled": raw, "scaled": small })
}
