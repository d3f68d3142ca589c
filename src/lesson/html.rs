//! A lesson as a page that stands alone: no script, nothing loaded from elsewhere.

use super::board::{Compared, Language, Lesson, Matrix, Part, Text};
use super::{picture, terminal};
use crate::error::Result;
use crate::page::{self, escape};

/// More columns than this are set close together.
const MANY: usize = 8;

/// A lesson as a page.
///
/// # Errors
/// None that a user could cause.
pub fn html(lesson: &Lesson, language: Language) -> Result<String> {
    let mut body = String::new();
    for part in &lesson.parts {
        body += &match part {
            Part::Step(step) => format!("<h2>{}</h2>\n", escape(step.to(language))),
            Part::Say(said) => format!("<p>{}</p>\n", coded(said.to(language))),
            Part::Matrix(matrix) => drawn(matrix, language),
            Part::Table(rows) => table(rows, language),
            Part::Compared(compared) => both(compared, language),
        };
    }
    if let Some(svg) = picture::svg(lesson, language)? {
        body += &format!("<figure>\n{svg}</figure>\n");
    }
    Ok(page::page(lesson.title.to(language), language, "", &body))
}

/// A paragraph; what stands between backticks is code.
fn coded(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(i, piece)| match i % 2 {
        0 => escape(piece).into_owned(),
        _ => format!("<code>{}</code>", escape(piece)),
    });
    pieces.collect()
}

/// A matrix; weights are as dark as they are large.
fn drawn(matrix: &Matrix, language: Language) -> String {
    let whole = terminal::is_whole(matrix);
    let dense = if matrix.columns.len() > MANY { " class=\"dense\"" } else { "" };
    let mut text = format!(
        "<div class=\"wide\"><table{dense}>\n<caption>{}</caption>\n<tr><th></th>",
        escape(matrix.name.to(language))
    );
    text +=
        &matrix.columns.iter().map(|name| format!("<th>{}</th>", escape(name.to(language)))).collect::<String>();
    text += "</tr>\n";
    for (name, values) in matrix.rows.iter().zip(&matrix.values) {
        text += &format!("<tr><th>{}</th>", escape(name.to(language)));
        for &value in values {
            let set = if matrix.weights { page::weighted(value as f32) } else { String::new() };
            text += &format!("<td {set}>{}</td>", terminal::cell(value, whole));
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn table(rows: &[Vec<Text>], language: Language) -> String {
    let row = |(i, cells): (usize, &Vec<Text>)| {
        let cell = |(column, cell): (usize, &Text)| match (i, column) {
            (0, _) | (_, 0) => format!("<th>{}</th>", escape(cell.to(language))),
            _ if !terminal::is_number(cell.to(language)) => {
                format!("<td class=\"word\">{}</td>", escape(cell.to(language)))
            }
            _ => format!("<td>{}</td>", escape(cell.to(language))),
        };
        format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>())
    };
    format!(
        "<div class=\"wide\"><table>\n{}</table></div>\n",
        rows.iter().enumerate().map(row).collect::<String>()
    )
}

fn both(compared: &Compared, language: Language) -> String {
    let [course, right] = terminal::sides(language);
    let class = if compared.agrees { "agrees" } else { "differs" };
    format!(
        "<div class=\"{class}\"><b>{}</b><br/>{course} <code>{}</code><br/>{right} <code>{}</code><br/>{}{}</div>\n",
        escape(compared.what.to(language)),
        escape(compared.printed.to(language)),
        escape(compared.computed.as_str()),
        terminal::verdict(compared, language),
        coded(compared.why.to(language))
    )
}
