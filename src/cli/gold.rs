//! Gold links: where they come from.

use std::path::Path;

use super::output::warn;
use zhuyi::alignment::{SentenceLinks, links};
use zhuyi::corpus::links::{check_spaces, slipping};
use zhuyi::corpus::{Pair, read};
use zhuyi::{Error, Result};

/// The gold links that pairs brought along, if any did. Blank pairs have none to bring; any other pair that
/// lacks them is an error. `place` is named in messages.
pub fn of_pairs(place: &Path, pairs: &[Pair], base: usize) -> Result<Option<Vec<SentenceLinks>>> {
    if pairs.iter().all(|pair| pair.links.is_none()) {
        return Ok(None);
    }
    let links = |pair: &Pair| match &pair.links {
        Some(links) => Ok(links.clone()),
        None if pair.source.trim().is_empty() && pair.target.trim().is_empty() => Ok(SentenceLinks::default()),
        None => Err(Error::line(place, pair.line, "no gold links, though other lines have some")),
    };
    let gold = pairs.iter().map(links).collect::<Result<Vec<_>>>()?;
    warn_one_based(place, &gold, base);
    pairs.iter().try_for_each(|pair| check_spaces(place, pair.line, pair))?;
    Ok(Some(gold))
}

/// The gold links of a file of its own, one line a pair.
pub fn of_file(path: &Path, place: &Path, pairs: &[Pair], base: usize) -> Result<Vec<SentenceLinks>> {
    let gold = read_links(path, base)?;
    read::check_equal([place, path], [pairs.len(), gold.len()])?;
    for ((pair, links), line) in pairs.iter().zip(&gold).zip(1..) {
        links::check_bounds(path, line, links, (read::words(&pair.source), read::words(&pair.target)))?;
    }
    pairs.iter().try_for_each(|pair| check_spaces(place, pair.line, pair))?;
    Ok(gold)
}

/// Warns of pairs whose links will not be where other tools look for them.
pub fn warn_slipping(place: &Path, pairs: &[Pair]) {
    let mut slipping = pairs.iter().filter_map(|pair| Some((pair.line, slipping(pair)?)));
    if let Some((line, side)) = slipping.next() {
        warn(&format!(
            "{}:{line}: a space other than U+0020 inside the {side}: links count words at it, other tools may not (so do {} \
             further lines)",
            place.display(),
            slipping.count()
        ));
    }
}

/// A file of links.
pub fn read_links(path: &Path, base: usize) -> Result<Vec<SentenceLinks>> {
    let text = read::text(path)?;
    let links = links::parse_lines(path, read::lines(&text), base)?;
    warn_one_based(path, &links, base);
    Ok(links)
}

fn warn_one_based(path: &Path, gold: &[SentenceLinks], base: usize) {
    if links::looks_one_based(gold.iter(), base) {
        warn(&format!("{}: no word has the index 0; if words count from 1, add --index-base 1", path.display()));
    }
}
