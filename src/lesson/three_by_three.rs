//! Three queries, three keys, values of two numbers; with and without scaling.

use serde_json::json;

use super::board::{Figure, Lesson, Printed, matrix, text};
use super::tensors::{dot, look, rows, scaled, scores, tensor, weights};
use crate::error::Result;

const QUERIES: [&str; 3] = ["q1", "q2", "q3"];
const KEYS: [&str; 3] = ["k1", "k2", "k3"];
const DIMENSIONS: [&str; 4] = ["d1", "d2", "d3", "d4"];

pub(super) fn q() -> Vec<Vec<f64>> {
    [[1., 0., 1., 0.], [0., 1., 0., 1.], [1., 1., 0., 0.]].map(Vec::from).into()
}

pub(super) fn k() -> Vec<Vec<f64>> {
    [[0., 1., 0., 1.], [1., 0., 1., 0.], [1., 1., 1., 1.]].map(Vec::from).into()
}

pub(super) fn v() -> Vec<Vec<f64>> {
    [[1., 0.], [0., 2.], [2., 1.]].map(Vec::from).into()
}

pub fn work() -> Result<Lesson> {
    let (queries, keys, values) = (tensor(&q()), tensor(&k()), tensor(&v()));
    let (raw, small) = (scores(&dot(), &queries, &keys), scores(&scaled(), &queries, &keys));
    let seen = look(&scaled(), queries.clone(), keys.clone(), values.clone());
    let unscaled = weights(&look(&dot(), queries, keys, values));
    let (scaled_weights, context) = (weights(&seen), rows(&seen.context));
    let variances = [population_variance(&raw), population_variance(&small)];

    let mut lesson = Lesson::new("three-by-three", text!("Three by three", "三乘三"));
    lesson.step(text!("1. Given: Q, K [3 × 4] and V [3 × 2]", "1. 已知：Q、K [3 × 4] 与 V [3 × 2]"));
    lesson.matrix(text!("Q", "Q"), &QUERIES, &DIMENSIONS, &q());
    lesson.matrix(text!("K", "K"), &KEYS, &DIMENSIONS, &k());
    lesson.matrix(text!("V", "V"), &["v1", "v2", "v3"], &["1", "2"], &v());
    lesson.step(text!("2. Score, then divide by √4 = 2", "2. 打分，再除以 √4 = 2"));
    lesson.matrix(text!("Q Kᵀ", "Q Kᵀ"), &QUERIES, &KEYS, &raw);
    lesson.matrix(text!("Q Kᵀ / √4", "Q Kᵀ / √4"), &QUERIES, &KEYS, &small);
    lesson.step(text!("3. Normalise: with scaling, and without for comparison", "3. 归一化：缩放与不缩放的对比"));
    lesson.weights(text!("weights", "权重"), &QUERIES, &KEYS, &scaled_weights);
    lesson.weights(text!("weights without scaling", "不缩放的权重"), &QUERIES, &KEYS, &unscaled);
    lesson.say(text!(
        "Without scaling the gaps between scores are twice as wide: rows are steeper, and what is behind gets less.",
        "不缩放时得分的差距大一倍：每行更陡，落后者得到的更少。"
    ));
    lesson.step(text!("4. Sum: weights times V [3 × 2]", "4. 求和：权重乘 V [3 × 2]"));
    lesson.matrix(text!("context", "上下文"), &QUERIES, &["1", "2"], &context);
    let inside = context.iter().map(|point| hull_coordinates(point)).collect::<Vec<_>>();
    lesson.say(text!(
        "Each row is a mean of v1, v2 and v3 by weight, so it lies inside the triangle that they make (their convex hull). Solved for the three shares of a point (v1, v2, v3), the contexts give back their weights:",
        "每一行都是 v1、v2、v3 的加权平均，所以落在它们围成的三角形（凸包）之内。反解每个点的三个份额 (v1, v2, v3)，得到的正是权重："
    ));
    lesson.matrix(text!("shares", "份额"), &QUERIES, &["v1", "v2", "v3"], &inside);
    let (agrees, text) = compare(&mut lesson, [&scaled_weights, &unscaled, &context], variances);
    lesson.number(
        "three_by_three",
        json!({
            "q": q(), "k": k(), "v": v(), "d_k": 4, "d_v": 2, "scores": raw, "scaled": small,
            "weights": scaled_weights, "context": context, "weights_unscaled": unscaled, "hull_shares": inside,
            "score_variance_population": variances[0], "scaled_variance_population": variances[1],
            "text": text, "agrees": agrees,
            "why": "context[2][1] is exactly 1.0000 and context[0][1] and [1][0] round to 1.2670, [1][1] to 0.7330 (the text multiplied rounded weights). The nine scores have population variance 2/3 before and 1/6 after scaling; 4 and 1 are expectations over N(0,1) vectors, not this sample.",
        }),
    );
    let panel = |name, values: &[Vec<f64>], most| (matrix(name, &QUERIES, &KEYS, values), most);
    lesson.figure = Some(Figure::Panels(
        [text!("key", "键"), text!("query", "查询")],
        vec![
            panel(text!("scores", "得分"), &raw, 2.0),
            panel(text!("weights, scaled", "权重（缩放）"), &scaled_weights, 1.0),
            panel(text!("weights, not scaled", "权重（不缩放）"), &unscaled, 1.0),
        ],
    ));
    Ok(lesson)
}

