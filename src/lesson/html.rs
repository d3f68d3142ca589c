//! A lesson as a page that stands alone: no script, nothing loaded from elsewhere.

use quick_xml::escape::escape;

use super::board::{Compared, Language, Lesson, Matrix, Part, Text};
use super::{picture, terminal};
use crate::error::Result;
use crate::plot::colour;

const STYLE: &str = "body{font:16px/1.55 system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;\
color:#222;max-width:52rem;margin:2rem auto;padding:0 1rem}h2{margin-top:2rem;font-size:1.15rem}\
div.wide{overflow-x:auto}table{border-collapse:collapse;margin:.6rem 0}caption{text-align:left;color:#666;font-size:.9rem;white-space:nowrap}tr{break-inside:avoid}th{white-space:nowrap}\
th,td{padding:.25rem .7rem;border:1px solid #e8e8e8;text-align:right;font-variant-numeric:tabular-nums}\
th{font-weight:600;background:#fafafa}.dense th,.dense td{padding:.15rem .3rem;font-size:.78rem}td.word{text-align:left}\
.differs,.agrees{border-left:4px solid #d55e00;background:#fff7f0;padding:.6rem .9rem;margin:1rem 0}\
.agrees{border-color:#009e73;background:#f2faf7}code{font-family:ui-monospace,monospace}svg{max-width:100%;height:auto}";

/// More columns than this are set close together.
const MANY: usize = 8;

/// A lesson as a page.
///
/// # Errors
/// None that a user could cause.
pub fn html(lesson: &Lesson, language: Language) -> Result<String> {
    let code = language.code();
    let title = escape(lesson.title.to(language));
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
    );
    for part in &lesson.parts {
        page += &match part {
            Part::Step(step) => format!("<h2>{}</h2>\n", escape(step.to(language))),
            Part::Say(said) => format!("<p>{}</p>\n", coded(said.to(language))),
            Part::Matrix(matrix) => drawn(matrix, language),
            Part::Table(rows) => table(rows, language),
            Part::Compared(compared) => both(compared, language),
        };
    }
    if let Some(svg) = picture::svg(lesson, language)? {
        page += &format!("<figure>\n{svg}</figure>\n");
    }
    Ok(page + "</body>\n</html>\n")
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
            let shade = value as f32;
            let ink = if matrix.weights && colour::is_dark(shade) { "#fff" } else { "#222" };
            let back = if matrix.weights { colour::of(shade) } else { "#fff".into() };
            let cell = terminal::cell(value, whole);
            text += &format!("<td style=\"background:{back};color:{ink}\">{cell}</td>");
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
