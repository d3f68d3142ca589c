//! What is left out of parallel text before training, and a report of it.

use std::fmt;

use super::Pair;
use crate::text::normalize::{is_blank, without_breaks};
use crate::text::{Normalization, normalize};

/// Which pairs are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most characters a side may have; longer ones would be cut by nobody and eat all memory.
    pub max_chars: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_chars: 2000 }
    }
}

/// Why pairs were dropped: how many, and the first line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Pairs read.
    pub read: usize,
    /// Pairs kept.
    pub kept: usize,
    /// Each reason with its count and first line number (from 1).
    pub dropped: Vec<(String, usize, usize)>,
}

impl Report {
    /// Counts a dropped pair.
    pub fn drop(&mut self, reason: impl Into<String>, line: usize) {
        let reason = reason.into();
        match self.dropped.iter_mut().find(|(known, _, _)| *known == reason) {
            Some((_, count, _)) => *count += 1,
            None => self.dropped.push((reason, 1, line)),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} pairs", self.kept, self.read)?;
        for (i, (reason, count, line)) in self.dropped.iter().enumerate() {
            let lead = if i == 0 { "; dropped" } else { "," };
            write!(f, "{lead} {count} with {reason} (first: line {line})")?;
        }
        Ok(())
    }
}

/// Normalises the source sides, drops pairs that can't be trained on, and tells which. Targets keep
/// every character but stray line breaks and white space at their ends.
///
/// Both sides of a pair go together, so later pairs stay pairs.
pub fn clean(pairs: Vec<Pair>, normalization: &Normalization, limits: Limits) -> (Vec<Pair>, Report) {
    let mut report = Report { read: pairs.len(), ..Report::default() };
    let mut kept = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let pair = Pair {
            source: normalization.apply(&pair.source),
            target: without_breaks(&pair.target).trim().to_owned(),
            ..pair
        };
        match fault(&pair, limits) {
            Some(reason) => report.drop(reason, pair.line),
            None => kept.push(pair),
        }
    }
    report.kept = kept.len();
    (kept, report)
}

fn fault(pair: &Pair, limits: Limits) -> Option<String> {
    match (normalize::is_blank(&pair.source), is_blank(&pair.target)) {
        (true, true) => return Some("both sides empty".into()),
        (true, false) => return Some("an empty source".into()),
        (false, true) => return Some("an empty target".into()),
        (false, false) => {}
    }
    let too_long = [&pair.source, &pair.target].iter().any(|side| side.chars().count() > limits.max_chars);
    too_long.then(|| format!("more than {} characters", limits.max_chars))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(source: &str, target: &str) -> Pair {
        Pair { source: source.into(), target: target.into(), ..Pair::default() }
    }

    /// As if read from a file.
    fn numbered(mut pairs: Vec<Pair>) -> Vec<Pair> {
        pairs.iter_mut().enumerate().for_each(|(i, pair)| pair.line = i + 1);
        pairs
    }

    fn texts(pairs: &[Pair]) -> Vec<(&str, &str)> {
        pairs.iter().map(|pair| (pair.source.as_str(), pair.target.as_str())).collect()
    }

    /// Known fault D9, second half: a side that is blank takes its partner along, and nothing slips.
    #[test]
    fn one_blank_side_drops_its_pair_and_no_other() {
        let pairs =
            vec![pair("a", "一"), pair(" \u{3000}", "二"), pair("c", "三"), pair("d", ""), pair("e", "五 ")];
        let (kept, report) = clean(numbered(pairs), &Normalization::default(), Limits::default());
        assert_eq!(texts(&kept), [("a", "一"), ("c", "三"), ("e", "五")]);
        assert_eq!(kept[2].line, 5);
        let told = report.to_string();
        assert_eq!(
            told,
            "3 of 5 pairs; dropped 1 with an empty source (first: line 2), 1 with an empty target (first: line 4)"
        );
    }

    #[test]
    fn very_long_lines_are_dropped_and_targets_keep_their_form() {
        let pairs = vec![pair("A.", "Ａ，  B!"), pair(&"x".repeat(30), "y")];
        let normalization = Normalization { lowercase: true, strip_final_punctuation: true };
        let (kept, report) = clean(numbered(pairs), &normalization, Limits { max_chars: 20 });
        assert_eq!(texts(&kept), [("a", "Ａ，  B!")]);
        assert_eq!(report.dropped, [("more than 20 characters".to_owned(), 1, 2)]);
    }
}
