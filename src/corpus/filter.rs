//! What is left out of parallel text before training, and a report of it. Pairs pass one by one: the corpus may be larger
//! than memory.

use std::collections::HashSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::{Deserialize, Serialize};

use super::{Pair, script};
use crate::error::{Error, Result};
use crate::text::normalize::{is_blank, without_breaks};
use crate::text::{Normalization, normalize};

/// Which pairs are left out, besides those with an empty side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FilterConfig {
    /// The most characters a side may have; longer ones would be cut by nobody and eat all memory.
    pub max_chars: usize,
    /// How many times as long as the other a side may be, in bytes of UTF-8 (a Chinese character counts as three letters,
    /// which is about what it says); 0 for no limit.
    pub max_ratio: f64,
    /// Whether pairs that came before are left out. Takes some 16 bytes of memory a pair.
    pub drop_duplicates: bool,
    /// Whether pairs with the same text on both sides are left out.
    pub drop_identical: bool,
    /// Whether pairs with a side that is mostly not in its language's script are left out.
    pub drop_wrong_script: bool,
}

impl Default for FilterConfig {
    fn default() -> Self {
        Self {
            max_chars: 2000,
            max_ratio: 0.0,
            drop_duplicates: false,
            drop_identical: false,
            drop_wrong_script: false,
        }
    }
}