fn compare(
    lesson: &mut Lesson,
    [scaled, unscaled, context]: [&[Vec<f64>]; 3],
    variances: [f64; 2],
) -> (serde_json::Value, serde_json::Value) {
    let printed = [
        Printed("0.1554 0.4223 0.4223; 0.4223 0.1554 0.4223; 0.2741 0.2741 0.4519"),
        Printed("0.0634 0.4683 0.4683; 0.4683 0.0634 0.4683; 0.2119 0.2119 0.5761"),
        Printed("1.0 1.2669; 1.2669 0.7331; 1.1779 1.0001"),
    ];
    let right = text!("Rounded rightly.", "四舍五入正确。");
    let weights = lesson.compare(text!("weights", "权重"), &printed[0], scaled, right.clone());
    let without = lesson.compare(text!("weights without scaling", "不缩放的权重"), &printed[1], unscaled, right);
    let (first, last) = (context[0][1], context[2][1]);
    let summed = lesson.compare(
        text!("context", "上下文"),
        &printed[2],
        context,
        text!(
            "The text multiplied weights that it had rounded before: {first:.5} rounds to {first:.4}, and the last number is exactly {last}.",
            "课文用先四舍五入过的权重去乘：{first:.5} 应为 {first:.4}，最后一个数恰好是 {last}。"
        ),
    );
    let why = text!(
        "4 and 1 are what to expect of vectors from N(0, 1) (the lesson `variance`), not of these nine scores.",
        "4 和 1 是 N(0, 1) 向量得分方差的期望值（见 `variance` 一课），不是这九个得分的方差。"
    );
    let names =
        [text!("variance before scaling", "缩放前的方差"), text!("variance after scaling", "缩放后的方差")];
    let said = ["about d_k = 4", "about 1"];
    let told = [text!("about d_k = 4", "约 d_k = 4"), text!("about 1", "约 1")];
    let near = |right: f64, expected: f64| (right - expected).abs() < 0.5 * expected;
    let agree = [near(variances[0], 4.0), near(variances[1], 1.0)];
    for (i, (name, told)) in names.into_iter().zip(told).enumerate() {
        lesson.compared(name, told, format!("{:.4}", variances[i]), agree[i], why.clone());
    }
    let agrees = json!({
        "weights": weights, "weights_unscaled": without, "context": summed,
        "variance_before": agree[0], "variance_after": agree[1],
    });
    let text = json!({
        "weights": printed[0].values(), "weights_unscaled": printed[1].values(), "context": printed[2].values(),
        "variance_before": said[0], "variance_after": said[1],
    });
    (agrees, text)
}

/// The mean squared distance of all numbers from their mean.
fn population_variance(values: &[Vec<f64>]) -> f64 {
    let all = values.concat();
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n
}

/// How much of each of the three values a point of the plane is made of: its barycentric coordinates in their triangle.
fn hull_coordinates(point: &[f64]) -> Vec<f64> {
    let corners = v();
    let [a, b, c] = [&corners[0], &corners[1], &corners[2]];
    let cross = |p: &[f64], q: &[f64], r: &[f64]| (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    let whole = cross(a, b, c);
    vec![cross(point, b, c) / whole, cross(a, point, c) / whole, cross(a, b, point) / whole]
}
