//! One vector for the whole sentence, against a context for each word.

use serde_json::json;

use super::board::{Figure, Lesson, matrix, text};
use super::tensors::{device, dot, look, names, one_hot, peak, row_sums, rows, tensor, weights, wide};
use crate::attention::{AttentionConfig, ScoreKind, Sizes, SourceMask, Track};
use crate::error::Result;
use crate::init::Draw;
use crate::text::words::Level;
use crate::translator::{Ends, Options, Rendered, Translator, View};

const SOURCE: [&str; 4] = ["The", "cat", "eats", "fish"];
const TARGET: [&str; 3] = ["猫", "吃", "鱼"];
/// The course's weights.
const WEIGHTS: [[f64; 4]; 3] = [[0.2, 0.6, 0.1, 0.1], [0.1, 0.2, 0.6, 0.1], [0.1, 0.1, 0.2, 0.6]];

pub fn work(translator: &Translator) -> Result<Lesson> {
    let mut lesson = Lesson::new("bottleneck", text!("The bottleneck", "瓶颈"));
    let found = course(&mut lesson);
    lesson.number("cat_eats_fish", found);
    let rendered = translated(translator, &SOURCE.join(" "))?;
    let found = trained(&mut lesson, &rendered);
    lesson.number("trained", found);
    Ok(lesson)
}

/// A sentence's best translation, with the model's own pieces and the end of the sentence.
pub(super) fn translated(translator: &Translator, sentence: &str) -> Result<Rendered> {
    let view = View { level: Level::Subword, ends: Ends::Shown, ..View::default() };
    let options = Options { view, ..translator.options() };
    let mut translations = translator.translate(&[sentence], &options, 0)?;
    Ok(translations.remove(0).hypotheses.remove(0))
}

fn course(lesson: &mut Lesson) -> serde_json::Value {
    // Softmax undoes the logarithm: with ln α as scores, the library's weights are the course's.
    let keys: Vec<Vec<f64>> = (0..4).map(|s| WEIGHTS.iter().map(|row| row[s].ln()).collect()).collect();
    let queries = one_hot(3, 3);
    let states = vec![vec![0.1, 0.0], vec![0.9, 0.2], vec![0.1, 0.9], vec![0.8, 0.7]];
    let seen = look(&dot(), tensor(&queries), tensor(&keys), tensor(&states));
    let (alpha, contexts) = (weights(&seen), rows(&seen.context));
    let peaks: Vec<&str> = alpha.iter().map(|row| SOURCE[peak(row)]).collect();

    lesson
        .step(text!("1. Without attention: one vector C for every word", "1. 没有注意力：每个词都用同一个向量 C"));
    lesson.say(text!(
        "The encoder reads The cat eats fish into states h_1 … h_4, and the decoder is given one of them, the last: 猫, 吃 and 鱼 are all written from the same C, however long the sentence was.",
        "编码器把 The cat eats fish 读成状态 h_1 … h_4，而解码器只得到最后一个：猫、吃、鱼都由同一个 C 写出，无论句子多长。"
    ));
    lesson.matrix(
        text!("states h_j (two numbers each, made up)", "状态 h_j（每个两个数，虚构）"),
        &SOURCE,
        &["1", "2"],
        &states,
    );
    lesson.matrix(text!("what each step sees", "每一步所见"), &TARGET, &["1", "2"], &without(&queries, &states));
    lesson.step(text!("2. With attention: C_i = Σ_j α_ij h_j", "2. 有注意力：C_i = Σ_j α_ij h_j"));
    lesson.weights(text!("the course's weights α", "课程的权重 α"), &TARGET, &SOURCE, &alpha);
    lesson.matrix(text!("what each step sees, C_i", "每一步所见 C_i"), &TARGET, &["1", "2"], &contexts);
    let (told, sums) = (peaks.join(", "), row_sums(&alpha));
    let told_sums = sums.iter().map(|sum| format!("{sum:.4}")).collect::<Vec<_>>().join(", ");
    lesson.say(text!(
        "Three words, three contexts. Row sums {told_sums}; the peaks are {told}: the alignment comes with the translation.",
        "三个词，三个上下文。各行之和 {told_sums}；最大处依次为 {told}：对齐随翻译而来。"
    ));
    json!({ "source": SOURCE, "target": TARGET, "weights": alpha, "row_sums": sums, "peaks": peaks, "context": contexts })
}

/// What each query sees without attention: the summary, here the last state.
fn without(queries: &[Vec<f64>], states: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let config = AttentionConfig { score: ScoreKind::None, ..AttentionConfig::default() };
    let attention = config.init(Sizes { query: 3, memory: 2 }, &mut Draw::Blank, &device());
    let mask = SourceMask::from_lengths(&[states.len()], states.len(), &device());
    let last = tensor(&states[states.len() - 1..]).squeeze_dim::<2>(1);
    let memory = attention.remember(tensor(states), mask, last);
    rows(&attention.attend(tensor(queries), &memory, Track::default()).context)
}

fn trained(lesson: &mut Lesson, rendered: &Rendered) -> serde_json::Value {
    let alignment = &rendered.alignment;
    let translation = &rendered.translation;
    lesson.step(text!("3. A trained model", "3. 训练好的模型"));
    lesson.say(text!("It writes: {translation}", "它写出：{translation}"));
    if alignment.weights.is_empty() {
        lesson.say(text!(
            "This run has no attention: there are no weights to show.",
            "此模型没有注意力，没有权重可看。"
        ));
        return json!({ "translation": translation });
    }
    let values = wide(&alignment.weights);
    let (rows, columns) = (names(&alignment.target), names(&alignment.source));
    let n = alignment.heads.len();
    let name = match n {
        0 => text!("its weights, the end of the sentence shown", "它的权重，含句末"),
        _ => text!(
            "its weights, the mean of {n} heads, the end of the sentence shown",
            "它的权重，{n} 个头的均值，含句末"
        ),
    };
    lesson.weights(name, &rows, &columns, &values);
    let mean_peak =
        |rows: &[Vec<f64>]| rows.iter().map(|row| row[peak(row)]).sum::<f64>() / rows.len().max(1) as f64;
    let (ours, course) = (mean_peak(&values), mean_peak(&WEIGHTS.map(Vec::from)));
    lesson.say(text!(
        "Nobody told it the alignment: it was trained on sentence pairs alone. The largest weight of a row is {ours:.2} on average; the course's are {course:.2}.",
        "没有人告诉它对齐：它只用句对训练。每行最大的权重平均为 {ours:.2}，课程的为 {course:.2}。"
    ));
    let course: Vec<Vec<f64>> = WEIGHTS.map(Vec::from).into();
    lesson.figure = Some(Figure::Panels(
        [text!("source", "源"), text!("output", "输出")],
        vec![
            (matrix(text!("the course", "课程"), &TARGET, &SOURCE, &course), 1.0),
            (matrix(text!("a trained model", "训练好的模型"), &rows, &columns, &values), 1.0),
        ],
    ));
    json!({
        "source": alignment.source, "target": alignment.target, "weights": values, "row_sums": row_sums(&values),
        "translation": translation,
    })
}
