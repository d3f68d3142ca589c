//! Pages that stand alone: no script, nothing loaded from elsewhere, readable on light and dark screens and on paper.

use quick_xml::escape::escape;

use crate::language::Language;
use crate::plot::colour::Paint;
use crate::text::normalize::printable;

const STYLE: &str = "\
html{color-scheme:light dark;-webkit-text-size-adjust:100%}\
body{font:16px/1.55 system-ui,'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',sans-serif;color:var(--ink);\
background:var(--paper);max-width:52rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}\
h2{margin-top:2rem;font-size:1.15rem}a{color:var(--link)}figure{margin:1rem 0}\
div.wide,figure{overflow-x:auto}table{border-collapse:collapse;margin:.6rem 0;overflow-wrap:normal}\
caption{text-align:left;color:var(--faint);font-size:.9rem;white-space:nowrap}tr{break-inside:avoid}\
th{white-space:nowrap}th,td{padding:.25rem .7rem;border:1px solid var(--grid);text-align:right;\
font-variant-numeric:tabular-nums}th{font-weight:600;background:var(--wash)}\
.dense th,.dense td{padding:.15rem .3rem;font-size:.78rem}td.word{text-align:left}\
td.weight{background:var(--l);color:var(--i)}\
.differs,.agrees{border-left:4px solid #d55e00;background:var(--wash);padding:.6rem .9rem;margin:1rem 0}\
.agrees{border-color:#009e73}code,pre{font-family:ui-monospace,'Noto Sans Mono CJK SC',monospace}\
pre{background:var(--wash);padding:.6rem .9rem;white-space:pre-wrap}svg{max-width:100%;height:auto}\
@media screen and (prefers-color-scheme:dark){td.weight{background:var(--d);color:var(--j)}}\
@media print{body{max-width:none;margin:0;font-size:11pt}figure{break-inside:avoid}h2,h3{break-after:avoid}}";

/// A page in a language; `style` is added to what every page has, `body` is HTML.
pub fn page(title: &str, language: Language, style: &str, body: &str) -> String {
    let title = shown(title);
    let (code, roots) = (language.code(), roots());
    format!(
        "<!DOCTYPE html>\n<html lang=\"{code}\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>{title}</title>\n\
         <style>{roots}{STYLE}{style}</style>\n</head>\n<body>\n<h1>{title}</h1>\n{body}</body>\n</html>\n"
    )
}

/// The colours of the page, which are those of its pictures.
fn roots() -> String {
    let all = |told: fn(Paint) -> String, wash: &str, link: &str| {
        let [paper, ink, faint, grid] = [Paint::Paper, Paint::Ink, Paint::Faint, Paint::Grid].map(told);
        format!(":root{{--paper:{paper};--ink:{ink};--faint:{faint};--grid:{grid};--wash:{wash};--link:{link}}}")
    };
    let light = all(Paint::light, "#f6f7f8", "#0b5cad");
    let dark = all(Paint::dark, "#1e2229", "#7cb7f2");
    format!("{light}@media screen and (prefers-color-scheme:dark){{{dark}}}")
}

/// Text as text, whatever it holds.
pub fn shown(text: &str) -> String {
    escape(&*printable(text)).into_owned()
}

/// The same, but what stands between backticks is code.
pub fn coded(text: &str) -> String {
    let piece = |(i, piece): (usize, &str)| match i % 2 {
        0 => shown(piece),
        _ => format!("<code>{}</code>", shown(piece)),
    };
    text.split('`').enumerate().map(piece).collect()
}

/// More columns than this are set close together.
pub const MANY: usize = 8;

/// A table, which scrolls where it is too wide for the page. `cell` writes a cell and is told whether it stands in the first
/// row or column.
pub fn table<T>(rows: &[Vec<T>], cell: impl Fn(&T, bool) -> String) -> String {
    let row = |(i, cells): (usize, &Vec<T>)| {
        let cells: String = cells.iter().enumerate().map(|(column, it)| cell(it, i == 0 || column == 0)).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let dense = if rows.first().is_some_and(|head| head.len() > MANY) { " class=\"dense\"" } else { "" };
    let rows: String = rows.iter().enumerate().map(row).collect();
    format!("<div class=\"wide\"><table{dense}>\n{rows}</table></div>\n")
}

/// The attributes of a table cell as dark as its weight.
pub fn weighted(weight: f32) -> String {
    let (ground, text) = (Paint::Weight(weight), Paint::OnWeight(weight));
    format!(
        "class=\"weight\" style=\"--l:{};--d:{};--i:{};--j:{}\"",
        ground.light(),
        ground.dark(),
        text.light(),
        text.dark()
    )
}
