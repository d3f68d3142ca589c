//! A report as a page that stands alone, pictures and all.

use super::block::{Block, Figure};
use super::marked::Marked;
use crate::language::{Language, text};
use crate::page::{self, coded, shown};

const STYLE: &str = "\
body{max-width:72rem}p{max-width:46rem}.figures{display:grid;gap:1rem;align-items:start;\
grid-template-columns:repeat(auto-fill,minmax(min(100%,21rem),1fr))}.figures.one{grid-template-columns:minmax(0,44rem)}\
.figures.two{grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr))}\
.figures figure{margin:0;min-width:0}.figures figure svg{display:block}\
figcaption{color:var(--faint);font-size:.85rem}nav{color:var(--faint)}\
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.2rem .9rem;margin:1rem 0}\
dt{color:var(--faint)}dd{margin:0}mark{background:none;color:inherit;text-decoration:underline wavy #d55e00 1.5px;\
text-underline-offset:.2em}@media print{.figures,.figures.two{grid-template-columns:1fr 1fr}div.wide{overflow:visible}\
th{white-space:normal}div.wide table th,div.wide table td{font-size:7pt;padding:.1rem .25rem}}\
@media(max-width:40rem){dl{grid-template-columns:minmax(0,1fr)}dd{margin-bottom:.5rem}}";

/// A report as a page.
pub fn page(title: &str, blocks: &[Block], language: Language) -> String {
    let [other, name] = match language {
        Language::English => [super::page_name(Language::Chinese), "中文"],
        Language::Chinese => [super::page_name(Language::English), "English"],
    };
    let body: String = blocks.iter().map(|block| told(block, language)).collect();
    let nav = format!("<nav><a href=\"{other}\">{name}</a></nav>\n");
    page::page(title, language, STYLE, &(nav + &body))
}

fn told(block: &Block, language: Language) -> String {
    match block {
        Block::Heading(text) => format!("<h2>{}</h2>\n", shown(text)),
        Block::Say(text) => format!("<p>{}</p>\n", coded(text)),
        Block::Table(rows) => {
            let cell = |cell: &String, head: bool| {
                if head { format!("<th>{}</th>", coded(cell)) } else { format!("<td>{}</td>", coded(cell)) }
            };
            page::table(rows, cell)
        }
        Block::Figures(figures) => {
            let class = ["figures", "figures one", "figures two"].get(figures.len()).unwrap_or(&"figures");
            let figures: String = figures.iter().map(|it| figure(it, language)).collect();
            format!("<div class=\"{class}\">\n{figures}</div>\n")
        }
        Block::Wrote(texts) => {
            let line = |(name, pieces): &(String, Vec<Marked>)| {
                let pieces: String = pieces.iter().map(piece).collect();
                format!("<dt>{}</dt><dd>{pieces}</dd>\n", shown(name))
            };
            format!("<dl>\n{}</dl>\n", texts.iter().map(line).collect::<String>())
        }
        Block::Code(lines) => {
            format!("<pre>{}</pre>\n", lines.iter().map(|line| shown(line)).collect::<Vec<_>>().join("\n"))
        }
    }
}

fn figure(figure: &Figure, language: Language) -> String {
    let folder = super::FIGURES;
    let link =
        |form: &str| format!("<a href=\"{folder}/{}\">{}</a>", shown(&figure.file(form)), form.to_uppercase());
    let open = text!("as", "下载").to(language).to_owned();
    format!(
        "<figure>\n{}<figcaption>{} ({open} {} · {})</figcaption></figure>\n",
        figure.svg,
        coded(&figure.caption),
        link("svg"),
        link("png")
    )
}

fn piece(piece: &Marked) -> String {
    if piece.right { shown(&piece.text) } else { format!("<mark>{}</mark>", shown(&piece.text)) }
}
