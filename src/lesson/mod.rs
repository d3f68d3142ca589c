//! The course: worked examples whose numbers come from the library's own attention, step by step as a teacher
//! would write them on a board. Where the course printed another number, a lesson shows both and says why.
//!
//! A lesson is one file here and one line in [`LESSONS`].

pub mod board;
mod bottleneck;
mod complexity;
mod dataflow;
mod evolution;
mod figure;
mod heads;
mod html;
mod masks;
mod picture;
mod qkv;
mod roles;
mod saturation;
mod shapes;
mod tensors;
mod terminal;
mod three_by_three;
mod variance;

pub use board::{Language, Lesson, Text};
pub use html::html;
pub use picture::svg;
pub use terminal::told;

use crate::error::Result;
use crate::model::Timing;
use crate::translator::Translator;

/// A lesson that can be asked for.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it shows, in English and Chinese.
    about: [&'static str; 2],
    /// How it is worked out.
    pub work: Work,
    /// Whether it has a picture.
    pub drawn: bool,
}

/// How a lesson is worked out.
#[derive(Clone, Copy)]
pub enum Work {
    /// From nothing.
    Alone(fn() -> Result<Lesson>),
    /// With a trained model.
    Model(Needs, fn(&Translator) -> Result<Lesson>),
    /// For one of the two timings.
    Timing(fn(Timing) -> Result<Lesson>),
}

/// What a lesson needs a model to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Any,
    /// Attention of several heads.
    Heads,
}

impl Entry {
    /// What it shows.
    pub fn about(&self, language: Language) -> &'static str {
        match language {
            Language::English => self.about[0],
            Language::Chinese => self.about[1],
        }
    }
}

/// Every lesson, in the order of the course.
pub const LESSONS: [Entry; 13] = [
    drawn(
        "bottleneck",
        [
            "one vector C against C_i: The cat eats fish → 猫 吃 鱼",
            "一个向量 C 与 C_i：The cat eats fish → 猫 吃 鱼",
        ],
        Work::Model(Needs::Any, bottleneck::work),
    ),
    entry(
        "figure",
        ["scores 2, 6, 1, 1: proportions are no softmax", "得分 2、6、1、1：按比例分配不是 softmax"],
        Work::Alone(figure::work),
    ),
    entry(
        "roles",
        ["query, key and value in three everyday pictures", "查询、键、值：三个生活中的例子"],
        Work::Alone(roles::work),
    ),
    drawn("qkv", ["three tokens, from input to context", "三个词元，从输入到上下文"], Work::Alone(qkv::work)),
    drawn(
        "three-by-three",
        ["three queries, three keys, values of two numbers", "三个查询、三个键、二维的值"],
        Work::Alone(three_by_three::work),
    ),
    drawn(
        "variance",
        ["why scores are scaled: the variance of q·k", "为什么要缩放：q·k 的方差"],
        Work::Alone(variance::work),
    ),
    drawn(
        "saturation",
        ["softmax saturates and its gradient vanishes", "softmax 饱和，梯度消失"],
        Work::Alone(saturation::work),
    ),
    drawn(
        "masks",
        ["padding and causal masks, with the gradient", "填充掩码与因果掩码，以及梯度"],
        Work::Alone(masks::work),
    ),
    entry("shapes", ["the ledger of dimensions", "维度账本"], Work::Alone(shapes::work)),
    drawn(
        "heads",
        ["512 = 8 × 64: same cost, eight views", "512 = 8 × 64：代价相同，八个视角"],
        Work::Model(Needs::Heads, heads::work),
    ),
    drawn("complexity", ["T² and T²d, counted and timed", "T² 与 T²d：计数与实测"], Work::Alone(complexity::work)),
    entry(
        "dataflow",
        ["every tensor of one step, with its shape", "一步之中的每个张量及其形状"],
        Work::Timing(dataflow::work),
    ),
    drawn(
        "evolution",
        [
            "none → additive → multiplicative → scaled: what each step cured",
            "无 → 加性 → 乘性 → 缩放：每一步解决了什么",
        ],
        Work::Alone(evolution::work),
    ),
];

const fn entry(name: &'static str, about: [&'static str; 2], work: Work) -> Entry {
    Entry { name, about, work, drawn: false }
}

const fn drawn(name: &'static str, about: [&'static str; 2], work: Work) -> Entry {
    Entry { name, about, work, drawn: true }
}

/// The lesson of a name.
pub fn find(name: &str) -> Option<&'static Entry> {
    LESSONS.iter().find(|entry| entry.name == name)
}
