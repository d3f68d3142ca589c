//! A lesson as a page that stands alone: no script, nothing loaded from elsewhere.

use super::board::{Compared, Language, Lesson, Matrix, Part, Text};
use super::{picture, terminal};
use crate::error::Result;
use crate::page::{self, MANY, coded, shown};

/// A lesson as a page.
///
/// # Errors
/// None that a user could cause.
pub fn html(lesson: &Lesson, language: Language) -> Result<String> {
    let mut body = String::new();
    for part in &lesson.parts {
        body += &match part {
            Part::Step(step) => format!("<h2>{}</h2>\n", shown(step.to(language))),
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

/// A matrix; weights are as dark as they are large.
fn drawn(matrix: &Matrix, language: Language) -> String {
    let whole = terminal::is_whole(matrix);
    let dense = if matrix.columns.len() > MANY { " class=\"dense\"" } else { "" };
    let mut text = format!(
        "<div class=\"wide\"><table{dense}>\n<caption>{}</caption>\n<tr><th></th>",
        shown(matrix.name.to(language))
    );
    text +=
        &matrix.columns.iter().map(|name| format!("<th>{}</th>", shown(name.to(language)))).collect::<String>();
    text += "</tr>\n";
    for (name, values) in matrix.rows.iter().zip(&matrix.values) {
        text += &format!("<tr><th>{}</th>", shown(name.to(language)));
        for &value in values {
            let set = if matrix.weights { page::weighted(value as f32) } else { String::new() };
            text += &format!("<td {set}>{}</td>", terminal::cell(value, whole));
        }
        text += "</tr>\n";
    }
    text + "</table></div>\n"
}

fn table(rows: &[Vec<Text>], language: Language) -> String {
    page::table(rows, |cell, head| {
        let text = cell.to(language);
        let told = shown(text);
        match head {
            true => format!("<th>{told}</th>"),
            false if terminal::is_number(text) => format!("<td>{told}</td>"),
            false => format!("<td class=\"word\">{told}</td>"),
        }
    })
}

fn both(compared: &Compared, language: Language) -> String {
    let [course, right] = terminal::sides(language);
    let class = if compared.agrees { "agrees" } else { "differs" };
    format!(
        "<div class=\"{class}\"><b>{}</b><br/>{course} <code>{}</code><br/>{right} <code>{}</code><br/>{}{}</div>\n",
        shown(compared.what.to(language)),
        shown(compared.printed.to(language)),
        shown(&compared.computed),
        terminal::verdict(compared, language),
        coded(compared.why.to(language))
    )
}
