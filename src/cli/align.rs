//! `zhuyi align`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::output::{note, print, print_json};
use super::translate::ViewArgs;
use super::{RunArgs, gold, plotting};
use zhuyi::alignment::{AlignmentErrorRate, SentenceLinks, aer};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::ranks::Ranks;
use zhuyi::text::words::Level;
use zhuyi::translator::{Rendered, View};
use zhuyi::{Error, Result};

/// Align given pairs with a model, or score links.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi align --tsv data/toy/test.tsv                      # links and, with gold, AER
  zhuyi align --source a.en --target a.zh --format json
  zhuyi align --links system.txt --gold gold.txt --format json")]
pub struct AlignArgs {
    /// Source sentences, with --target
    #[arg(long, value_name = "FILE", requires = "target", conflicts_with_all = ["tsv", "links"])]
    source: Option<PathBuf>,
    /// Their translations
    #[arg(long, value_name = "FILE", requires = "source")]
    target: Option<PathBuf>,
    /// Pairs, source TAB target (TAB gold links)
    #[arg(long, value_name = "FILE", conflicts_with = "links")]
    tsv: Option<PathBuf>,
    /// Links to score, without a model
    #[arg(long, value_name = "FILE", requires = "gold")]
    links: Option<PathBuf>,
    /// Gold links, one line a pair
    #[arg(long, value_name = "FILE")]
    gold: Option<PathBuf>,
    /// The --links file is target–source
    #[arg(long, requires = "links")]
    reversed: bool,
    /// Words in links, gold ones too, count from this
    #[arg(long, value_name = "0|1", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=1))]
    index_base: u8,
    /// A folder for a picture of each pair, as SVG
    #[arg(long, value_name = "DIR")]
    plot: Option<PathBuf>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "pharaoh")]
    format: AlignFormat,
    #[command(flatten)]
    view: ViewArgs,
    #[command(flatten)]
    run: RunArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AlignFormat {
    /// Links, a line a pair; scores to standard error
    Pharaoh,
    /// Weights, an object a line; scores as an object
    Json,
    /// Source TAB target TAB links
    Tsv,
}

pub fn run(args: AlignArgs, ranks: &Ranks) -> anyhow::Result<()> {
    let base = usize::from(args.index_base);
    if let (Some(links), Some(gold)) = (&args.links, &args.gold) {
        if !ranks.leads() {
            return Ok(());
        }
        args.run.check_no_heads("--links")?;
        let counts = score_links(&args, links, gold, base)?;
        return match args.format {
            AlignFormat::Json => print_json(&scores(&counts)),
            _ => print(&told(&counts)),
        };
    }
    let view = args.view.view(Level::Word);
    if args.format != AlignFormat::Json && view != View::WORDS {
        return Err(
            Error::Usage("links are told between words: --level and --ends need --format json".into()).into()
        );
    }
    let (place, pairs) = pairs(&args, base)?;
    let gold = match &args.gold {
        Some(path) => Some(gold::of_file(path, place, &pairs, base)?),
        None => gold::of_pairs(place, &pairs, base)?,
    };
    let translator = args.run.open(ranks)?;
    if !translator.has_attention() {
        let message = "this run has no attention (attention.score = \"none\"), so it can't align";
        return Err(Error::Model(message.into()).into());
    }
    let aligned = translator.align(&pairs)?;
    if !ranks.leads() {
        return Ok(());
    }
    for (number, (rendered, pair)) in aligned.told(view).iter().zip(&pairs).enumerate() {
        let links = gold.as_ref().filter(|_| view == View::WORDS).map(|gold| &gold[number]);
        tell(&args, number, rendered, pair, links)?;
    }
    let Some(gold) = gold else { return Ok(()) };
    let [counts, floor] = aer::sum(aligned.error_rates(&gold));
    if args.format == AlignFormat::Json {
        return print_json(&scores_and_floor(&counts, &floor));
    }
    note(&format!("{}; a perfect aligner of one link a target word: AER {:.4}", told(&counts), floor.aer()));
    Ok(())
}

/// The pairs to align, and the file to name in messages about them.
fn pairs(args: &AlignArgs, base: usize) -> Result<(&Path, Vec<Pair>)> {
    match (&args.tsv, &args.source, &args.target) {
        (Some(tsv), _, _) => {
            let column = if args.gold.is_some() { Gold::Ignored } else { Gold::ThirdColumn { base } };
            Ok((tsv, read::tsv(tsv, column)?.collect::<Result<_>>()?))
        }
        (_, Some(source), Some(target)) => Ok((source, read::files(source, target)?.collect::<Result<_>>()?)),
        _ => Err(Error::Usage("give --source and --target, or --tsv, or --links and --gold".into())),
    }
}

fn tell(
    args: &AlignArgs,
    number: usize,
    rendered: &Rendered,
    pair: &Pair,
    gold: Option<&SentenceLinks>,
) -> anyhow::Result<()> {
    match args.format {
        AlignFormat::Pharaoh => print(&rendered.alignment.links().to_string())?,
        AlignFormat::Tsv => {
            print(&format!("{}\t{}\t{}", pair.source, pair.target, rendered.alignment.links()))?;
        }
        AlignFormat::Json => {
            let mut object = serde_json::to_value(rendered)?;
            object["id"] = number.into();
            if let Some(gold) = gold {
                object["gold"] = gold.to_string().into();
            }
            print_json(&object)?;
        }
    }
    if let Some(folder) = &args.plot {
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        plotting::write(&rendered.alignment, gold, &folder.join(format!("{}.svg", number + 1)))?;
    }
    Ok(())
}

fn score_links(args: &AlignArgs, links: &Path, gold: &Path, base: usize) -> Result<AlignmentErrorRate> {
    let (system, gold_links) = (gold::read_links(links, base)?, gold::read_links(gold, base)?);
    read::check_equal([links, gold], [system.len(), gold_links.len()])?;
    let oriented = system.into_iter().map(|links| if args.reversed { links.reversed() } else { links });
    Ok(oriented.zip(&gold_links).map(|(system, gold)| AlignmentErrorRate::of(&system, gold)).sum())
}

/// Scores and the best that one link a target word can reach.
pub fn scores_and_floor(counts: &AlignmentErrorRate, floor: &AlignmentErrorRate) -> Value {
    let mut answer = scores(counts);
    answer["floor"] = json!(floor.aer());
    answer
}

/// Scores as programs read them.
fn scores(counts: &AlignmentErrorRate) -> Value {
    json!({
        "aer": counts.aer(),
        "precision": counts.precision(),
        "recall": counts.recall(),
        "f1": counts.f1(),
        "links": counts.links,
    })
}

fn told(counts: &AlignmentErrorRate) -> String {
    format!(
        "AER {:.4}, precision {:.4}, recall {:.4}, F1 {:.4}, {} links",
        counts.aer(),
        counts.precision(),
        counts.recall(),
        counts.f1(),
        counts.links
    )
}
