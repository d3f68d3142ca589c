//! `zhuyi align`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use serde_json::{Value, json};

use super::RunArgs;
use super::output::{note, print, print_json, warn};
use super::plotting;
use super::translate::ViewArgs;
use zhuyi::alignment::{AlignmentErrorRate, SentenceLinks, links};
use zhuyi::corpus::Pair;
use zhuyi::corpus::read::{self, Gold};
use zhuyi::text::words::Level;
use zhuyi::translator::{Rendered, Translator};
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
    /// Words in link files count from this
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

pub fn run(args: AlignArgs) -> anyhow::Result<()> {
    if let (Some(links), Some(gold)) = (&args.links, &args.gold) {
        let counts = score_links(&args, links, gold)?;
        return match args.format {
            AlignFormat::Json => print_json(&scores(&counts)),
            _ => print(&told(&counts)),
        };
    }
    let pairs = pairs(&args)?;
    let gold = gold(&args, &pairs)?;
    let translator = args.run.open()?;
    if !translator.has_attention() {
        return Err(Error::Model(
            "this run has no attention (attention.score = \"none\"), so it can't align".into(),
        )
        .into());
    }
    let aligned = align(&translator, &pairs, &args)?;
    for (number, (rendered, pair)) in aligned.iter().zip(&pairs).enumerate() {
        tell(&args, number, rendered, pair)?;
    }
    if let Some(gold) = gold {
        let ours = aligned.iter().map(|rendered| rendered.alignment.links());
        let counts: AlignmentErrorRate =
            ours.zip(&gold).map(|(ours, gold)| AlignmentErrorRate::of(&ours, gold)).sum();
        note(&told(&counts));
    }
    Ok(())
}

fn pairs(args: &AlignArgs) -> Result<Vec<Pair>> {
    match (&args.tsv, &args.source, &args.target) {
        (Some(tsv), _, _) => read::tsv(tsv, Gold::ThirdColumn),
        (_, Some(source), Some(target)) => read::files(source, target),
        _ => Err(Error::Usage("give --source and --target, or --tsv, or --links and --gold".into())),
    }
}

/// Gold links from their own file or from the third column, if every pair has some.
fn gold(args: &AlignArgs, pairs: &[Pair]) -> Result<Option<Vec<SentenceLinks>>> {
    let Some(path) = &args.gold else {
        return Ok(pairs.iter().map(|pair| pair.links.clone()).collect());
    };
    let gold = read_links(path, args.index_base)?;
    let other = args.tsv.as_deref().or(args.source.as_deref()).unwrap_or(Path::new("pairs"));
    read::check_equal([other, path], [pairs.len(), gold.len()])?;
    let words = |text: &str| text.split(' ').filter(|word| !word.is_empty()).count();
    let lengths = pairs.iter().map(|pair| (words(&pair.source), words(&pair.target)));
    links::check_bounds(path, &gold, lengths)?;
    Ok(Some(gold))
}

fn align(translator: &Translator, pairs: &[Pair], args: &AlignArgs) -> Result<Vec<Rendered>> {
    let texts: Vec<(&str, &str)> = pairs.iter().map(|pair| (pair.source.as_str(), pair.target.as_str())).collect();
    translator.align(&texts, args.view.view(Level::Word), 0)
}

fn tell(args: &AlignArgs, number: usize, rendered: &Rendered, pair: &Pair) -> anyhow::Result<()> {
    match args.format {
        AlignFormat::Pharaoh => print(&rendered.alignment.links().to_string())?,
        AlignFormat::Tsv => {
            print(&format!("{}\t{}\t{}", pair.source, pair.target, rendered.alignment.links()))?;
        }
        AlignFormat::Json => {
            let mut object = serde_json::to_value(rendered)?;
            object["id"] = number.into();
            print_json(&object)?;
        }
    }
    if let Some(folder) = &args.plot {
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        plotting::write(&rendered.alignment, &folder.join(format!("{}.svg", number + 1)))?;
    }
    Ok(())
}

fn score_links(args: &AlignArgs, links: &Path, gold_path: &Path) -> Result<AlignmentErrorRate> {
    let system = read_links(links, args.index_base)?;
    let gold = read_links(gold_path, args.index_base)?;
    read::check_equal([links, gold_path], [system.len(), gold.len()])?;
    let oriented = system.into_iter().map(|links| if args.reversed { links.reversed() } else { links });
    Ok(oriented.zip(&gold).map(|(system, gold)| AlignmentErrorRate::of(&system, gold)).sum())
}

fn read_links(path: &Path, base: u8) -> Result<Vec<SentenceLinks>> {
    let text = read::text(path)?;
    let file = links::parse_lines(path, read::lines(&text), base.into())?;
    if file.looks_one_based {
        warn(&format!("{}: no word has the index 0; if words count from 1, add --index-base 1", path.display()));
    }
    Ok(file.sentences)
}

/// Scores as programs read them.
pub fn scores(counts: &AlignmentErrorRate) -> Value {
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
