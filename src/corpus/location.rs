//! Where parallel text is: a TSV file, two files, or a part of what the program writes itself.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::read::{self, Gold};
use super::sequences::{self, Task};
use super::toy::ToyCorpus;
use super::{Pair, Pairs, toy};
use crate::error::{Error, Result};

/// Names a set of pairs in a config: `"pairs.tsv"`, `["x.de", "x.en"]` or `"toy:train"`. `.gz` and `.zst`
/// files are unpacked, `${NAME}` in a path is an environment variable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, expecting = "name data as \"pairs.tsv\", [\"x.de\", \"x.en\"] or \"toy:train\"")]
pub enum Location {
    /// One file, source TAB target (TAB links), or a part (`train`, `dev`, `test`) of what the program writes itself:
    /// `toy:train`, `toy:long/train`, `toy:long30/train` (at most 30 words), `copy:train`, `reverse:train`.
    Tsv(String),
    /// A source file and a target file with as many lines.
    Files([String; 2]),
}

impl Location {
    /// A part of the shipped toy corpus.
    pub fn toy(part: &str) -> Self {
        Self::Tsv(format!("toy:{part}"))
    }

    /// Whether the program writes this data itself.
    pub fn is_made(&self) -> bool {
        self.collection().is_some()
    }

    /// Which of the program's own collections this is a part of, such as `toy:long/`.
    pub fn collection(&self) -> Option<&str> {
        match self {
            Self::Tsv(name) => collection(name),
            Self::Files(_) => None,
        }
    }

    /// Every pair, blank ones too, so that the n-th pair stands in line n. What can't be read, is not UTF-8, or has no partner
    /// for each line is an error among them.
    ///
    /// # Errors
    /// Files that can't be opened; environment variables that are not set.
    pub fn stream(&self, gold: Gold) -> Result<Pairs> {
        match self {
            Self::Tsv(name) => match collection(name) {
                Some(collection) => {
                    Ok(Box::new(made(collection, &name[collection.len()..], gold)?.into_iter().map(Ok)))
                }
                None => read::tsv(&expand(name)?, gold),
            },
            Self::Files([source, target]) => read::files(&expand(source)?, &expand(target)?),
        }
    }

    /// Refuses what can't be read several times, as preparing training does.
    ///
    /// # Errors
    /// Names it. What is not there is told when it is opened.
    pub fn check_files(&self, name: &str) -> Result<()> {
        let paths = match self {
            Self::Tsv(name) if collection(name).is_some() => return Ok(()),
            Self::Tsv(name) => vec![expand(name)?],
            Self::Files(both) => both.iter().map(|path| expand(path)).collect::<Result<_>>()?,
        };
        match paths.iter().find(|path| path.exists() && !path.is_file()) {
            None => Ok(()),
            Some(path) => {
                let message = format!("data.{name} is read several times: name a file, not a folder or a pipe");
                Err(Error::data(path, message))
            }
        }
    }

    /// The same at once.
    ///
    /// # Errors
    /// As for [`Location::stream`].
    pub fn read(&self, gold: Gold) -> Result<Vec<Pair>> {
        self.stream(gold)?.collect()
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tsv(name) => f.write_str(name),
            Self::Files([source, target]) => write!(f, "{source} + {target}"),
        }
    }
}

/// The collections that the program writes itself, the longer names first.
const COLLECTIONS: [&str; 5] = ["toy:long/", "toy:long30/", "toy:", "copy:", "reverse:"];

/// The collection that a name is a part of.
fn collection(name: &str) -> Option<&'static str> {
    COLLECTIONS.into_iter().find(|collection| name.starts_with(collection))
}

/// What is written anew in each process, once it is asked for.
static LONG: LazyLock<ToyCorpus> = LazyLock::new(|| toy::long::generate(toy::SHIPPED_SEED));
static LONG30: LazyLock<ToyCorpus> = LazyLock::new(|| toy::long::up_to(&LONG, 30));
static COPY: LazyLock<ToyCorpus> = LazyLock::new(|| sequences::generate(Task::Copy, sequences::SEED));
static REVERSE: LazyLock<ToyCorpus> = LazyLock::new(|| sequences::generate(Task::Reverse, sequences::SEED));

