//! The links of pairs from a file of their own, as aligners write them.

use super::location::expand;
use super::read::{Lines, words};
use super::{Pair, Pairs};
use crate::alignment::SentenceLinks;
use crate::alignment::links::check_bounds;
use crate::error::{Error, Result};

/// Pairs with the links of a file of Pharaoh lines, words counted from 0: one line a pair. Where pairs are `reversed`, so are the
/// links, which are those of the files as they are.
///
/// # Errors
/// A file that can't be opened; among the pairs those that have no line, or one that is not links between their words.
pub fn linked(pairs: Pairs, file: &str, reversed: bool) -> Result<Pairs> {
    let path = expand(file)?;
    let mut lines = Lines::open(&path)?;
    Ok(Box::new(pairs.map(move |pair| {
        let pair = pair?;
        let wrong = |message: String| Error::line(&path, pair.line, message);
        let line = lines
            .next()
            .ok_or_else(|| wrong("no line for a pair: it needs as many as the pairs have".into()))??;
        let links = SentenceLinks::parse(&line, 0).map_err(wrong)?;
        let links = if reversed { links.reversed() } else { links };
        check_bounds(&path, pair.line, &links, (words(&pair.source), words(&pair.target)))?;
        Ok(Pair { links: Some(links), ..pair })
    })))
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
        assert_eq!(read(1, true).unwrap(), ["1-0"]);
        assert!(read(4, false).unwrap_err().to_string().contains("links:4: no line for a pair"));
        std::fs::write(&path, "0-7\n").unwrap();
        assert!(read(1, false).unwrap_err().to_string().contains("links:1: link 0-7 is outside"));
    }
}
