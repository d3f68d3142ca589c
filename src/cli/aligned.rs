//! How aligned pairs are told.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use super::align::{AlignArgs, AlignFormat};
use super::links::{scores, scores_and_floor, told};
use super::output::{note, print, print_json};
use super::plotting;
use zhuyi::Error;
use zhuyi::alignment::{AlignmentErrorRate, LexiconCounts, SentenceLinks, Statistics, Summary, aer, npz};
use zhuyi::corpus::Pair;
use zhuyi::ranks::Ranks;
use zhuyi::run::write_whole;
use zhuyi::translator::{Aligned, Judged, Rendered};

/// What is told of aligned pairs.
pub(super) struct Told<'a> {
    pub args: &'a AlignArgs,
    pub pairs: &'a [Pair],
    pub rendered: &'a [Rendered],
    pub links: &'a [SentenceLinks],
    pub gold: Option<&'a [SentenceLinks]>,
    /// Of each pair, where they are asked for; nothing of a pair in which nobody looked anywhere.
    pub statistics: Option<&'a [Option<Statistics>]>,
}

impl Told<'_> {
    /// Tells each pair; gold links belong to words, and are told where the view has those.
    pub fn tell(&self, at_words: bool) -> anyhow::Result<()> {
        if let Some(path) = &self.args.output {
            let archive = npz::archive(self.rendered.iter().map(|rendered| &rendered.alignment))?;
            write_whole(path, &archive)?;
        }
        for number in 0..self.pairs.len() {
            self.tell_pair(number, at_words)?;
        }
        Ok(())
    }

    fn tell_pair(&self, number: usize, at_words: bool) -> anyhow::Result<()> {
        let (pair, rendered, links) = (&self.pairs[number], &self.rendered[number], &self.links[number]);
        let gold = self.gold.filter(|_| at_words).map(|gold| &gold[number]);
        match self.args.format {
            AlignFormat::Pharaoh => print(&links.to_string())?,
            AlignFormat::Tsv => print(&format!("{}\t{}\t{links}", pair.source, pair.target))?,
            AlignFormat::Json => {
                let mut object = serde_json::to_value(rendered)?;
                object["id"] = number.into();
                object["links"] = links.to_string().into();
                if let Some(gold) = gold {
                    object["gold"] = gold.to_string().into();
                }
                if let Some(statistics) = self.statistics {
                    object["statistics"] = json!(statistics[number]);
                }
                print_json(&object)?;
            }
            AlignFormat::Npz | AlignFormat::Scores => {}
        }
        if let Some(folder) = &self.args.plot {
            std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
            plotting::write(&rendered.alignment, gold, &folder.join(format!("{}.svg", number + 1)))?;
        }
        Ok(())
    }

    pub fn tell_statistics(&self) -> anyhow::Result<()> {
        let Some(statistics) = self.statistics else { return Ok(()) };
        let summary = Summary::of(&statistics.iter().flatten().copied().collect::<Vec<_>>());
        match (self.args.format, summary) {
            (AlignFormat::Json, summary) => print_json(&json!({ "statistics": summary }))?,
            (_, Some(summary)) => note(&told_statistics(&summary)),
            (_, None) => note("no pair with a word that looked anywhere"),
        }
        Ok(())
    }

    pub fn tell_scores(&self) -> anyhow::Result<()> {
        let Some(gold) = self.gold else { return Ok(()) };
        let each = self.links.iter().zip(gold).zip(self.rendered).map(|((links, gold), rendered)| {
            AlignmentErrorRate::beside_floor(links, gold, rendered.alignment.target.len())
        });
        let [counts, floor] = aer::sum(each);
        if self.args.format == AlignFormat::Json {
            return print_json(&scores_and_floor(&counts, &floor));
        }
        note(&format!("{}; a perfect aligner of one link a target word: AER {:.4}", told(&counts), floor.aer()));
        Ok(())
    }
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

pub(super) fn tell_heads(judged: &[Judged], format: AlignFormat) -> anyhow::Result<()> {
    let name = |judged: &Judged| judged.head.map_or("mean".to_owned(), |head| (head + 1).to_string());
    for judged in judged {
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

pub(super) fn learn_lexicon(path: &Path, rendered: &[Rendered], links: &[SentenceLinks]) -> anyhow::Result<()> {
    let mut counts = LexiconCounts::default();
    for (rendered, links) in rendered.iter().zip(links) {
        counts.add(&rendered.alignment.source, &rendered.alignment.target, links);
    }
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
pub(super) fn tell_log_probs(aligned: &Aligned<'_>, ranks: &Ranks) -> anyhow::Result<()> {
    if !ranks.leads() {
        return Ok(());
    }
    aligned.log_probs().iter().try_for_each(|(log_prob, tokens)| print(&format!("{log_prob}\t{tokens}")))
}
