//! Query, key and value in three everyday pictures.

use serde_json::json;

use super::board::{Lesson, Matrix, Part, Text, text};
use super::tensors::{look, row_sums, rows, scaled, tensor, weights};
use crate::error::Result;

/// A name in English and Chinese.
type Name = [&'static str; 2];

/// A picture with its numbers.
struct Picture {
    name: &'static str,
    title: Text,
    story: Text,
    /// What queries and keys are made of.
    features: &'static [Name],
    query: (Name, &'static [f64]),
    /// Each thing with its key and its value.
    things: &'static [(Name, &'static [f64], &'static [f64])],
    /// What values are made of.
    gives: &'static [Name],
    moral: Text,
}

fn pictures() -> [Picture; 3] {
    [
        Picture {
            name: "looking",
            title: text!("Looking: something red on the table", "看：桌上红色的东西"),
            story: text!(
                "You look for something red and round. Query: what you have in mind. Key: what each thing looks like. Value: where it lies (x, y). The eye rests on the mean of places by weight.",
                "你在找一个又红又圆的东西。查询：心里想的。键：每样东西的样子。值：它在哪里 (x, y)。目光停在按权重平均的位置。"
            ),
            features: &[["red", "红"], ["round", "圆"], ["tall", "高"]],
            query: (["red, round", "又红又圆"], &[3.0, 3.0, 0.0]),
            things: &[
                (["tomato", "番茄"], &[1.0, 1.0, 0.1], &[1.0, 2.0]),
                (["book", "书"], &[0.8, 0.0, 0.4], &[5.0, 2.0]),
                (["bottle", "瓶子"], &[0.0, 0.3, 1.0], &[8.0, 1.0]),
            ],
            gives: &[["x", "x"], ["y", "y"]],
            moral: text!(
                "The book is red too and pulls the eye a little: attention is soft.",
                "书也是红的，把目光拉过去一点：注意力是软的。"
            ),
        },
        Picture {
            name: "searching",
            title: text!("Searching: a library's catalogue", "搜索：图书馆目录"),
            story: text!(
                "Query: what you type. Key: the subject words of a book. Value: what is inside it (here pages on history, on cooking). You compare with keys and take home values.",
                "查询：你输入的词。键：书的主题词。值：书里的内容（这里是历史与烹饪的页数）。比较的是键，带走的是值。"
            ),
            features: &[["history", "历史"], ["cooking", "烹饪"]],
            query: (["history of cooking", "烹饪史"], &[2.0, 2.0]),
            things: &[
                (["Silk roads", "丝绸之路"], &[1.0, 0.1], &[400.0, 10.0]),
                (["Noodles", "面条"], &[0.6, 0.9], &[120.0, 150.0]),
                (["Soups", "汤"], &[0.0, 1.0], &[5.0, 300.0]),
            ],
            gives: &[["history", "历史"], ["cooking", "烹饪"]],
            moral: text!(
                "Key and value are different things: a book is found by its subject, and read for its pages.",
                "键与值是两回事：书凭主题被找到，因内容被阅读。"
            ),
        },
        Picture {
            name: "translating",
            title: text!("Translating: about to write 猫", "翻译：正要写“猫”"),
            story: text!(
                "Query: the decoder's state, which wants an animal that acts. Key: what each source word can be found by. Value: what it means to the writer.",
                "查询：解码器的状态，它要一个做动作的动物。键：每个源词凭什么被找到。值：它对写作者意味着什么。"
            ),
            features: &[["acts", "施动"], ["animal", "动物"], ["action", "动作"]],
            query: (["state before 猫", "写“猫”前的状态"], &[3.0, 2.5, 0.0]),
            things: &[
                (["The", "The"], &[0.2, 0.0, 0.0], &[0.0, 0.0, 0.0]),
                (["cat", "cat"], &[1.0, 1.0, 0.0], &[1.0, 0.0, 0.0]),
                (["eats", "eats"], &[0.1, 0.0, 1.0], &[0.0, 1.0, 0.0]),
                (["fish", "fish"], &[0.0, 0.9, 0.1], &[0.0, 0.0, 1.0]),
            ],
            gives: &[["猫", "猫"], ["吃", "吃"], ["鱼", "鱼"]],
            moral: text!(
                "fish is an animal too and has some weight, but it does not act; the next query will ask for the action.",
                "fish 也是动物，有一些权重，但它不做动作；下一个查询会去问动作。"
            ),
        },
    ]
}

pub fn work() -> Result<Lesson> {
    let mut lesson = Lesson::new("roles", text!("Who is query, key and value?", "谁是查询、键和值？"));
    let mut numbers = serde_json::Map::new();
    for (number, picture) in (1..).zip(pictures()) {
        let keys: Vec<Vec<f64>> = picture.things.iter().map(|(_, key, _)| key.to_vec()).collect();
        let values: Vec<Vec<f64>> = picture.things.iter().map(|(_, _, value)| value.to_vec()).collect();
        let query = [picture.query.1.to_vec()];
        let seen = look(&scaled(), tensor(&query), tensor(&keys), tensor(&values));
        let (weights, context) = (weights(&seen), rows(&seen.context));
        let (english, chinese) =
            (picture.title.to(super::Language::English), picture.title.to(super::Language::Chinese));
        lesson.step(text!("{number}. {english}", "{number}. {chinese}"));
        lesson.say(picture.story);
        let things: Vec<Name> = picture.things.iter().map(|(thing, _, _)| *thing).collect();
        let asked = [picture.query.0];
        let mut show = |name, [rows, columns]: [&[Name]; 2], values: &[Vec<f64>], weights| {
            lesson.parts.push(Part::Matrix(named(name, rows, columns, values, weights)));
        };
        show(text!("query", "查询"), [&asked, picture.features], &query, false);
        show(text!("keys", "键"), [&things, picture.features], &keys, false);
        show(text!("values", "值"), [&things, picture.gives], &values, false);
        show(text!("weights: softmax of q·k/√d", "权重：q·k/√d 的 softmax"), [&asked, &things], &weights, true);
        show(
            text!("what comes of it: weights times values", "结果：权重乘值"),
            [&asked, picture.gives],
            &context,
            false,
        );
        lesson.say(picture.moral);
        numbers.insert(
            picture.name.to_owned(),
            json!({
                "query": query, "keys": keys, "values": values, "weights": weights, "row_sums": row_sums(&weights),
                "context": context,
            }),
        );
    }
    lesson.number("roles", numbers.into());
    Ok(lesson)
}

fn named(name: Text, rows: &[Name], columns: &[Name], values: &[Vec<f64>], weights: bool) -> Matrix {
    let names = |names: &[Name]| names.iter().map(|[english, chinese]| Text::new(*english, *chinese)).collect();
    Matrix { name, rows: names(rows), columns: names(columns), values: values.to_vec(), weights }
}