impl FilterConfig {
    /// Refuses what can't be meant.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self, languages: [&str; 2]) -> Result<()> {
        if self.max_ratio != 0.0 && !(self.max_ratio.is_finite() && self.max_ratio >= 1.0) {
            return Err(Error::Config("data.filter.max_ratio must be at least 1, or 0 for no limit".into()));
        }
        match languages.iter().find(|language| self.drop_wrong_script && !script::is_known(language)) {
            None => Ok(()),
            Some(language) => Err(Error::Config(format!(
                "drop_wrong_script needs both languages, as ISO 639 codes, and how `{language}` is written is not known: set \
                 data.source_language and data.target_language (--languages), or leave it out"
            ))),
        }
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
#[derive(Debug)]
pub struct Filter<'a> {
    config: &'a FilterConfig,
    normalization: &'a Normalization,
    languages: [&'a str; 2],
    /// Hashes: that two of ten million pairs share one by chance has a probability of 3 in a million.
    seen: HashSet<u64>,
    /// What was dropped so far.
    pub report: Report,
}

impl<'a> Filter<'a> {
    /// A filter of pairs in two languages (ISO 639 codes; empty where unknown).
    pub fn new(config: &'a FilterConfig, normalization: &'a Normalization, languages: [&'a str; 2]) -> Self {
        Self { config, normalization, languages, seen: HashSet::new(), report: Report::default() }
    }

    /// The pair as it is trained on, or nothing.
    pub fn take(&mut self, pair: Pair) -> Option<Pair> {
        self.report.read += 1;
        let pair = Pair {
            source: self.normalization.apply(&pair.source),
            target: without_breaks(&pair.target).trim().to_owned(),
            ..pair
        };
        if let Some(reason) = self.fault(&pair) {
            self.report.drop(reason, pair.line);
            return None;
        }
        self.report.kept += 1;
        Some(pair)
    }

    fn fault(&mut self, pair: &Pair) -> Option<String> {
        match (normalize::is_blank(&pair.source), is_blank(&pair.target)) {
            (true, true) => return Some("both sides empty".into()),
            (true, false) => return Some("an empty source".into()),
            (false, true) => return Some("an empty target".into()),
            (false, false) => {}
        }
        let FilterConfig { max_chars, max_ratio, drop_duplicates, drop_identical, drop_wrong_script } =
            *self.config;
        let sides = [&pair.source, &pair.target];
        if sides.iter().any(|side| side.chars().nth(max_chars).is_some()) {
            return Some(format!("more than {max_chars} characters"));
        }
        let (short, long) = (sides[0].len().min(sides[1].len()), sides[0].len().max(sides[1].len()));
        if max_ratio > 0.0 && long as f64 > max_ratio * short as f64 {
            return Some(format!("a side more than {max_ratio} times as long as the other"));
        }
        if drop_identical && pair.source == pair.target {
            return Some("the same text on both sides".into());
        }
        if drop_wrong_script {
            let mut sided = ["source", "target"].into_iter().zip(self.languages).zip(sides);
            if let Some(((side, language), _)) =
                sided.find(|((_, language), text)| script::is_wrong(text, language))
            {
                return Some(format!("a {side} that is not in the script of `{language}`"));
            }
        }
        let mut hash = DefaultHasher::new();
        (&pair.source, &pair.target).hash(&mut hash);
        (drop_duplicates && !self.seen.insert(hash.finish())).then(|| "a pair that came before".into())
    }
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

    fn clean(pairs: Vec<Pair>, config: &FilterConfig, normalization: &Normalization) -> (Vec<Pair>, Report) {
        let mut filter = Filter::new(config, normalization, ["en", "zh"]);
        let kept = pairs.into_iter().filter_map(|pair| filter.take(pair)).collect();
        (kept, filter.report)
    }

    fn texts(pairs: &[Pair]) -> Vec<(&str, &str)> {
        pairs.iter().map(|pair| (pair.source.as_str(), pair.target.as_str())).collect()
    }

    /// Known fault D9, second half: a side that is blank takes its partner along, and nothing slips.
    #[test]
    fn one_blank_side_drops_its_pair_and_no_other() {
        let pairs =
            vec![pair("a", "一"), pair(" \u{3000}", "二"), pair("c", "三"), pair("d", ""), pair("e", "五 ")];
        let (kept, report) = clean(numbered(pairs), &FilterConfig::default(), &Normalization::default());
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
        let (kept, report) =
            clean(numbered(pairs), &FilterConfig { max_chars: 20, ..FilterConfig::default() }, &normalization);
        assert_eq!(texts(&kept), [("a", "Ａ，  B!")]);
        assert_eq!(report.dropped, [("more than 20 characters".to_owned(), 1, 2)]);
    }

    /// Each filter drops its own, and nothing where it is off.
    #[test]
    fn filters_drop_what_they_are_for() {
        let pairs = || {
            numbered(vec![
                pair("the cat", "猫"),
                pair("the cat", "猫"),
                pair("the cat", "那只 猫"),
                pair("Berlin", "Berlin"),
                pair("欢迎", "来 深圳"),
                pair("7", "7 号"),
                pair("a", "这句话太长了，不可能是一个字母的翻译"),
            ])
        };
        let off = FilterConfig::default();
        let dropped = |config: FilterConfig| {
            let (kept, report) = clean(pairs(), &config, &Normalization::default());
            assert_eq!(kept.len() + report.dropped.iter().map(|(_, count, _)| count).sum::<usize>(), 7);
            report.dropped
        };
        assert_eq!(dropped(off.clone()), []);
        for (config, reason, lines) in [
            (FilterConfig { drop_duplicates: true, ..off.clone() }, "a pair that came before", [1, 2]),
            (FilterConfig { drop_identical: true, ..off.clone() }, "the same text on both sides", [1, 4]),
            (
                FilterConfig { max_ratio: 9.0, ..off.clone() },
                "a side more than 9 times as long as the other",
                [1, 7],
            ),
        ] {
            assert_eq!(dropped(config), [(reason.to_owned(), lines[0], lines[1])]);
        }
        let script = |side: &str, language: &str| format!("a {side} that is not in the script of `{language}`");
        assert_eq!(
            dropped(FilterConfig { drop_wrong_script: true, ..off.clone() }),
            [(script("target", "zh"), 1, 4), (script("source", "en"), 1, 5)]
        );
        for wrong in [0.5, -1.0, f64::NAN, f64::INFINITY] {
            assert!(FilterConfig { max_ratio: wrong, ..off.clone() }.check(["", ""]).is_err(), "{wrong}");
        }
        let script = FilterConfig { drop_wrong_script: true, ..off };
        assert!(script.check(["eng", "zh"]).is_ok());
        assert!(script.check(["en", ""]).unwrap_err().to_string().contains("how `` is written is not known"));
    }
}
