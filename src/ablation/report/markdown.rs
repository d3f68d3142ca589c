//! A report as Markdown, with its pictures beside it.

use super::block::Block;
use super::marked::Marked;
use crate::text::normalize::printable;

/// A report as Markdown; pictures lie in `folder`.
pub fn text(title: &str, blocks: &[Block], folder: &str) -> String {
    let body: Vec<String> = blocks.iter().map(|block| told(block, folder)).collect();
    format!("# {title}\n\n{}", body.join("\n")).trim_end().to_owned() + "\n"
}

fn told(block: &Block, folder: &str) -> String {
    match block {
        Block::Heading(text) => format!("## {text}\n"),
        Block::Say(text) => format!("{text}\n"),
        Block::Table(rows) => table(rows),
        Block::Figures(figures) => {
            let line = |figure: &super::Figure| {
                format!("![{}]({folder}/{})\n", figure.caption.replace(['`', '[', ']'], ""), figure.file("svg"))
            };
            figures.iter().map(line).collect::<Vec<_>>().join("\n")
        }
        Block::Wrote(texts) => {
            let line = |(name, pieces): &(String, Vec<Marked>)| {
                format!("- {name}: {}\n", pieces.iter().map(piece).collect::<String>())
            };
            texts.iter().map(line).collect()
        }
        Block::Code(lines) => format!("```sh\n{}\n```\n", lines.join("\n")),
    }
}

fn table(rows: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| format!("| {} |\n", cells.join(" | "));
    let Some((head, rows)) = rows.split_first() else { return String::new() };
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    line(head) + &rule + &rows.iter().map(line).collect::<String>()
}

/// What is wrong is bold, in tags: Markdown's own marks don't work between Chinese signs.
fn piece(piece: &Marked) -> String {
    let text = plain(&piece.text);
    let (space, word) = text.split_at(text.len() - text.trim_start().len());
    if piece.right || word.is_empty() { text.clone() } else { format!("{space}<b>{word}</b>") }
}

/// Text as text: what Markdown or HTML would take for a sign is escaped.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in printable(text).chars() {
        match c {
            '<' => plain += "&lt;",
            '>' => plain += "&gt;",
            '&' => plain += "&amp;",
            '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '|' | '~' | '!' | '$' => {
                plain.push('\\');
                plain.push(c);
            }
            _ => plain.push(c),
        }
    }
    plain
}
