//! Softmax saturates: the larger the gap between two scores, the smaller the gradient.

use serde_json::json;

use super::board::{Curves, Figure, Lesson, Printed, Text, text};
use super::tensors::{device, dot, look, rows, tensor_on, weights};
use crate::error::Result;

/// The d_k of the example.
const LARGE: f64 = 512.0;
const GAPS: [f64; 6] = [0.0, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The larger of two weights whose scores differ by `gap`, and its gradient by its own score.
fn at(gap: f64) -> (f64, f64) {
    let device = device().autodiff();
    // A query of one number, 1, so that keys are scores.
    let query = tensor_on(&[vec![1.0]], &device);
    let keys = tensor_on(&[vec![gap], vec![0.0]], &device).require_grad();
    let seen = look(&dot(), query, keys.clone(), keys.clone());
    let larger = weights(&seen)[0][0];
    let gradient = seen.weights.and_then(|weights| {
        let gradients = weights.mean.narrow(2, 0, 1).sum().backward();
        Some(rows(&keys.grad(&gradients)?)[1][0])
    });
    // By the other score it is −p₁p₂, without the cancelling of 1 − p₁; by its own the opposite.
    (larger, -gradient.unwrap_or(f64::NAN))
}

pub fn work() -> Result<Lesson> {
    let (larger, gradients): (Vec<f64>, Vec<f64>) = GAPS.iter().map(|&gap| at(gap)).unzip();
    let mut lesson = Lesson::new("saturation", text!("Softmax saturates", "softmax 的饱和"));
    lesson.step(text!("Two scores, the gap between them from 0 to 16", "两个得分，差距从 0 到 16"));
    lesson.say(text!(
        "p is the weight of the larger score, p (1 − p) its gradient. With a gap of 16 the row is one-hot to the eye and the gradient is gone: inside a network, whatever the loss says, the scores no longer hear it. (At the output, cross-entropy and softmax together have the gradient p − y, which does not vanish when the model is wrong.)",
        "p 是较大得分的权重，p (1 − p) 是它的梯度。差距为 16 时，这一行看上去已是独热，梯度消失：在网络内部，无论损失说什么，得分都听不见了。（在输出端，交叉熵与 softmax 合起来的梯度是 p − y，模型出错时并不消失。）"
    ));
    lesson.table(table(&larger, &gradients));
    let gap = (2.0 * LARGE).sqrt();
    lesson.say(text!(
        "Scores of vectors with d_k numbers spread with a standard deviation of √d_k (the lesson `variance`), gaps between two of them with √(2 d_k): {gap:.1} for d_k = {LARGE}. Divided by √d_k gaps spread with √2, whatever the size.",
        "d_k 维向量的得分的标准差是 √d_k（见 `variance` 一课），两个得分之差的标准差是 √(2 d_k)：d_k = {LARGE} 时为 {gap:.1}。除以 √d_k 后，无论多少维，差的标准差都是 √2。"
    ));
    let printed = [Printed("0.5 0.7311 0.8808 0.982 0.99967 1.0"), Printed("0.25 0.1966 0.105 0.0177 0.00034 0")];
    let (at_8, at_16) = (larger[4], gradients[5]);
    let p = lesson.compare(
        text!("larger probability", "较大的概率"),
        &printed[0],
        std::slice::from_ref(&larger),
        text!(
            "At a gap of 8 it is {at_8:.7}, which rounds to {at_8:.5}; the text prints 0.99967.",
            "差距为 8 时是 {at_8:.7}，应为 {at_8:.5}；课文印作 0.99967。"
        ),
    );
    let g = lesson.compare(
        text!("gradient", "梯度"),
        &printed[1],
        std::slice::from_ref(&gradients),
        text!(
            "But at a gap of 16 it is {at_16:.1e}, not 0: rounded to a whole number only.",
            "但差距为 16 时是 {at_16:.1e}，不是 0：只有取整才得到它。"
        ),
    );
    let (x, curve) = curve();
    lesson.number(
        "saturation",
        json!({
            "gap": GAPS, "larger_probability": larger, "gradient": gradients,
            "curve": { "gap": x, "larger_probability": curve[0], "gradient": curve[1] },
            "text": { "larger_probability": printed[0].values()[0], "gradient": printed[1].values()[0] },
            "agrees": { "larger_probability": p, "gradient": g },
            "why": "at a gap of 8 the larger probability is 0.9996646, which rounds to 0.99966; the text prints 0.99967",
        }),
    );
    lesson.figure = Some(figure(x, curve));
    Ok(lesson)
}

fn table(larger: &[f64], gradients: &[f64]) -> Vec<Vec<Text>> {
    let mut table = vec![vec![text!("gap", "差距"), "p".into(), "p (1 − p)".into()]];
    for ((gap, p), gradient) in GAPS.iter().zip(larger).zip(gradients) {
        table.push(vec![gap.to_string().into(), format!("{p:.7}").into(), format!("{gradient:.10}").into()]);
    }
    table
}

fn figure(x: Vec<f64>, [larger, gradients]: [Vec<f64>; 2]) -> Figure {
    Figure::Curves(Curves {
        title: text!("The weight of the larger score, and its gradient", "较大得分的权重及其梯度"),
        axes: [text!("gap between the scores", "得分之差"), text!("value", "数值")],
        logarithmic: [false, false],
        x,
        series: vec![(text!("p", "p"), larger), (text!("p (1 − p)", "p (1 − p)"), gradients)],
    })
}

/// Gaps from 0 to 16, with p and its gradient at each.
fn curve() -> (Vec<f64>, [Vec<f64>; 2]) {
    let gaps: Vec<f64> = (0..=16).map(f64::from).collect();
    let (larger, gradients) = gaps.iter().map(|&gap| at(gap)).unzip();
    (gaps, [larger, gradients])
}