/// A part of a collection.
fn made(collection: &str, part: &str, gold: Gold) -> Result<Vec<Pair>> {
    let place = format!("{collection}{part}");
    let none = || {
        let collections = COLLECTIONS.join(", ");
        Error::Config(format!(
            "there is no {place}: the parts are train, dev and test, after one of {collections}"
        ))
    };
    let corpus = match collection {
        "toy:long/" => &LONG,
        "toy:long30/" => &LONG30,
        "copy:" => &COPY,
        "reverse:" => &REVERSE,
        _ => {
            let (_, text) = toy::SHIPPED.iter().find(|(name, _)| *name == part).ok_or_else(none)?;
            return read::tsv_text(Path::new(&place), text, gold);
        }
    };
    let pairs = corpus.part(part).ok_or_else(none)?;
    let told = |(line, pair): (usize, &Pair)| Pair {
        links: pair.links.clone().filter(|_| gold != Gold::Ignored),
        line,
        ..pair.clone()
    };
    Ok((1..).zip(pairs).map(told).collect())
}

/// Puts environment variables in for `${NAME}`.
pub fn expand(path: &str) -> Result<PathBuf> {
    let mut expanded = String::new();
    let mut rest = path;
    while let Some((before, after)) = rest.split_once("${") {
        let (name, after) =
            after.split_once('}').ok_or_else(|| Error::Config(format!("{path}: `${{` without `}}`")))?;
        let value = std::env::var(name).map_err(|_| Error::Config(unset(path, name)))?;
        expanded.push_str(before);
        expanded.push_str(&value);
        rest = after;
    }
    Ok(PathBuf::from(expanded + rest))
}

fn unset(path: &str, name: &str) -> String {
    let hint = match name {
        "ZHUYI_DATA" => {
            " (Multi30k: github.com/multi30k/dataset; Tatoeba pairs: manythings.org/anki; docs/data.md says \
             how to lay them out)"
        }
        _ => "",
    };
    format!("{path}: the environment variable {name} is not set; point it at the folder that holds the data{hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_variables_are_put_in() {
        // PATH is set wherever tests run.
        let value = std::env::var("PATH").unwrap();
        assert_eq!(expand("a/${PATH}/b").unwrap(), PathBuf::from(format!("a/{value}/b")));
        assert_eq!(expand("plain.tsv").unwrap(), PathBuf::from("plain.tsv"));
        let message = expand("${ZHUYI_NOT_SET_ANYWHERE}/x").unwrap_err().to_string();
        assert!(message.contains("ZHUYI_NOT_SET_ANYWHERE is not set"), "{message}");
        assert!(expand("${oops").is_err());
    }

    #[test]
    fn the_toy_corpus_is_read_with_its_links() {
        let pairs = Location::toy("test").read(Gold::ThirdColumn { base: 0 }).unwrap();
        assert_eq!(pairs.len(), 500);
        assert!(pairs.iter().all(|pair| pair.links.is_some()));
        let pairs = Location::toy("long/test").read(Gold::ThirdColumn { base: 0 }).unwrap();
        assert_eq!(pairs.len(), 56 * 20);
        assert!(pairs.iter().all(|pair| pair.links.is_some()));
        let pairs = Location::toy("long30/test").read(Gold::Ignored).unwrap();
        assert!(pairs.len() == 26 * 20 && pairs.iter().all(|pair| read::words(&pair.source) <= 30));
        let pairs = Location::Tsv("reverse:dev".into()).read(Gold::ThirdColumn { base: 0 }).unwrap();
        assert_eq!(pairs.len(), 96 * 2);
        for wrong in ["no", "long/no", "long"] {
            assert!(Location::toy(wrong).read(Gold::Ignored).is_err(), "{wrong}");
        }
    }
}
