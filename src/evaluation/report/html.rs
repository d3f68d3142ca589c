//! A report as a page that stands alone, with a picture of where the model looked.

use super::{About, Part, parts};
use crate::error::Result;
use crate::evaluation::{Evaluation, Sentence};
use crate::language::Language;
use crate::page::{self, coded, shown};
use crate::plot::heatmap;

const STYLE: &str = "body{max-width:60rem}td{white-space:nowrap}dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem .9rem;margin:1rem 0}\
                     dt{color:var(--faint)}dd{margin:0}.warning{border-left:4px solid #d55e00;background:var(--wash);\
                     padding:.6rem .9rem}article{border-top:1px solid var(--grid);margin-top:1.5rem}";

/// A report as a page.
///
/// # Errors
/// An alignment that can't be drawn.
pub fn page(evaluation: &Evaluation, about: &About) -> Result<String> {
    let mut body: String = evaluation
        .warnings
        .iter()
        .map(|warning| format!("<p class=\"warning\">{}</p>\n", shown(warning)))
        .collect();
    for part in parts(evaluation) {
        body += &match part {
            Part::Table(heading, told, rows) => {
                let cell = |cell: &String, head: bool| match head {
                    true => format!("<th>{}</th>", coded(cell)),
                    false => format!("<td>{}</td>", coded(cell)),
                };
                format!("<h2>{heading}</h2>\n<p>{}</p>\n{}", coded(&told), page::table(&rows, cell))
            }
            Part::Heading(heading) => format!("<h2>{heading}</h2>\n"),
            Part::Sentence(place) => sentence(&evaluation.worst[place])?,
        };
    }
    body += &format!("<p>By <code>{}</code>.</p>\n", shown(&about.command));
    Ok(page::page(&about.title, Language::English, STYLE, &body))
}

fn sentence(sentence: &Sentence) -> Result<String> {
    let told: String =
        sentence.texts().map(|(name, text)| format!("<dt>{name}</dt><dd>{}</dd>\n", shown(text))).collect();
    let picture = match &sentence.alignment {
        Some(alignment) => format!("<figure>{}</figure>\n", heatmap::svg(alignment, None)?),
        None => String::new(),
    };
    let scores = format!("Sentence {}: BLEU {:.2}, chrF2 {:.2}", sentence.id + 1, sentence.bleu, sentence.chrf);
    Ok(format!("<article>\n<h3>{scores}</h3>\n<dl>\n{told}</dl>\n{picture}</article>\n"))
}
