//! Every tensor of one step, with its shape, in the order of the course's figures.

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use serde_json::{Value, json};

use super::board::{Lesson, Text, text};
use super::tensors::{device, row_sums, rows};
use crate::attention::{Attended, Memory, Score, ScoreKind, Track};
use crate::error::Result;
use crate::kernels::gru::Direction;
use crate::kernels::linear::{self, Activation};
use crate::model::decoder::{Decoder, DecoderState};
use crate::model::{ModelConfig, Seq2Seq, SourceBatch, TargetBatch, Timing, Vocabularies};
use crate::rng::Rng;
use crate::text::{BOS, EOS};

const SOURCE: [&str; 4] = ["欢迎", "来", "深圳", "</s>"];
const TARGET: [&str; 4] = ["welcome", "to", "shenzhen", "</s>"];
/// Control ids come first; then the three words.
const FIRST: usize = 4;
const VOCABULARY: usize = 7;

/// One line of the ledger.
struct Row {
    name: &'static str,
    shape: Vec<usize>,
    meaning: Text,
}

/// What a step computed besides its ledger.
struct Step {
    ledger: Vec<Row>,
    weights: Vec<Vec<f64>>,
    readout: Vec<Vec<f64>>,
}

pub fn work(timing: Timing) -> Result<Lesson> {
    let model = model(timing)?;
    let step = step(&model, timing);
    let (title, name) = match timing {
        Timing::After => (text!("One step of Luong's decoder", "Luong 解码器的一步"), "luong"),
        Timing::Before => (text!("One step of Bahdanau's decoder", "Bahdanau 解码器的一步"), "bahdanau"),
    };
    let mut lesson = Lesson::new("dataflow", title);
    lesson.step(text!(
        "欢迎 来 深圳 → welcome to shenzhen, the first step",
        "欢迎 来 深圳 → welcome to shenzhen，第一步"
    ));
    introduce(&mut lesson, timing);
    let mut table = vec![vec!["".into(), text!("tensor", "张量"), text!("shape", "形状"), "".into()]];
    for (number, row) in (1usize..).zip(&step.ledger) {
        let shape = format!("{:?}", row.shape);
        table.push(vec![number.to_string().into(), row.name.into(), shape.into(), row.meaning.clone()]);
    }
    lesson.table(table);
    lesson.weights(
        text!("α_1, where the first step looks", "α_1，第一步看向哪里"),
        &["t = 1"],
        &SOURCE,
        &step.weights,
    );
    let ledger: Vec<Value> =
        step.ledger.iter().map(|row| json!({ "name": row.name, "shape": row.shape })).collect();
    lesson.number(
        "dataflow",
        json!({
            "attention": name, "source": SOURCE, "target": TARGET, "tensors": ledger, "weights": step.weights,
            "row_sums": row_sums(&step.weights), "readout": step.readout,
        }),
    );
    Ok(lesson)
}

/// What the letters are, and when the decoder looks.
fn introduce(lesson: &mut Lesson, timing: Timing) {
    lesson.say(match timing {
        Timing::After => text!(
            "The query is the state after the step, s_t: first the recurrent step, then the look, then both together (Luong 2015, figure 2; without the input feeding of his figure 4).",
            "查询是本步之后的状态 s_t：先循环一步，再看，再合并（Luong 2015，图 2；不含其图 4 的 input feeding）。"
        ),
        Timing::Before => text!(
            "The query is the state before the step, s_{{t−1}}: first the look, then the recurrent step with what it saw (Bahdanau 2015, figure 1; his readout is a maxout layer, ours a tanh).",
            "查询是本步之前的状态 s_{{t−1}}：先看，再带着所见循环一步（Bahdanau 2015，图 1；他的读出层是 maxout，这里是 tanh）。"
        ),
    });
    lesson.say(text!(
        "The shapes: 1 sentence, S = 4 source positions (the end is one), E = 8 numbers of a vector, M = 8 of an encoder state (two directions of 4), H = 8 of a decoder state, K of a key, V = 7 words. The model is small and untrained.",
        "形状：1 个句子，S = 4 个源位置（句末占一个），词向量 E = 8 维，编码器状态 M = 8 维（两个方向各 4），解码器状态 H = 8 维，键 K 维，V = 7 个词。模型很小，未经训练。"
    ));
}

