//! −∞ against 0; padding and causal mask, with the gradient.

use burn::tensor::{Bool, Tensor};
use serde_json::json;

use super::board::{Figure, Lesson, matrix, text};
use super::tensors::{device, linear, one_hot, rows, scaled, tensor, tensor_on, weights};
use super::three_by_three::{k, q, v};
use crate::attention::heads::Projections;
use crate::attention::{Attention, Sight, SourceMask, mask};
use crate::error::Result;

const SCORES: [f64; 4] = [2.0, 1.0, 0.0, 0.0];
const KEEP: [bool; 4] = [true, true, false, false];
const POSITIONS: [&str; 4] = ["a", "b", "pad", "pad"];
const TOKENS: [&str; 3] = ["t1", "t2", "t3"];

pub fn work() -> Result<Lesson> {
    let mut lesson = Lesson::new("masks", text!("Masks", "掩码"));
    padding(&mut lesson);
    causal(&mut lesson);
    Ok(lesson)
}

/// What becomes of scores before the softmax.
#[derive(Clone, Copy)]
enum Fill {
    /// −∞ where nothing is to be seen: the library's mask.
    Blocked([bool; 4]),
    /// 0 there, which is wrong.
    Zero([bool; 4]),
}

/// The weights of [`SCORES`], and the gradient of the weight of `a` by every score.
fn masked(fill: Fill) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
    let device = device().autodiff();
    let scores = tensor_on(&[SCORES.to_vec()], &device).require_grad();
    let row = |keep: [bool; 4]| Tensor::<1, Bool>::from_data(keep.map(|keep| !keep), &device).reshape([1, 1, 4]);
    let weights = match fill {
        Fill::Blocked(keep) => mask::softmax(scores.clone(), row(keep)),
        Fill::Zero(keep) => mask::softmax(scores.clone().mask_fill(row(keep), 0.0), row([true; 4])),
    };
    let gradients = weights.clone().narrow(2, 0, 1).sum().backward();
    let gradient = scores.grad(&gradients).map(|gradient| rows(&gradient)).unwrap_or_default();
    (rows(&weights), gradient)
}

fn padding(lesson: &mut Lesson) {
    let (right, gradient) = masked(Fill::Blocked(KEEP));
    let (wrong, wrong_gradient) = masked(Fill::Zero(KEEP));
    lesson.step(text!("1. Padding: −∞, not 0", "1. 填充：用 −∞，而不是 0"));
    lesson.say(text!(
        "A sentence of two tokens, padded to four. A mask must make exp(score) = 0, so the score must be −∞. A score of 0 is one like any other: exp(0) = 1.",
        "两个词元的句子，填充到四个。掩码要使 exp(得分) = 0，所以得分必须是 −∞。0 分和别的分数没有两样：exp(0) = 1。"
    ));
    lesson.matrix(text!("scores", "得分"), &["q"], &POSITIONS, &[SCORES.to_vec()]);
    lesson.weights(text!("weights, padding at −∞", "权重，填充为 −∞"), &["q"], &POSITIONS, &right);
    lesson.weights(text!("weights, padding at 0 (wrong)", "权重，填充为 0（错误）"), &["q"], &POSITIONS, &wrong);
    let (lost, each) = (100.0 * (wrong[0][2] + wrong[0][3]), wrong[0][2]);
    lesson.say(text!(
        "{lost:.1} % of the attention falls on padding, and the more padding, the more: the same sentence would mean something else in another batch. The gradient of the weight of a by each score is wrong too:",
        "{lost:.1} % 的注意力落在填充上，填充越多落得越多：同一个句子换一个批次就有了别的意思。a 的权重对各得分的梯度也随之出错："
    ));
    lesson.matrix(text!("gradient, padding at −∞", "梯度，填充为 −∞"), &["q"], &POSITIONS, &gradient);
    lesson.matrix(text!("gradient, padding at 0", "梯度，填充为 0"), &["q"], &POSITIONS, &wrong_gradient);
    lesson.say(text!(
        "Padding's own scores get no gradient either way: a constant stands in their place. But those of a and b no longer cancel, and the values of padding are trained with a weight of {each:.4} each.",
        "两种做法下填充自身的得分都没有梯度，因为它们被常数取代；但 a 与 b 的梯度不再抵消，而且填充的值也以各 {each:.4} 的权重参与训练。"
    ));
    let (empty, nothing) = masked(Fill::Blocked([false; 4]));
    let pads = ["pad"; 4];
    lesson.say(text!(
        "And a row with nothing to look at? −∞ everywhere would be 0/0. Here it gets weights of exactly 0, and so does its gradient:",
        "如果一行没有任何可看的呢？全为 −∞ 会得到 0/0。这里它的权重恰为 0，梯度也是："
    ));
    lesson.weights(text!("weights of an empty sentence", "空句的权重"), &["q"], &pads, &empty);
    lesson.matrix(text!("their gradient", "其梯度"), &["q"], &pads, &nothing);
    lesson.number(
        "mask",
        json!({
            "scores": [SCORES], "keep": KEEP, "right": right, "filled_with_zero": wrong,
            "gradient": gradient, "gradient_filled_with_zero": wrong_gradient,
            "empty": empty, "gradient_empty": nothing,
            "why": "exp(0)=1 is a score like any other: filling with 0 gives padding weight.",
        }),
    );
}

