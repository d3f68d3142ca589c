//! The report of an ablation: what was measured, in words, tables and pictures, as a page and as Markdown, in English and
//! Chinese.

mod block;
mod html;
mod lead;
mod markdown;
mod marked;
mod method;
mod pictures;
mod tables;
mod words;
mod writer;

use std::path::{Path, PathBuf};

pub use block::{Block, Figure};
pub use marked::{Marked, marked};

use super::{Place, Plan, Results, TestSet};
use crate::error::{Error, Result};
use crate::language::Language;
use crate::run::write_whole;
use writer::Writer;

/// What a report tells of.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The figures.
    pub results: &'a Results,
    /// What was trained.
    pub plan: &'a Plan,
    /// What was judged on.
    pub test: &'a TestSet,
    /// The command that made it.
    pub command: &'a str,
    /// The ablation's directory, as it was named.
    pub place: &'a Path,
}

/// What was written.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The page in English.
    pub page: PathBuf,
    /// What a person should know, such as characters that no font here has.
    pub warnings: Vec<String>,
}

/// The folder of the page, in an ablation's directory.
const PAGES: &str = "report";
/// The folder of the pictures, beside the page.
const FIGURES: &str = "figures";

impl Report<'_> {
    /// Writes the pages, their Markdown and every picture into an ablation's directory.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write(&self, place: &Place) -> Result<Written> {
        let (out, pages) = (place.path(), place.path().join(PAGES));
        let figures = pages.join(FIGURES);
        // Pictures of variants that are no longer asked for would stand beside the others.
        if figures.exists() {
            std::fs::remove_dir_all(&figures).map_err(Error::io(&figures))?;
        }
        std::fs::create_dir_all(&figures).map_err(Error::io(&figures))?;
        let mut written = Written { page: pages.join(page_name(Language::English)), ..Written::default() };
        for language in Language::ALL {
            let (title, blocks) = (words::title().to(language).to_owned(), Writer::new(self, language).blocks()?);
            for figure in blocks.iter().flat_map(Block::figures) {
                write_whole(&figures.join(figure.file("svg")), figure.svg.as_bytes())?;
                if let Some(warning) = write_png(figure, &figures)? {
                    written.warnings.push(warning);
                }
            }
            let page = html::page(&title, &blocks, language);
            write_whole(&pages.join(page_name(language)), page.as_bytes())?;
            let markdown = markdown::text(&title, &blocks, &format!("{PAGES}/{FIGURES}"));
            write_whole(&out.join(markdown_name(language)), markdown.as_bytes())?;
        }
        written.warnings.sort();
        written.warnings.dedup();
        Ok(written)
    }
}

/// Draws a picture in pixels; tells what no font here can draw.
#[cfg(feature = "png")]
fn write_png(figure: &Figure, folder: &Path) -> Result<Option<String>> {
    let rendered = crate::plot::png::render(&figure.svg)?;
    write_whole(&folder.join(figure.file("png")), &rendered.png)?;
    Ok(rendered.warning())
}

/// Says that this build draws none.
#[cfg(not(feature = "png"))]
fn write_png(_: &Figure, _: &Path) -> Result<Option<String>> {
    Ok(Some("pictures are SVG only: this build can't write PNG (feature `png`)".into()))
}

/// The page's file.
fn page_name(language: Language) -> &'static str {
    match language {
        Language::English => "index.html",
        Language::Chinese => "index.zh.html",
    }
}

fn markdown_name(language: Language) -> &'static str {
    match language {
        Language::English => "report.md",
        Language::Chinese => "report.zh.md",
    }
}