fn model(timing: Timing) -> Result<Seq2Seq> {
    let mut config = ModelConfig::default();
    config.embedding.size = 8;
    config.encoder.hidden = 4;
    config.decoder.hidden = 8;
    config.decoder.timing = timing;
    config.attention.size = 6;
    config.attention.score = match timing {
        Timing::After => ScoreKind::General,
        Timing::Before => ScoreKind::Additive,
    };
    config.init(Vocabularies { source: VOCABULARY, target: VOCABULARY }, &mut Rng::new(1, 0), &device())
}

fn source() -> SourceBatch {
    SourceBatch::new(&[&[FIRST, FIRST + 1, FIRST + 2, EOS]], &device())
}

/// The first step, tensor by tensor.
fn step(model: &Seq2Seq, timing: Timing) -> Step {
    let source = source();
    let mut ledger = Vec::new();
    let mut write = |name, shape: Vec<usize>, meaning| ledger.push(Row { name, shape, meaning });
    write("x", source.ids.dims().into(), text!("ids of the source tokens", "源词元的编号"));
    let embedded = model.source_vectors().forward(source.ids.clone());
    write("E x", embedded.dims().into(), text!("their vectors", "它们的向量"));
    let (memory, state) = model.encode(&source);
    write(
        "h",
        memory.values.dims().into(),
        text!("encoder states, both directions: the values", "编码器状态，双向：值"),
    );
    write(
        "C",
        memory.summary.dims().into(),
        text!(
            "the last forward and the last backward state side by side: all that a model without attention has",
            "最后的前向状态与最后的后向状态并排：没有注意力的模型只有它"
        ),
    );
    write(
        "s_0",
        state.layers[0].dims().into(),
        match timing {
            Timing::After => text!("tanh(W_i C): the decoder's first state", "tanh(W_i C)：解码器的初始状态"),
            Timing::Before => text!(
                "tanh(W_i C): the decoder's first state, here the query",
                "tanh(W_i C)：解码器的初始状态，这里即查询"
            ),
        },
    );
    let keys = match timing {
        Timing::After => text!("W_a h: the keys, once a sentence", "W_a h：键，每句一次"),
        Timing::Before => text!("U_a h: the keys, once a sentence", "U_a h：键，每句一次"),
    };
    write("k", memory.keys.dims().into(), keys);
    let begin = TargetBatch::new(&[&[BOS]], &device());
    let previous = model.target_embedding.forward(begin.inputs);
    write(
        "y_0",
        previous.dims().into(),
        text!("the vector of the token before, here the begin of the sentence", "前一个词元的向量，这里是句首"),
    );
    let decoder = &model.decoder;
    let (readout, weights) = match timing {
        Timing::After => after(decoder, previous, &state, &memory, &mut write),
        Timing::Before => before(decoder, previous, &state, &memory, &mut write),
    };
    let logits = model.output().logits(readout.clone().squeeze_dim(1));
    write("logits", logits.dims().into(), text!("W_o times it: a number for each word", "W_o 乘之：每个词一个数"));
    write(
        "p",
        softmax(logits, 1).dims().into(),
        text!("softmax: the probability of each first word", "softmax：每个首词的概率"),
    );
    Step { ledger, weights, readout: rows(&readout) }
}

