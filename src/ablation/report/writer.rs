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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::super::{Ask, Bin, Comparison, Plan, Results, TestSet, Times, Trained};
    use super::*;
    use crate::config::{AttentionName, Config, TOY};

    fn bin(from: usize, to: usize, bleu: f64) -> Bin {
        Bin {
            from,
            to,
            sentences: 50,
            loss: 1.0,
            perplexity: 1f64.exp(),
            bleu,
            chrf: bleu,
            exact_match: 0.5,
            token_accuracy: None,
            aer: None,
            aer_floor: None,
            entropy: None,
            cut: 0,
            empty: 0,
            band: [bleu - 1.0, bleu + 1.0],
        }
    }

    /// A row with a score over all lengths and one on the longest sentences.
    fn row(variant: &str, attention: &str, seed: u64, bleu: [f64; 2]) -> Row {
        Row {
            variant: variant.into(),
            seed,
            attention: attention.into(),
            context: 128,
            parameters: 1234,
            measure: Measure::Bleu,
            all: bin(1, 60, bleu[0]),
            by_length: vec![bin(1, 30, bleu[0]), bin(31, 60, bleu[1])],
            train: Trained { pairs: 100, steps: 10, best_step: 10, curve: vec![] },
            run: "runs/x".into(),
        }
    }

    /// Rows, with the differences on the longest sentences of the first two.
    fn told(rows: Vec<Row>, [difference, low, high]: [f64; 3], language: Language) -> String {
        let config = Config::parse("toy.toml".as_ref(), TOY, &[]).unwrap();
        let test = TestSet::read(&config).unwrap();
        let ask = Ask { config, attention: AttentionName::all().take(2).collect(), seeds: 1, sizes: vec![] };
        let plan = Plan::new(&ask, &test, &ask.prepare().unwrap()).unwrap();
        let [a, b] = [1, 0].map(|i| rows[i].variant.clone());
        let longest = Difference { difference, low, high, p: 0.25 };
        let all = Difference { difference: 7.0, low: 6.0, high: 9.0, p: 0.5 };
        let compared = |difference, from| Comparison { a: a.clone(), b: b.clone(), from, to: 60, difference };
        let times = rows.iter().map(|row| Times {
            variant: row.variant.clone(),
            seed: row.seed,
            train_seconds: 1.0,
            tokens_per_second: 1000.0,
            judge_seconds: 1.0,
        });
        let results = Results {
            times: times.collect(),
            comparisons: vec![compared(all, 1), compared(longest, 31)],
            translations: vec![test.references().into_iter().map(str::to_owned).collect(); rows.len()],
            shown: vec![vec![]; rows.len()],
            failed: vec![],
            rows,
        };
        let report = Report {
            results: &results,
            plan: &plan,
            test: &test,
            command: "zhuyi ablate",
            place: Path::new("out"),
        };
        let writer = Writer::new(&report, language);
        let turned = writer.difference(&b, &a, Which::Longest).unwrap();
        assert_eq!((turned.difference, turned.low, turned.high), (-difference, -high, -low));
        super::super::markdown::text("t", &writer.blocks().unwrap(), "f")
    }

    #[test]
    fn the_lead_says_what_the_figures_say() {
        let rows = || vec![row("none", "none", 1, [50.0, 12.3]), row("dot", "dot", 1, [60.0, 45.6])];
        for (difference, english, chinese) in [
            ([33.3, 30.0, 36.0], "One vector can't carry", "一个向量装不下"),
            ([3.3, 1.0, 5.0], "little, but more than chance", "不是偶然"),
            ([3.3, -1.0, 5.0], "can't tell that from no difference", "还不能断定"),
            ([-3.3, -5.0, -1.0], "worth less than nothing", "反而不如"),
        ] {
            let text = told(rows(), difference, Language::English);
            assert!(text.contains(english), "{text}");
            assert!(
                text.contains("On sources of 31–60 words, `dot` reaches 45.6 (BLEU) and the single vector 12.3")
            );
            assert!(told(rows(), difference, Language::Chinese).contains(chinese));
        }
    }

    #[test]
    fn tables_hold_means_and_spreads_and_differences_both_ways() {
        let rows = vec![
            row("none", "none", 1, [10.0, 5.0]),
            row("dot", "dot", 1, [60.0, 40.0]),
            row("none", "none", 2, [20.0, 7.0]),
            row("dot", "dot", 2, [70.0, 44.0]),
        ];
        let text = told(rows, [33.3, 30.0, 36.0], Language::English);
        for line in [
            // Means over two seeds, with their standard deviation.
            "| `none` | 128 | 1,234 | 15.00 ± 7.07 | 6.00 ± 1.41 | – |",
            "| `dot` | 128 | 1,234 | 65.00 ± 7.07 | 42.00 ± 2.83 | +7.00 (0.500) |",
            "| `none` | 15.0 (14.0–\u{2060}16.0) | 6.0 (5.0–\u{2060}7.0) |",
            "| `none` | – | -7.00 (0.500) |",
            "| `dot` | +7.00 (0.500) | – |",
        ] {
            assert!(text.contains(line), "{line} in {text}");
        }
    }

    #[test]
    fn controls_are_told_by_what_they_did() {
        let with = |variant: &str, attention: &str, score: f64| {
            let rows = vec![
                row("none", "none", 1, [10.0, 10.0]),
                row("dot", "dot", 1, [90.0, 90.0]),
                row(variant, attention, 1, [score, score]),
            ];
            told(rows, [80.0, 70.0, 90.0], Language::English)
        };
        assert!(
            with("linear", "linear", 12.0)
                .contains("Here it reaches 12.0 at 31–60 words, nearer to the single vector")
        );
        assert!(
            with("location", "location", 88.0).contains("Here that is enough: at 31–60 words it reaches 88.0")
        );
        // Its reason is not location's.
        let odd = with("linear", "linear", 88.0);
        assert!(odd.contains("Here it reaches 88.0") && !odd.contains("that is enough"));
    }
}
