//! What attention costs: T² weights, T²d multiply-adds a product, and the time they take here.

use burn::tensor::Tensor;
use serde_json::json;

use super::board::{Curves, Figure, Lesson, Printed, Text, text};
use super::tensors::{RUNS, device, look, milliseconds, scaled};
use crate::error::Result;
use crate::init::{Draw, uniform};
use crate::rng::Rng;

const LENGTHS: [usize; 4] = [128, 512, 1024, 4096];
const SIZE: usize = 512;

/// Milliseconds of one look of T queries at T keys of [`SIZE`] numbers.
fn time(length: usize) -> f64 {
    let mut rng = Rng::new(1, 0);
    let sequence: Tensor<3> = uniform(&mut Draw::Random(&mut rng), [1, length, SIZE], 1.0, &device());
    milliseconds(|| look(&scaled(), sequence.clone(), sequence.clone(), sequence.clone()).context)
}

pub fn work() -> Result<Lesson> {
    let elements = LENGTHS.map(|t| (t * t) as f64);
    let multiply_adds = elements.map(|elements| elements * SIZE as f64);
    let times = LENGTHS.map(time);
    let mut lesson = Lesson::new("complexity", text!("What attention costs", "注意力的代价"));
    lesson.step(text!("T queries look at T keys, d = {SIZE}", "T 个查询关注 T 个键，d = {SIZE}"));
    lesson.say(text!(
        "The weights are T × T numbers; Q Kᵀ needs T²d multiply-adds, weights times V as many again. Twice the length, four times the cost. (Projections, T d² each, are not counted.)",
        "权重是 T × T 个数；Q Kᵀ 需要 T²d 次乘加，权重乘 V 同样多。长度加倍，代价四倍。（投影每个 T d²，未计。）"
    ));
    lesson.table(table(&elements, &multiply_adds, &times));
    lesson.say(text!(
        "The times are of this machine, now: both products, the softmax and the mask, in 32 bits, the best of {RUNS}.",
        "时间是本机此刻的实测：两个乘积、softmax 与掩码，32 位，取 {RUNS} 次中最快的一次。"
    ));
    let printed = [Printed("1.6 26 105 1678"), Printed("8.4 134.2 536.9 8589.9")];
    let [wan, million] = [elements.map(|x| x / 1e4), multiply_adds.map(|x| x / 1e6)].map(|row| vec![row.to_vec()]);
    let right = text!("Rounded rightly.", "四舍五入正确。");
    let a = lesson.compare(text!("T² in wan, ten thousands", "T²（万）"), &printed[0], &wan, right.clone());
    let b = lesson.compare(text!("T²d in millions", "T²d（百万）"), &printed[1], &million, right);
    lesson.number(
        "complexity",
        json!({
            "T": LENGTHS, "d": SIZE, "matrix_elements": LENGTHS.map(|t| t * t),
            "multiply_adds_per_product": LENGTHS.map(|t| t * t * SIZE),
            "milliseconds": times,
            "text": { "matrix_elements_wan": printed[0].values()[0], "million_multiply_adds": printed[1].values()[0] },
            "agrees": { "matrix_elements_wan": a, "million_multiply_adds": b },
        }),
    );
    lesson.figure = Some(figure(&times));
    Ok(lesson)
}

fn table(elements: &[f64], multiply_adds: &[f64], times: &[f64]) -> Vec<Vec<Text>> {
    let mut table = vec![vec![
        "T".into(),
        "T²".into(),
        "T²d".into(),
        text!("ms here", "本机毫秒"),
        text!("times the row above", "为上一行的倍数"),
        text!("T² predicts", "按 T² 应为"),
    ]];
    for (i, t) in LENGTHS.iter().enumerate() {
        let above = |all: &[f64]| if i == 0 { String::new() } else { format!("{:.1}", all[i] / all[i - 1]) };
        let row = [
            t.to_string(),
            format!("{:.0}", elements[i]),
            format!("{:.1} M", multiply_adds[i] / 1e6),
            format!("{:.2}", times[i]),
            above(times),
            above(elements),
        ];
        table.push(row.map(Text::from).to_vec());
    }
    table
}

fn figure(times: &[f64; LENGTHS.len()]) -> Figure {
    let (last, longest) = (times[LENGTHS.len() - 1], LENGTHS[LENGTHS.len() - 1] as f64);
    let squares = LENGTHS.map(|t| last * (t as f64 / longest).powi(2));
    Figure::Curves(Curves {
        title: text!(
            "Time of one look of T queries at T keys, d = {SIZE}",
            "T 个查询关注 T 个键一次的时间，d = {SIZE}"
        ),
        axes: [text!("T", "T"), text!("milliseconds", "毫秒")],
        logarithmic: [true, true],
        x: LENGTHS.map(|t| t as f64).to_vec(),
        series: vec![
            (text!("measured", "实测"), times.to_vec()),
            (text!("T², through the last point", "过末点的 T² 参考线"), squares.to_vec()),
        ],
    })
}
