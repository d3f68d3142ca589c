//! The figure's scores: proportions are no softmax.

use serde_json::json;

use super::board::{Lesson, Printed, text};
use super::tensors::{dot, look, tensor, weights};
use crate::error::Result;

const SCORES: [f64; 4] = [2.0, 6.0, 1.0, 1.0];
const WORDS: [&str; 4] = ["The", "cat", "eats", "fish"];

pub fn work() -> Result<Lesson> {
    // A query of one number, 1, is compared with keys of one number, the scores.
    let keys: Vec<Vec<f64>> = SCORES.iter().map(|&score| vec![score]).collect();
    let seen = look(&dot(), tensor(&[vec![1.0]]), tensor(&keys), tensor(&keys));
    let softmax = weights(&seen);
    let sum: f64 = SCORES.iter().sum();
    let proportional = vec![SCORES.map(|score| score / sum).to_vec()];

    let mut lesson = Lesson::new("figure", text!("The numbers in the figure", "图中的数字"));
    lesson.step(text!("1. The scores of 猫 for the four words", "1. “猫”对四个词的得分"));
    lesson.matrix(text!("scores", "得分"), &["猫"], &WORDS, &[SCORES.to_vec()]);
    lesson.step(text!("2. In proportion: s / Σ s", "2. 按比例：s / Σ s"));
    lesson.weights(text!("proportional", "按比例"), &["猫"], &WORDS, &proportional);
    lesson.step(text!("3. Softmax: exp(s) / Σ exp(s)", "3. softmax：exp(s) / Σ exp(s)"));
    lesson.weights(text!("softmax", "softmax"), &["猫"], &WORDS, &softmax);
    let (ratio, gap) = (softmax[0][1] / softmax[0][0], SCORES[1] - SCORES[0]);
    lesson.say(text!(
        "Proportions go by ratios (6 is three times 2), softmax by differences: a lead of {gap} makes cat exp({gap}) = {ratio:.1} times as heavy as The. It also takes negative scores, which have no proportions.",
        "按比例看的是比值（6 是 2 的三倍），softmax 看的是差：领先 {gap} 使 cat 的权重是 The 的 exp({gap}) = {ratio:.1} 倍。softmax 也能处理负的得分，比例则不能。"
    ));
    let cat = softmax[0][1];
    let printed = Printed("0.2 0.6 0.1 0.1");
    let agrees = lesson.compare(
        text!("the figure's softmax", "图中的 softmax"),
        &printed,
        &softmax,
        text!(
            "0.2, 0.6, 0.1, 0.1 is s/Σs, the second step; softmax of 2, 6, 1, 1 gives cat {cat:.4}.",
            "0.2、0.6、0.1、0.1 是 s/Σs，即第二步；2、6、1、1 的 softmax 给 cat {cat:.4}。"
        ),
    );
    lesson.number(
        "figure_c1",
        json!({
            "scores": SCORES, "softmax": softmax[0], "proportional": proportional[0],
            "text": { "softmax": printed.values()[0] }, "agrees": { "softmax": agrees },
            "why": "[0.2,0.6,0.1,0.1] is s/sum(s). The softmax of [2,6,1,1] is [0.0178,0.9692,0.0065,0.0065].",
        }),
    );
    Ok(lesson)
}
