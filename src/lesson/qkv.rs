//! Three tokens, from input to context.

use burn::tensor::Tensor;
use serde_json::json;

use super::board::{Figure, Lesson, Printed, matrix, text};
use super::tensors::{dot, linear, one_hot, row_sums, rows, scaled, scores, tensor};
use crate::attention::heads::Projections;
use crate::attention::{Sight, SourceMask};
use crate::error::Result;

const TOKENS: [&str; 3] = ["I", "love", "NN"];
const DIMENSIONS: [&str; 4] = ["d1", "d2", "d3", "d4"];

pub fn work() -> Result<Lesson> {
    let (x, identity) = (one_hot(3, 4), one_hot(4, 4));
    let projections = Projections::single(linear(&identity), linear(&identity), linear(&identity));
    let (q, k, v) = {
        let input = tensor(&x);
        (projections.queries(input.clone()), projections.keys(input.clone()), projections.values(input))
    };
    let (raw, small) = (scores(&dot(), &q, &k), scores(&scaled(), &q, &k));
    let attention = crate::attention::Attention { projections: Some(projections), ..scaled() };
    let mask = SourceMask::from_lengths(&[3], 3, &super::tensors::device());
    let seen = attention.attend_to_self(tensor(&x), mask, Sight::Whole);
    let (weights, context) = (super::tensors::weights(&seen), rows(&seen.context));
    Ok(board(&x, [q, k, v], [&raw, &small, &weights, &context]))
}

fn board(x: &[Vec<f64>], qkv: [Tensor<3>; 3], [raw, small, weights, context]: [&[Vec<f64>]; 4]) -> Lesson {
    let mut lesson = Lesson::new("qkv", text!("Three tokens look at each other", "三个词元互相关注"));
    lesson.step(text!("1. The input X", "1. 输入 X"));
    lesson.say(text!(
        "\"I love NN\": one row a token, four numbers each (d_k = 4). They are one-hot, so that you can follow every number.",
        "“I love NN”：每个词元一行，每行四个数（d_k = 4）。用独热向量，便于跟踪每一个数。"
    ));
    lesson.matrix(text!("X [3 × 4]", "X [3 × 4]"), &TOKENS, &DIMENSIONS, x);
    lesson.step(text!(
        "2. Query, key and value: Q = X W_q, K = X W_k, V = X W_v",
        "2. 查询、键、值：Q = X W_q，K = X W_k，V = X W_v"
    ));
    lesson.say(text!(
        "The query is what a token asks, the key what it can be found by, the value what it gives. Here all three W are the identity, so Q = K = V = X.",
        "查询是词元要问什么，键是凭什么找到它，值是它给出什么。这里三个 W 都取单位阵，所以 Q = K = V = X。"
    ));
    for (name, tensor) in ["Q", "K", "V"].into_iter().zip(&qkv) {
        lesson.matrix(text!("{name} [3 × 4]", "{name} [3 × 4]"), &TOKENS, &DIMENSIONS, &rows(tensor));
    }
    lesson.step(text!("3. Score: Q Kᵀ", "3. 打分：Q Kᵀ"));
    lesson.matrix(
        text!("scores [3 × 3]: a row asks, a column answers", "得分 [3 × 3]，行为查询，列为键"),
        &TOKENS,
        &TOKENS,
        raw,
    );
    lesson.step(text!("4. Scale: divide by √d_k = √4 = 2", "4. 缩放：除以 √d_k = √4 = 2"));
    lesson.matrix(text!("scaled [3 × 3]", "缩放后 [3 × 3]"), &TOKENS, &TOKENS, small);
    lesson.step(text!("5. Normalise: softmax of each row", "5. 归一化：逐行 softmax"));
    lesson.weights(text!("weights [3 × 3]", "权重 [3 × 3]"), &TOKENS, &TOKENS, weights);
    let sums = row_sums(weights);
    let told: Vec<String> = sums.iter().map(|sum| format!("{sum:.10}")).collect();
    let told = told.join(", ");
    lesson.say(text!("Row sums: {told}. Each row is a distribution.", "各行之和：{told}。每一行都是一个分布。"));
    lesson.step(text!("6. Sum: weights times V", "6. 求和：权重乘 V"));
    lesson.matrix(text!("context [3 × 4]", "上下文 [3 × 4]"), &TOKENS, &DIMENSIONS, context);
    trace(&mut lesson, x, [raw, small, weights, context]);
    compare(&mut lesson, x, [raw, small, weights, context]);
    lesson.figure = Some(figure(raw, small, weights));
    lesson
}

