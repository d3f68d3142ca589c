//! What attention costs: T² weights, T²d multiply-adds a product, and the time they take here.

use std::time::Instant;

use burn::tensor::{Tensor, TensorData};
use serde_json::json;

use super::board::{Curves, Figure, Lesson, Printed, Text, text};
use super::tensors::{device, look, scaled};
use crate::error::Result;
use crate::rng::Rng;

const LENGTHS: [usize; 4] = [128, 512, 1024, 4096];
const SIZE: usize = 512;
/// Times that each length is run; the best counts, since other programs only ever make it slower.
const RUNS: usize = 3;

/// Milliseconds of one look of T queries at T keys of [`SIZE`] numbers, in 32 bits as in training.
fn milliseconds(length: usize) -> f64 {
    let mut rng = Rng::new(1, 0);
    let numbers: Vec<f32> = (0..length * SIZE).map(|_| rng.symmetric() as f32).collect();
    let sequence = Tensor::<3>::from_data(TensorData::new(numbers, [1, length, SIZE]), &device());
    let run = || {
        let started = Instant::now();
        let seen = look(&scaled(), sequence.clone(), sequence.clone(), sequence.clone());
        // Waits for the result.
        let _ = seen.context.sum().into_scalar::<f32>();
        1000.0 * started.elapsed().as_secs_f64()
    };
    (0..RUNS).map(|_| run()).fold(f64::INFINITY, f64::min)
}

pub fn work() -> Result<Lesson> {
    let elements: Vec<f64> = LENGTHS.iter().map(|&t| (t * t) as f64).collect();
    let multiply_adds: Vec<f64> = elements.iter().map(|elements| elements * SIZE as f64).collect();
    let times: Vec<f64> = LENGTHS.iter().map(|&t| milliseconds(t)).collect();
    let mut lesson = Lesson::new("complexity", text!("What attention costs", "注意力的代价"));
    lesson.step(text!("T queries look at T keys, d = {SIZE}", "T 个查询关注 T 个键，d = {SIZE}"));
    lesson.say(text!(
        "The weights are T × T numbers; Q Kᵀ needs T²d multiply-adds, weights times V as many again. Twice the length, four times the cost. (Projections, T d² each, are not counted.)",
        "权重是 T × T 个数；Q Kᵀ 需要 T²d 次乘加，权重乘 V 同样多。长度加倍，代价四倍。（投影每个 T d²，未计。）"
    ));
    let head = vec![
        "T".into(),
        "T²".into(),
        "T²d".into(),
        text!("ms here", "本机毫秒"),
        text!("times the row above", "为上一行的倍数"),
        text!("T² predicts", "按 T² 应为"),
    ];
    let mut table = vec![head];
    for (i, t) in LENGTHS.iter().enumerate() {
        let against_last =
            |all: &[f64]| if i == 0 { String::new() } else { format!("{:.1}", all[i] / all[i - 1]) };
        let numbers = [
            format!("{:.0}", elements[i]),
            format!("{:.1} M", multiply_adds[i] / 1e6),
            format!("{:.2}", times[i]),
        ];
        table.push(
            std::iter::once(t.to_string())
                .chain(numbers)
                .chain([against_last(&times), against_last(&elements)])
                .map(Text::from)
                .collect(),
        );
    }
    lesson.table(table);
    lesson.say(text!(
        "The times are of this machine, now: both products, the softmax and the mask, in 32 bits, the best of {RUNS}.",
        "时间是本机此刻的实测：两个乘积、softmax 与掩码，32 位，取 {RUNS} 次中最快的一次。"
    ));
    let printed = [Printed("1.6 26 105 1678"), Printed("8.4 134.2 536.9 8589.9")];
    let wan: Vec<f64> = elements.iter().map(|elements| elements / 1e4).collect();
    let million: Vec<f64> = multiply_adds.iter().map(|operations| operations / 1e6).collect();
    let right = text!("Rounded rightly.", "四舍五入正确。");
    let a = lesson.compare(text!("T² in wan, ten thousands", "T²（万）"), &printed[0], &[wan], right.clone());
    let b = lesson.compare(text!("T²d in millions", "T²d（百万）"), &printed[1], &[million], right);
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
    lesson.figure = Some(Figure::Curves(Curves {
        title: text!(
            "Time of one look of T queries at T keys, d = {SIZE}",
            "T 个查询关注 T 个键一次的时间，d = {SIZE}"
        ),
        axes: [text!("T", "T"), text!("milliseconds", "毫秒")],
        logarithmic: [true, true],
        x: LENGTHS.map(|t| t as f64).to_vec(),
        series: vec![
            (text!("measured", "实测"), times.clone()),
            (
                text!("T², through the last point", "过末点的 T² 参考线"),
                LENGTHS.iter().map(|&t| times[3] * (t as f64 / 4096.0).powi(2)).collect(),
            ),
        ],
    }));
    Ok(lesson)
}
