//! Alignments into picture files.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::output::warn;
use zhuyi::alignment::{Alignment, SentenceLinks};
use zhuyi::language::Language;
use zhuyi::page::page;
use zhuyi::run::write_whole;
use zhuyi::{Error, plot};

/// Where to draw; `{n}` in it becomes the number of the sentence.
#[derive(Clone, Debug)]
pub struct PlotPath(String);

impl FromStr for PlotPath {
    type Err = String;

    fn from_str(path: &str) -> Result<Self, String> {
        match Path::new(path).extension().and_then(|extension| extension.to_str()) {
            Some("svg" | "html") => Ok(Self(path.into())),
            Some("png") if cfg!(feature = "png") => Ok(Self(path.into())),
            Some("png") => Err("this build can't write PNG (feature `png`); use .svg".into()),
            _ => Err("the name must end in .svg, .png or .html".into()),
        }
    }
}

impl PlotPath {
    /// Refuses a name that all pictures would share.
    pub fn check_numbered(&self) -> zhuyi::Result<()> {
        if self.0.contains("{n}") {
            return Ok(());
        }
        let (name, extension) = self.0.rsplit_once('.').unwrap_or((&self.0, ""));
        let example = format!("{name}-{{n}}.{extension}");
        Err(Error::Usage(format!("--plot {} would be one file for several sentences: write {example}", self.0)))
    }

    /// The file of a sentence; they count from 1.
    pub fn numbered(&self, n: usize) -> PathBuf {
        PathBuf::from(self.0.replace("{n}", &n.to_string()))
    }
}

/// Draws an alignment into a file, in the form that its name ends in.
pub fn write(alignment: &Alignment, gold: Option<&SentenceLinks>, path: &Path) -> anyhow::Result<()> {
    write_svg(&plot::heatmap::svg(alignment, gold)?, path)
}

/// Writes a picture into a file, in the form that its name ends in.
pub fn write_svg(svg: &str, path: &Path) -> anyhow::Result<()> {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("svg") => Ok(write_whole(path, svg.as_bytes())?),
        Some("html") => {
            let title = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let page = page(&title, Language::English, "", &format!("<figure>{svg}</figure>\n"));
            Ok(write_whole(path, page.as_bytes())?)
        }
        _ => png(svg, path),
    }
}

#[cfg(feature = "png")]
fn png(svg: &str, path: &Path) -> anyhow::Result<()> {
    let rendered = plot::png::render(svg)?;
    if let Some(warning) = rendered.warning() {
        warn(&format!("{}: {warning}", path.display()));
    }
    Ok(write_whole(path, &rendered.png)?)
}

#[cfg(not(feature = "png"))]
fn png(_: &str, path: &Path) -> anyhow::Result<()> {
    warn("this build can't write PNG (feature `png`)");
    Err(Error::Usage(format!("{}: use .svg", path.display())).into())
}