type Write<'a> = &'a mut dyn FnMut(&'static str, Vec<usize>, Text);

/// Luong: recur, look, join.
fn after(
    decoder: &Decoder,
    previous: Tensor<3>,
    state: &DecoderState,
    memory: &Memory,
    write: Write<'_>,
) -> (Tensor<3>, Vec<Vec<f64>>) {
    let start = state.layers[0].clone();
    let now = decoder.layers[0].sequence(previous, start, &[1], Direction::Forward);
    write(
        "s_1",
        now.dims().into(),
        text!("GRU(y_0, s_0): the state after the step, the query", "GRU(y_0, s_0)：本步之后的状态，即查询"),
    );
    let (seen, weights) = looked(decoder, now.clone(), memory, write);
    let joined = Tensor::cat(vec![now, seen.context], 2);
    write("[s_1; c_1]", joined.dims().into(), text!("both beside each other", "两者并排"));
    let readout = linear::apply(&decoder.readout, joined, Activation::Tanh);
    write(
        "h̃_1",
        readout.dims().into(),
        text!("tanh(W_c [s_1; c_1]): the attentional state", "tanh(W_c [s_1; c_1])：注意力状态"),
    );
    (readout, weights)
}

/// Bahdanau: look, recur, join.
fn before(
    decoder: &Decoder,
    previous: Tensor<3>,
    state: &DecoderState,
    memory: &Memory,
    write: Write<'_>,
) -> (Tensor<3>, Vec<Vec<f64>>) {
    let start = state.layers[0].clone();
    let query = start.clone().unsqueeze_dim(1);
    let (seen, weights) = looked(decoder, query, memory, write);
    let input = Tensor::cat(vec![previous.clone(), seen.context.clone()], 2);
    write("[y_0; c_1]", input.dims().into(), text!("what the recurrent step is fed", "送入循环步的输入"));
    let now = decoder.layers[0].sequence(input, start, &[1], Direction::Forward);
    write(
        "s_1",
        now.dims().into(),
        text!("GRU([y_0; c_1], s_0): the state after the step", "GRU([y_0; c_1], s_0)：本步之后的状态"),
    );
    let joined = Tensor::cat(vec![now, seen.context, previous], 2);
    write("[s_1; c_1; y_0]", joined.dims().into(), text!("all three beside each other", "三者并排"));
    let readout = linear::apply(&decoder.readout, joined, Activation::Tanh);
    write(
        "r_1",
        readout.dims().into(),
        text!("tanh(W_r [s_1; c_1; y_0]): the readout", "tanh(W_r [s_1; c_1; y_0])：读出"),
    );
    (readout, weights)
}

/// Score, normalise, sum.
fn looked(decoder: &Decoder, query: Tensor<3>, memory: &Memory, write: Write<'_>) -> (Attended, Vec<Vec<f64>>) {
    if let Some(score) = &decoder.attention.score {
        if let Score::Additive(additive) = score {
            let asked = linear::apply(&additive.query, query.clone(), Activation::Identity);
            write("W_a s_0", asked.dims().into(), text!("the query, projected", "查询的投影"));
            let hidden = (asked.unsqueeze_dim::<4>(2) + memory.keys.clone().unsqueeze_dim::<4>(1)).tanh();
            write(
                "tanh",
                hidden.dims().into(),
                text!("tanh(W_a s_0 + k_j), for every key", "tanh(W_a s_0 + k_j)，对每个键"),
            );
        }
        let scores = score.scores(query.clone(), memory.keys.clone());
        let how = match score {
            Score::Additive(_) => text!("score: v·tanh, a number for each key", "打分：v·tanh，每个键一个数"),
            _ => text!("score: s_1·k_j, a number for each key", "打分：s_1·k_j，每个键一个数"),
        };
        write("e_1", scores.dims().into(), how);
    }
    let seen = decoder.attention.attend(query, memory, Track::default());
    let weights = seen.weights.as_ref().map(|weights| weights.mean.clone());
    write(
        "α_1",
        weights.as_ref().map_or_else(Vec::new, |weights| weights.dims().into()),
        text!("normalise: softmax over the source", "归一化：对源做 softmax"),
    );
    write(
        "c_1",
        seen.context.dims().into(),
        text!("sum: weights times values, the context", "求和：权重乘值，即上下文"),
    );
    let weights = weights.as_ref().map_or_else(Vec::new, rows);
    (seen, weights)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ledger is of what the decoder really computes: its readout is the model's own.
    #[test]
    fn the_step_is_the_models() {
        for timing in Timing::ALL {
            let model = model(timing).unwrap();
            let (memory, state) = model.encode(&source());
            let decoded = model.decode(&TargetBatch::new(&[&[BOS]], &device()), state, &memory);
            let (ours, theirs) = (step(&model, timing).readout, rows(&decoded.readouts));
            assert!(ours[0].iter().zip(&theirs[0]).all(|(a, b)| (a - b).abs() < 1e-6), "{timing:?}");
        }
    }
}
