//! How aligned pairs are told.

use std::fmt::Write as _;
use std::io::IsTerminal;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use super::align::{AlignArgs, AlignFormat};
use super::counter::Counter;
use super::links::{scores, scores_and_floor, told};
use super::output::{note, print, print_json, warn};
use super::plotting;
use zhuyi::Error;
use zhuyi::alignment::{AlignmentErrorRate, LexiconCounts, SentenceLinks, Statistics, Summary, aer, npz};
use zhuyi::corpus::Pair;
use zhuyi::run::write_whole;
use zhuyi::translator::{self, Aligned, Judged, Rendered, TooLong, View};

/// Tells pairs batch by batch, and at the end what is known of all.
pub(super) struct Teller<'a> {
    args: &'a AlignArgs,
    view: View,
    pairs: &'a [Pair],
    gold: Option<&'a [SentenceLinks]>,
    /// How many are told.
    pub told: usize,
    counter: Option<Counter>,
    archive: npz::Archive,
    statistics: Vec<Statistics>,
    lexicon: LexiconCounts,
    rates: [AlignmentErrorRate; 2],
    heads: Vec<Judged>,
    left_out: usize,
}

/// A pair with what is told of it.
struct Told<'a> {
    number: usize,
    pair: &'a Pair,
    rendered: &'a Rendered,
    links: &'a SentenceLinks,
    gold: Option<&'a SentenceLinks>,
    /// Where they are asked for and somebody looked anywhere.
    statistics: Option<Statistics>,
}

/// The same for programs.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    pair: translator::Told<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gold: Option<String>,
    /// Nothing where nobody looked anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    statistics: Option<Option<Statistics>>,
}

impl<'a> Teller<'a> {
    pub fn new(args: &'a AlignArgs, view: View, pairs: &'a [Pair], gold: Option<&'a [SentenceLinks]>) -> Self {
        // Lines on a terminal tell by themselves how far it is.
        let silent = args.output.is_some() || args.best_head || !std::io::stdout().is_terminal();
        Self {
            args,
            view,
            pairs,
            gold,
            told: 0,
            counter: silent.then(|| Counter::new(pairs.len())),
            archive: npz::Archive::default(),
            statistics: Vec::new(),
            lexicon: LexiconCounts::default(),
            rates: Default::default(),
            heads: Vec::new(),
            left_out: 0,
        }
    }

    /// Tells the next pairs; `backward` are their links by a run of the other direction.
    pub fn tell(&mut self, aligned: &Aligned<'_>, backward: Option<&[SentenceLinks]>) -> anyhow::Result<()> {
        let too_long: Vec<Option<TooLong>> = aligned.too_long().collect();
        for (number, TooLong { tokens, most }) in
            (self.told + 1..).zip(&too_long).filter_map(|(n, it)| Some((n, (*it)?)))
        {
            self.left_out += 1;
            let why = format!("pair {number}: {tokens} tokens are too many ({most} at most), left out");
            self.counter.as_ref().map_or_else(|| warn(&why), |counter| counter.beside(|| warn(&why)));
        }
        let gold = self.gold.map(|gold| &gold[self.told..self.told + too_long.len()]);
        match (self.args.format, self.args.best_head, gold) {
            (AlignFormat::Scores, ..) => tell_log_probs(aligned)?,
            (_, true, Some(gold)) => self.add_heads(aligned.by_head(gold)),
            _ => self.tell_pairs(aligned, backward, gold, &too_long)?,
        }
        self.told += too_long.len();
        self.counter.iter_mut().for_each(|counter| counter.add(too_long.len()));
        Ok(())
    }

    fn tell_pairs(
        &mut self,
        aligned: &Aligned<'_>,
        backward: Option<&[SentenceLinks]>,
        gold: Option<&[SentenceLinks]>,
        too_long: &[Option<TooLong>],
    ) -> anyhow::Result<()> {
        let rendered = aligned.told(self.view);
        let links = self.args.links(&rendered, backward);
        let at_words = self.args.is_of_words();
        for (i, (rendered, links)) in rendered.iter().zip(&links).enumerate() {
            let number = self.told + i;
            let told = Told {
                number,
                pair: &self.pairs[number],
                rendered,
                links,
                gold: gold.filter(|_| at_words).map(|gold| &gold[i]),
                statistics: Statistics::of(&rendered.alignment).filter(|_| self.args.statistics),
            };
            told.tell(self.args)?;
            self.statistics.extend(told.statistics);
            if self.args.output.is_some() {
                self.archive.add(&rendered.alignment)?;
            }
            self.lexicon.add(&rendered.alignment.source, &rendered.alignment.target, links);
        }
        let Some(gold) = gold else { return Ok(()) };
        // Gold links are between words, whatever was told.
        let words;
        let (rendered, links) = match at_words {
            true => (&rendered, links),
            false => {
                words = aligned.told(View { head: self.view.head, step: self.view.step, ..View::WORDS });
                let links = self.args.links(&words, None);
                (&words, links)
            }
        };
        let each = links.iter().zip(gold).zip(rendered).zip(too_long).filter(|(_, too_long)| too_long.is_none());
        let rates = each.map(|(((links, gold), rendered), _)| {
            AlignmentErrorRate::beside_floor(links, gold, rendered.alignment.target.len())
        });
        self.rates = aer::sum([self.rates].into_iter().chain(rates));
        Ok(())
    }