/// What becomes of the first query, number by number.
fn trace(lesson: &mut Lesson, x: &[Vec<f64>], [raw, small, weights, context]: [&[Vec<f64>]; 4]) {
    lesson.step(text!("The trace of query 0, \"I\"", "跟踪查询 0：“I”"));
    let list = |numbers: &[f64], decimals: usize| {
        numbers.iter().map(|x| format!("{x:.decimals$}")).collect::<Vec<_>>().join(", ")
    };
    let (q, scores, scaled) = (list(&x[0], 0), list(&raw[0], 0), list(&small[0], 1));
    let exps: Vec<f64> = small[0].iter().map(|z| z.exp()).collect();
    let (sum, exps) = (exps.iter().sum::<f64>(), list(&exps, 4));
    let (rows, result) = (list(&weights[0], 4), list(&context[0], 4));
    lesson.say(text!(
        "q = ({q}); scores {scores}; over 2: {scaled}; exp: {exps}, together {sum:.4}; each over the sum: weights {rows}; the rows of V by these weights: ({result}).",
        "q = ({q})；得分 {scores}；除以 2：{scaled}；取指数：{exps}，合计 {sum:.4}；各除以总和得权重 {rows}；按此权重对 V 的各行求和：({result})。"
    ));
}

fn figure(raw: &[Vec<f64>], small: &[Vec<f64>], weights: &[Vec<f64>]) -> Figure {
    let panel = |name, values, most| (matrix(name, &TOKENS, &TOKENS, values), most);
    Figure::Panels(
        [text!("key", "键"), text!("query", "查询")],
        vec![
            panel(text!("raw scores", "原始得分"), raw, 1.0),
            panel(text!("scaled by 1/√4", "乘 1/√4"), small, 1.0),
            panel(text!("weights", "权重"), weights, 1.0),
        ],
    )
}

fn compare(lesson: &mut Lesson, x: &[Vec<f64>], [raw, small, weights, context]: [&[Vec<f64>]; 4]) {
    let prose = Printed("0.39 0.3 0.3; 0.3 0.39 0.3; 0.3 0.3 0.39");
    let program = Printed("0.4519 0.2741 0.2741; 0.2741 0.4519 0.2741; 0.2741 0.2741 0.4519");
    let right = weights[0][0];
    let in_prose = lesson.compare(
        text!("weights in the course's prose", "课文中的权重"),
        &prose,
        weights,
        text!(
            "exp(0.5)/(exp(0.5) + 2) = {right:.4}; 0.39, 0.30, 0.30 is no softmax of (0.5, 0, 0): it sums to 0.99.",
            "exp(0.5)/(exp(0.5) + 2) = {right:.4}；0.39、0.30、0.30 不是 (0.5, 0, 0) 的 softmax：其和为 0.99。"
        ),
    );
    let in_output = lesson.compare(
        text!("weights in the output of the course's program", "课程程序输出的权重"),
        &program,
        weights,
        text!("The program is right, the prose is not.", "程序是对的，课文不对。"),
    );
    lesson.number(
        "three_tokens",
        json!({
            "tokens": TOKENS, "x": x, "d_k": 4, "scores": raw, "scaled": small, "weights": weights,
            "row_sums": row_sums(weights), "context": context,
            "text": { "weights_in_prose": prose.values(), "weights_in_program_output": program.values() },
            "agrees": { "weights_in_prose": in_prose, "weights_in_program_output": in_output },
            "why": "exp(0.5)/(exp(0.5)+2) = 0.4519; 0.39/0.30/0.30 is no softmax of [0.5,0,0] (it also sums to 0.99).",
        }),
    );
}
