//! A report as Markdown.

use super::{About, Part, parts};
use crate::alignment::Alignment;
use crate::evaluation::{Evaluation, Sentence};

/// A report as Markdown.
pub fn markdown(evaluation: &Evaluation, about: &About) -> String {
    let mut text = format!("# {}\n\n", escaped(&about.title));
    for warning in &evaluation.warnings {
        text += &format!("**Warning:** {}\n\n", escaped(warning));
    }
    for part in parts(evaluation) {
        text += &match part {
            Part::Table(heading, told, rows) => format!("## {heading}\n\n{told}\n\n{}\n", table(&rows)),
            Part::Heading(heading) => format!("## {heading}\n\n"),
            Part::Sentence(place) => sentence(&evaluation.worst[place]),
        };
    }
    text + &format!("By {}.\n", code(&about.command))
}

fn table(rows: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| {
        // What is code is ours, and holds nothing but what would end a cell.
        let told = |cell: &String| if cell.starts_with('`') { cell.replace('|', "\\|") } else { escaped(cell) };
        let cells: Vec<String> = cells.iter().map(told).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let mut told: Vec<String> = rows.iter().map(line).collect();
    if let Some(head) = rows.first() {
        told.insert(1, format!("|{}\n", "---|".repeat(head.len())));
    }
    told.concat()
}

fn sentence(sentence: &Sentence) -> String {
    let mut told = format!("**{}** – BLEU {:.2}, chrF2 {:.2}\n\n", sentence.id + 1, sentence.bleu, sentence.chrf);
    for (name, text) in sentence.texts() {
        told += &format!("- {name}: {}\n", escaped(text));
    }
    if let Some(alignment) = &sentence.alignment {
        told += &format!("- looked at: {}\n", escaped(&looked(alignment)));
    }
    told + "\n"
}

/// Each word with the one that it looked at most.
fn looked(alignment: &Alignment) -> String {
    let links = alignment.links();
    let told = |(t, word): (usize, &String)| {
        let link = links.iter().find(|link| link.target == t);
        link.map_or_else(|| word.clone(), |link| format!("{word} ← {}", alignment.source[link.source]))
    };
    alignment.target.iter().enumerate().map(told).collect::<Vec<_>>().join(", ")
}

/// Text as code, between more backticks than follow each other in it (CommonMark 0.31, section 6.1).
fn code(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let most = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let (fence, space) = ("`".repeat(most + 1), if most > 0 { " " } else { "" });
    format!("{fence}{space}{text}{space}{fence}")
}

/// Text as text: Markdown's marks, and what would end a table's cell or begin HTML.
fn escaped(text: &str) -> String {
    let mut told = String::with_capacity(text.len());
    for c in text.chars() {
        // A line break of any kind would end the item or the cell.
        if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') {
            told.push(' ');
            continue;
        }
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '&' | '~') {
            told.push('\\');
        }
        told.push(c);
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(escaped("a | <b> *c*"), "a \\| \\<b\\> \\*c\\*");
        assert_eq!(escaped("a\rb\u{85}c\u{1B}[1m"), "a b c \\[1m");
        assert_eq!([code("zhuyi x"), code("a `b``c")], ["`zhuyi x`", "``` a `b``c ```"]);
    }

    #[test]
    fn words_are_told_with_what_they_looked_at() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect();
        let weights = vec![vec![0.0, 1.0], vec![0.0, 0.0]];
        let alignment = Alignment { source: words("the cat"), target: words("猫 了"), weights, heads: vec![] };
        assert_eq!(looked(&alignment), "猫 ← cat, 了");
    }
}
