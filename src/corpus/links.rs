//! The links of pairs from a file of their own, as aligners write them.

use std::path::{Path, PathBuf};

use super::location::expand;
use super::read::{Lines, words};
use super::{Pair, Pairs};
use crate::alignment::SentenceLinks;
use crate::alignment::links::check_bounds;
use crate::error::{Error, Result};
use crate::text::normalize::one_line;

/// Pairs with the links of a file of Pharaoh lines, words counted from 0: one line a pair. Where pairs are `reversed`, so are the
/// links, which are those of the files as they are.
///
/// # Errors
/// A file that can't be opened; among the pairs those that have no line, or one that is not links between their words.
pub fn linked(pairs: Pairs, file: &str, reversed: bool) -> Result<Pairs> {
    let path = expand(file)?;
    let lines = Lines::open(&path)?;
    Ok(Box::new(Linked { pairs, lines, path, reversed, read: 0 }))
}

struct Linked {
    pairs: Pairs,
    lines: Lines,
    path: PathBuf,
    reversed: bool,
    read: usize,
}

impl Iterator for Linked {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        match (self.pairs.next(), self.lines.next()) {
            (None, None) => None,
            (Some(Err(why)), _) | (_, Some(Err(why))) => Some(Err(why)),
            (Some(Ok(pair)), Some(Ok(line))) => {
                self.read += 1;
                Some(self.link(pair, &line))
            }
            (pair, line) => {
                // How long are they?
                let pairs = self.read + usize::from(pair.is_some()) + self.pairs.by_ref().count();
                let lines = self.read + usize::from(line.is_some()) + self.lines.by_ref().count();
                let message =
                    format!("{lines} lines, but there are {pairs} pairs: links need a line for each pair");
                Some(Err(Error::data(&self.path, message)))
            }
        }
    }
}

impl Linked {
    fn link(&self, pair: Pair, line: &str) -> Result<Pair> {
        let links = SentenceLinks::parse(line, 0).map_err(|why| Error::line(&self.path, self.read, why))?;
        let counts = [words(&pair.source), words(&pair.target)];
        // In the direction of the files. A pair without words is left out anyway.
        let [source, target] = if self.reversed { [counts[1], counts[0]] } else { counts };
        if source > 0 && target > 0 {
            check_bounds(&self.path, self.read, &links, (source, target))?;
        }
        check_spaces(&self.path, self.read, &pair)?;
        Ok(Pair { links: Some(if self.reversed { links.reversed() } else { links }), ..pair })
    }
}

/// A model reads any white space as a space; links count words between U+0020 only. Where the two differ, links would slip.
///
/// # Errors
/// Names the line.
pub fn check_spaces(path: &Path, line: usize, pair: &Pair) -> Result<()> {
    if words(&one_line(&pair.source)) == words(&pair.source) {
        return Ok(());
    }
    let message = "a space other than U+0020 inside the source would move its links: replace it";
    Err(Error::line(path, line, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_gets_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("links");
        std::fs::write(&path, "0-1\n\n1-0 0p0\n").unwrap();
        let pair = |line: usize| Pair { source: "a b".into(), target: "x y".into(), links: None, line };
        let read = |pairs: usize, reversed: bool| -> Result<Vec<String>> {
            let pairs = Box::new((1..=pairs).map(move |line| Ok(pair(line))));
            let linked = linked(pairs, path.to_str().unwrap(), reversed)?;
            linked.map(|pair| Ok(pair?.links.unwrap().to_string())).collect()
        };
        assert_eq!(read(3, false).unwrap(), ["0-1", "", "0p0 1-0"]);
        assert_eq!(read(3, true).unwrap()[0], "1-0");
        for pairs in [1, 4] {
            let told = read(pairs, false).unwrap_err().to_string();
            assert!(told.contains(&format!("links: 3 lines, but there are {pairs} pairs")), "{told}");
        }
        std::fs::write(&path, "0-7\n").unwrap();
        assert!(read(1, false).unwrap_err().to_string().contains("links:1: link 0-7 is outside"));
    }
}
