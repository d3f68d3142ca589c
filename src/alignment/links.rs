//! Hard word alignment in Pharaoh's format: `0-0 1-2 3p2`, source–target, `-` sure and `p` possible.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::error::{Error, Result};
use crate::text::preview;

/// One link from a source word to a target word, both counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// Index of the source word.
    pub source: usize,
    /// Index of the target word.
    pub target: usize,
}

impl Link {
    /// A link between two words.
    pub fn new(source: usize, target: usize) -> Self {
        Self { source, target }
    }
}

/// The links of one sentence pair, each once, sure or only possible; a link said to be both is sure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentenceLinks(BTreeMap<Link, bool>);

impl SentenceLinks {
    /// Adds a link.
    pub fn add(&mut self, link: Link, sure: bool) {
        *self.0.entry(link).or_default() |= sure;
    }

    /// Every link, in the order of source then target.
    pub fn iter(&self) -> impl Iterator<Item = Link> {
        self.0.keys().copied()
    }

    /// How many links there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no link.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The sure links.
    pub fn sure(&self) -> impl Iterator<Item = Link> {
        self.0.iter().filter(|(_, sure)| **sure).map(|(link, _)| *link)
    }

    /// Whether the link is there, sure or possible.
    pub fn contains(&self, link: Link) -> bool {
        self.0.contains_key(&link)
    }

    /// Whether the link is there and sure.
    pub fn is_sure(&self, link: Link) -> bool {
        self.0.get(&link).copied().unwrap_or_default()
    }

    /// The same links with source and target exchanged.
    pub fn reversed(&self) -> Self {
        Self(self.0.iter().map(|(link, sure)| (Link::new(link.target, link.source), *sure)).collect())
    }

    /// As they are written, words counted from `base` (0 or 1).
    pub fn counted_from(&self, base: usize) -> impl fmt::Display + '_ {
        Counted(self, base)
    }

    /// Parses one line, its words counted from `base` (0 or 1).
    ///
    /// # Errors
    /// A message that names the part which is no link.
    pub fn parse(line: &str, base: usize) -> std::result::Result<Self, String> {
        let mut links = Self::default();
        for part in line.split(' ').map(str::trim).filter(|part| !part.is_empty()) {
            let (link, sure) = parse_link(part, base)?;
            links.add(link, sure);
        }
        Ok(links)
    }
}

impl FromIterator<Link> for SentenceLinks {
    /// Sure links.
    fn from_iter<I: IntoIterator<Item = Link>>(links: I) -> Self {
        Self(links.into_iter().map(|link| (link, true)).collect())
    }
}

impl fmt::Display for SentenceLinks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Counted(self, 0).fmt(f)
    }
}

/// Links as they are written, words counted from a base.
struct Counted<'a>(&'a SentenceLinks, usize);

impl fmt::Display for Counted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(links, base) = self;
        for (i, (link, sure)) in links.0.iter().enumerate() {
            let (space, kind) = (if i > 0 { " " } else { "" }, if *sure { '-' } else { 'p' });
            write!(f, "{space}{}{kind}{}", link.source + base, link.target + base)?;
        }
        Ok(())
    }
}

fn parse_link(part: &str, base: usize) -> std::result::Result<(Link, bool), String> {
    let shown = preview(part, 30);
    let bad = || format!("`{shown}` is no link: write `0-0` for a sure one, `0p0` for a possible one");
    let at = part.find(['-', 'p']).ok_or_else(bad)?;
    let index = |digits: &str| {
        let n: u32 = digits.parse().map_err(|_| bad())?;
        let n = n as usize;
        n.checked_sub(base).ok_or_else(|| format!("`{shown}` holds a 0, but words are counted from {base}"))
    };
    let link = Link::new(index(&part[..at])?, index(&part[at + 1..])?);
    Ok((link, part.as_bytes()[at] == b'-'))
}

/// Parses the lines of a links file. `path` is only named in errors.
pub fn parse_lines<'a>(
    path: &Path,
    lines: impl Iterator<Item = &'a str>,
    base: usize,
) -> Result<Vec<SentenceLinks>> {
    let parse = |(line, number): (&str, usize)| {
        SentenceLinks::parse(line, base).map_err(|why| Error::line(path, number, why))
    };
    lines.zip(1..).map(parse).collect()
}

/// Refuses links of a line that point past the end of a sentence of so many source and target words.
pub fn check_bounds(
    path: &Path,
    line: usize,
    links: &SentenceLinks,
    (source, target): (usize, usize),
) -> Result<()> {
    match links.iter().find(|link| link.source >= source || link.target >= target) {
        None => Ok(()),
        Some(link) => {
            let message = format!(
                "link {}-{} is outside the pair of {source} and {target} words (counted from 0): \
                 are the words counted from 1 (--index-base 1), or source and target exchanged?",
                link.source, link.target
            );
            Err(Error::line(path, line, message))
        }
    }
}

/// Whether no index is 0 although words are said to be counted from `base` = 0: they are probably counted
/// from 1.
pub fn looks_one_based<'a>(sentences: impl Iterator<Item = &'a SentenceLinks> + Clone, base: usize) -> bool {
    let mut links = sentences.clone().flat_map(SentenceLinks::iter);
    base == 0
        && sentences.flat_map(SentenceLinks::iter).next().is_some()
        && links.all(|link| link.source > 0 && link.target > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_read_and_written() {
        let links = SentenceLinks::parse("1p2 0-0  1-2 0-0 3p0", 0).unwrap();
        assert_eq!(links.to_string(), "0-0 1-2 3p0");
        assert_eq!(links.sure().count(), 2);
        assert_eq!(links.reversed().to_string(), "0-0 0p3 2-1");
        let from_1 = SentenceLinks::parse("1-1 2p3", 1).unwrap();
        assert_eq!((from_1.to_string(), from_1.counted_from(1).to_string()), ("0-0 1p2".into(), "1-1 2p3".into()));
        for bad in ["x", "1", "1-", "-1", "1-x", "1--2", "门🙂abc门", "门-🙂", "🙂p门"] {
            assert!(SentenceLinks::parse(bad, 0).unwrap_err().contains(bad));
        }
        assert!(SentenceLinks::parse("0-1", 1).unwrap_err().contains("counted from 1"));
    }

    /// Known fault M6: an index base that is off by one looks plausible.
    #[test]
    fn a_wrong_base_is_noticed() {
        let path = Path::new("gold.txt");
        let parse = |lines: &[&'static str], base| parse_lines(path, lines.iter().copied(), base).unwrap();
        let suspicious = |lines: &[&'static str], base| looks_one_based(parse(lines, base).iter(), base);
        assert!(suspicious(&["1-1 2-2", "3-1"], 0));
        assert!(!suspicious(&["1-1 0-2"], 0));
        assert!(!suspicious(&["1-1 2-2"], 1));
        assert!(!suspicious(&[""], 0));
        let links = parse(&["0-0 2-1"], 0).remove(0);
        assert!(check_bounds(path, 2, &links, (3, 2)).is_ok());
        let message = check_bounds(path, 2, &links, (2, 2)).unwrap_err().to_string();
        assert!(message.starts_with("gold.txt:2: link 2-1"), "{message}");
    }
}
