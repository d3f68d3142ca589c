//! The links of pairs from a file of their own, as aligners write them.

use std::path::{Path, PathBuf};

use super::location::expand;
use super::read::{Lines, words};
use super::{Pair, Pairs};
use crate::alignment::SentenceLinks;
use crate::alignment::links::check_bounds;
use crate::error::{Error, Result};
use crate::text::normalize::{one_line, without_breaks};

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

/// Links count words between U+0020 only. A model reads more than that as a space: of sources any white space, of targets what
/// breaks a line. Where the two differ, links would slip; tells on which side.
pub fn slipping(pair: &Pair) -> Option<&'static str> {
    let (source, target) = (one_line(&pair.source), without_breaks(&pair.target));
    let sides = [("source", words(&source), &pair.source), ("target", words(target.trim()), &pair.target)];
    sides.into_iter().find_map(|(name, read, text)| (read != words(text)).then_some(name))
}

/// Refuses pairs whose links would slip.
///
/// # Errors
/// Names the line.
pub fn check_spaces(path: &Path, line: usize, pair: &Pair) -> Result<()> {
    match slipping(pair) {
        None => Ok(()),
        Some(side) => {
            let message = format!("a space other than U+0020 inside the {side} would move its links: replace it");
            Err(Error::line(path, line, message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_spaces_move_links() {
        let of = |source: &str, target: &str| {
            slipping(&Pair { source: source.into(), target: target.into(), links: None, line: 1 })
        };
        assert_eq!(of("a  b ", " x y"), None);
        assert_eq!(of("a\u{A0}b", "x"), Some("source"));
        assert_eq!(of("a b", "x\u{2028}y"), Some("target"));
        // Targets are read as they are: what does not break a line is part of a word.
        assert_eq!(of("a b", "« x »\u{A0}?"), None);
        assert_eq!(of("a b", "x y \u{A0}"), Some("target"));
    }

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
