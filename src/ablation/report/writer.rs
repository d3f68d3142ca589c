//! Who writes a report: what it looks up again and again, and in which order it tells.

use super::super::figures::{self, OfVariant, by_variant};
use super::super::{BASELINE, Measure, Row, WIDE};
use super::block::{Block, Figure};
use super::{Report, words};
use crate::error::Result;
use crate::language::{Language, Text};
use crate::metrics::resample::Difference;

/// Writes a report in a language.
pub struct Writer<'a> {
    pub report: &'a Report<'a>,
    pub language: Language,
    /// In the order of the plan; those that something came of.
    pub variants: Vec<OfVariant<'a>>,
}

impl<'a> Writer<'a> {
    pub fn new(report: &'a Report<'a>, language: Language) -> Self {
        Self { report, language, variants: by_variant(&report.results.rows) }
    }

    /// The whole report.
    pub fn blocks(&self) -> Result<Vec<Block>> {
        let parts = [
            self.lead(),
            self.by_length()?,
            self.variants(),
            self.controls(),
            self.lengths(),
            self.learning()?,
            self.sizes()?,
            self.sentences()?,
            self.differences(),
            self.method(),
        ];
        Ok(parts.into_iter().flatten().collect())
    }

    pub fn told(&self, text: &Text) -> String {
        text.to(self.language).to_owned()
    }

    pub fn said(&self, english: &str, chinese: &str) -> String {
        self.told(&Text::new(english, chinese))
    }

    pub fn heading(&self, english: &str, chinese: &str) -> Block {
        Block::Heading(self.said(english, chinese))
    }

    pub fn say(&self, text: &Text) -> Block {
        Block::Say(self.told(text))
    }

    pub fn figure(&self, name: &str, svg: String, caption: String) -> Figure {
        let language = match self.language {
            Language::English => "",
            Language::Chinese => ".zh",
        };
        Figure { name: format!("{name}{language}"), svg, caption }
    }

    pub fn measure(&self) -> Measure {
        self.report.test.measure
    }

    /// The lengths of the longest sentences.
    pub fn longest(&self) -> String {
        let bin = self.report.results.rows.first().and_then(|row| row.by_length.last());
        bin.map(figures::lengths).unwrap_or_default()
    }

    pub fn named(&self, name: &str) -> Option<&OfVariant<'a>> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    pub fn baseline(&self) -> Option<&OfVariant<'a>> {
        self.named(BASELINE)
    }

    pub fn wide(&self) -> Option<&OfVariant<'a>> {
        self.named(WIDE)
    }

    /// The variant that looks at contents and does best on the longest sentences.
    pub fn best(&self) -> Option<&OfVariant<'a>> {
        let looks = |variant: &&OfVariant<'_>| {
            let row: &Row = variant.rows[0];
            !figures::is_vector(row) && words::limit(&row.attention).is_none()
        };
        let better = |a: &&OfVariant<'_>, b: &&OfVariant<'_>| a.at_longest().total_cmp(&b.at_longest());
        self.variants.iter().filter(looks).max_by(better)
    }

    /// How far `a` is ahead of `b`, over all lengths or in the bin of the longest sentences.
    pub fn difference(&self, a: &str, b: &str, which: Which) -> Option<Difference> {
        let mut of_both = self.report.results.comparisons.iter().filter_map(|found| {
            let turned = |d: Difference| Difference { difference: -d.difference, low: -d.high, high: -d.low, ..d };
            match (found.a == a && found.b == b, found.a == b && found.b == a) {
                (true, _) => Some(found.difference),
                (_, true) => Some(turned(found.difference)),
                _ => None,
            }
        });
        match which {
            Which::All => of_both.next(),
            Which::Longest => of_both.nth(1),
        }
    }
}

/// Which sentences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// All.
    All,
    /// Those in the bin of the longest.
    Longest,
}