/// The gradient of the weight that each of three tokens gives to the first, by its own scores, under the causal mask.
fn causal_gradient(scores: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let device = device().autodiff();
    let scores = tensor_on(scores, &device).require_grad();
    let weights = mask::softmax(scores.clone(), mask::causal(3, &device));
    let gradients = weights.narrow(2, 0, 1).sum().backward();
    scores.grad(&gradients).map(|gradient| rows(&gradient)).unwrap_or_default()
}

fn causal(lesson: &mut Lesson) {
    // Three one-hot tokens: the rows of W_q, W_k and W_v are their queries, keys and values.
    let x = one_hot(3, 3);
    let projections = Projections::single(linear(&q()), linear(&k()), linear(&v()));
    let attention = Attention { projections: Some(projections), ..scaled() };
    let look = |sight| attention.attend_to_self(tensor(&x), SourceMask::from_lengths(&[3], 3, &device()), sight);
    let (whole, past) = (look(Sight::Whole), look(Sight::Causal));
    let scores = super::tensors::scores(&scaled(), &tensor(&q()), &tensor(&k()));
    lesson.step(text!("2. Causal: nobody sees what comes after", "2. 因果：看不到后面的词元"));
    lesson.say(text!(
        "A sequence that looks at itself, with the numbers of the lesson `three-by-three`. Token t sees the tokens up to t; what is above the diagonal is −∞. So all steps can be computed at once in training, and each knows what it will know when translating.",
        "一个关注自身的序列（自注意力），用 `three-by-three` 一课的数字。词元 t 只看到 t 为止；对角线以上为 −∞。于是训练时所有步可以同时计算，而每一步知道的恰是翻译时所知道的。"
    ));
    lesson.matrix(text!("scaled scores", "缩放后的得分"), &TOKENS, &TOKENS, &scores);
    lesson.weights(text!("weights without a mask", "无掩码的权重"), &TOKENS, &TOKENS, &weights(&whole));
    lesson.weights(text!("weights, causal", "因果权重"), &TOKENS, &TOKENS, &weights(&past));
    lesson.say(text!(
        "The first row has one choice only; the last row, which may see everything, is as before.",
        "第一行别无选择；最后一行可以看到全部，与之前相同。"
    ));
    let gradient = causal_gradient(&scores);
    lesson.matrix(
        text!("gradient of the weight of t1 by the scores of each row", "t1 的权重对每行得分的梯度"),
        &TOKENS,
        &TOKENS,
        &gradient,
    );
    lesson.say(text!(
        "Where there is no choice nothing is learnt, and no gradient reaches what is masked.",
        "没有选择之处无可学习；被掩盖之处没有梯度。"
    ));
    let panel = |name, values: &[Vec<f64>]| (matrix(name, &TOKENS, &TOKENS, values), 1.0);
    lesson.figure = Some(Figure::Panels(
        [text!("key", "键"), text!("query", "查询")],
        vec![panel(text!("no mask", "无掩码"), &weights(&whole)), panel(text!("causal", "因果"), &weights(&past))],
    ));
    lesson.number(
        "causal",
        json!({
            "scaled_scores": scores, "weights": weights(&past), "context": rows(&past.context), "gradient": gradient,
        }),
    );
}
