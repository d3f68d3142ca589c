//! What translations are asked to be: how they begin, what they hold.

use std::path::{Path, PathBuf};

use clap::Args;

use zhuyi::corpus::read;
use zhuyi::search::{Method, SearchConfig};
use zhuyi::translator::Sentence;
use zhuyi::{Error, Result};

/// Wishes for every translation, or line by line.
#[derive(Debug, Args)]
#[command(next_help_heading = "Wishes")]
pub(super) struct WishArgs {
    /// What every translation begins with; where the model cuts words, the last one may go on
    #[arg(long, value_name = "TEXT", conflicts_with = "prefix_file")]
    prefix: Option<String>,
    /// A line for each sentence: what its translation begins with
    #[arg(long, value_name = "FILE")]
    prefix_file: Option<PathBuf>,
    /// A phrase that every translation must hold; may be repeated
    #[arg(long, value_name = "TEXT", conflicts_with = "must_file")]
    must: Vec<String>,
    /// A line for each sentence: phrases that its translation must hold, TAB between them
    #[arg(long, value_name = "FILE")]
    must_file: Option<PathBuf>,
}

/// Wishes for each sentence by its number.
#[derive(Debug, Default)]
pub(super) struct Wishes {
    prefix: Option<String>,
    prefixes: Option<(PathBuf, Vec<String>)>,
    must: Vec<String>,
    phrases: Option<(PathBuf, Vec<String>)>,
}

impl WishArgs {
    /// Reads the files among them.
    pub fn read(&self, search: &SearchConfig) -> Result<Wishes> {
        let must = !self.must.is_empty() || self.must_file.is_some();
        if must && search.groups > 1 {
            let message = "--must and --groups both deal the beam out: leave one of them out";
            return Err(Error::Usage(message.into()));
        }
        if must && search.method == Method::Sample {
            let message = "--must needs a search, and with --sample chance decides: leave one of them out";
            return Err(Error::Usage(message.into()));
        }
        Ok(Wishes {
            prefix: self.prefix.clone(),
            prefixes: self.prefix_file.as_deref().map(lines).transpose()?,
            must: self.must.clone(),
            phrases: self.must_file.as_deref().map(lines).transpose()?,
        })
    }
}

impl Wishes {
    /// The sentence with this number, from 0, and its wishes.
    pub fn with<'a>(&'a self, text: &'a str, number: usize) -> Result<Sentence<'a>> {
        let prefix = match &self.prefixes {
            Some(lines) => line(lines, number)?,
            None => self.prefix.as_deref().unwrap_or_default(),
        };
        let constraints = match &self.phrases {
            Some(lines) => line(lines, number)?.split('\t').filter(|phrase| !phrase.trim().is_empty()).collect(),
            None => self.must.iter().map(String::as_str).collect(),
        };
        Ok(Sentence { text, prefix, constraints })
    }

    /// Refuses files with other than a line for each of so many sentences.
    pub fn check_all_used(&self, sentences: usize) -> Result<()> {
        for (path, lines) in self.prefixes.iter().chain(&self.phrases) {
            if lines.len() != sentences {
                let message =
                    format!("{} lines for {sentences} sentences: a line for each is needed", lines.len());
                return Err(Error::data(path, message));
            }
        }
        Ok(())
    }
}

fn lines(path: &Path) -> Result<(PathBuf, Vec<String>)> {
    Ok((path.to_path_buf(), read::lines_of(path)?))
}

fn line((path, lines): &(PathBuf, Vec<String>), number: usize) -> Result<&str> {
    let missing = || {
        let message = format!("{} lines, and a sentence {}: a line for each is needed", lines.len(), number + 1);
        Error::data(path, message)
    };
    lines.get(number).map(String::as_str).ok_or_else(missing)
}