    fn add_heads(&mut self, judged: Vec<Judged>) {
        match self.heads.is_empty() {
            true => self.heads = judged,
            false => {
                self.heads.iter_mut().zip(judged).for_each(|(sum, judged)| sum.rate = sum.rate + judged.rate);
            }
        }
    }

    /// Tells what is known of all.
    pub fn finish(mut self) -> anyhow::Result<()> {
        self.counter = None;
        if self.left_out > 0 && self.gold.is_some() {
            let pairs = if self.left_out == 1 { "pair is" } else { "pairs are" };
            warn(&format!("{} {pairs} no part of the scores: too long", self.left_out));
        }
        if self.args.best_head {
            return tell_heads(self.heads, self.args.format);
        }
        if let Some(path) = &self.args.output {
            write_whole(path, &self.archive.finish()?)?;
        }
        if let Some(path) = &self.args.learn_lexicon {
            write_lexicon(path, &self.lexicon)?;
        }
        let json = self.args.format == AlignFormat::Json;
        if self.args.statistics {
            tell_statistics(Summary::of(&self.statistics), json)?;
        }
        let [counts, floor] = self.rates;
        match (self.gold, json) {
            (None, _) => Ok(()),
            (Some(_), true) => print_json(&scores_and_floor(&counts, &floor)),
            (Some(_), false) => {
                let best = format!("a perfect aligner of one link a target word: AER {:.4}", floor.aer());
                note(&format!("{}; {best}", told(&counts)));
                Ok(())
            }
        }
    }
}

impl Told<'_> {
    fn tell(&self, args: &AlignArgs) -> anyhow::Result<()> {
        let Self { number, pair, rendered, gold, .. } = self;
        let links = self.links.counted_from(args.base());
        match args.format {
            AlignFormat::Pharaoh => print(&links.to_string())?,
            AlignFormat::Tsv => print(&format!("{}\t{}\t{links}", pair.source, pair.target))?,
            AlignFormat::Json => {
                print_json(&Line {
                    pair: rendered.told(*number, links.to_string()),
                    gold: gold.map(|gold| gold.counted_from(args.base()).to_string()),
                    statistics: args.statistics.then_some(self.statistics),
                })?;
            }
            AlignFormat::Npz | AlignFormat::Scores => {}
        }
        if let Some(folder) = &args.plot {
            std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
            plotting::write(&rendered.alignment, *gold, &folder.join(format!("{}.svg", number + 1)))?;
        }
        Ok(())
    }
}

fn tell_statistics(summary: Option<Summary>, json: bool) -> anyhow::Result<()> {
    match (json, summary) {
        (true, summary) => print_json(&json!({ "statistics": summary }))?,
        (false, Some(summary)) => note(&told_statistics(&summary)),
        (false, None) => note("no pair with a word that looked anywhere"),
    }
    Ok(())
}

fn told_statistics(summary: &Summary) -> String {
    let order = summary.monotonicity.map_or("–".into(), |tau| format!("{tau:.3}"));
    let [diagonal, local, long_range] = summary.patterns;
    format!(
        "{} words of {} pairs: entropy {:.3} nats, peak {:.3}, order (Kendall's τ) {order}, coverage {:.3}, from the diagonal \
         {:.3}; {diagonal} pairs look diagonal, {local} local, {long_range} long-range",
        summary.words,
        summary.sentences,
        summary.entropy,
        summary.peak,
        summary.coverage,
        summary.diagonal_distance
    )
}

/// Tells heads, the best first.
fn tell_heads(mut judged: Vec<Judged>, format: AlignFormat) -> anyhow::Result<()> {
    judged.sort_by(|a, b| a.rate.aer().total_cmp(&b.rate.aer()));
    let name = |judged: &Judged| judged.head.map_or("mean".to_owned(), |head| (head + 1).to_string());
    for judged in &judged {
        if format == AlignFormat::Json {
            let mut object = scores(&judged.rate);
            object["head"] = judged.head.map_or("mean".into(), |head| (head + 1).into());
            object["step"] = judged.step.name().into();
            print_json(&object)?;
        } else {
            print(&format!("head {:>4}, {:>4} step: {}", name(judged), judged.step.name(), told(&judged.rate)))?;
        }
    }
    Ok(())
}

fn write_lexicon(path: &Path, counts: &LexiconCounts) -> anyhow::Result<()> {
    let mut lines = String::new();
    let mut words = 0;
    for entry in counts.entries() {
        writeln!(lines, "{}\t{}\t{}\t{:.4}", entry.source, entry.target, entry.count, entry.share)?;
        words += 1;
    }
    write_whole(path, lines.as_bytes())?;
    note(&format!("{words} words written to {}", path.display()));
    Ok(())
}

/// Log-probabilities, which models without attention have too.
fn tell_log_probs(aligned: &Aligned<'_>) -> anyhow::Result<()> {
    aligned.log_probs().iter().try_for_each(|(log_prob, tokens)| print(&format!("{log_prob}\t{tokens}")))
}
