//! `zhuyi data`.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::json;

use super::Format;
use super::output::{note, print, print_json, warn};
use zhuyi::corpus::overlap::{Overlap, overlaps};
use zhuyi::corpus::read::Gold;
use zhuyi::corpus::split::split;
use zhuyi::corpus::{Filter, FilterConfig, Location, Pair, Pairs, Report, toy};
use zhuyi::run::write_whole;
use zhuyi::text::Normalization;
use zhuyi::{Error, Result};

/// Parallel text.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Write the toy corpus with its gold alignment
    Toy(ToyArgs),
    /// Report which pairs would be left out, and why, and what a test set has in common with them
    Check(CheckArgs),
    /// Write the pairs that are left after filtering
    Clean(CleanArgs),
    /// Split pairs into training, dev and test parts that share no sentence
    Split(SplitArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  zhuyi data toy --seed 1 --out data/toy")]
pub struct ToyArgs {
    /// The same seed writes the same bytes
    #[arg(long, value_name = "N", default_value_t = toy::SHIPPED_SEED)]
    seed: u64,
    /// The folder for train.tsv, dev.tsv and test.tsv, and for long/ with the same of 5 to 60 words
    #[arg(long, value_name = "DIR", default_value = "data/toy")]
    out: PathBuf,
}

/// Parallel text in files.
#[derive(Debug, Args)]
struct PairArgs {
    /// A TSV, or a source file and a target file; .gz and .zst are unpacked
    #[arg(value_name = "FILE", num_args = 1..=2, required = true)]
    files: Vec<String>,
}

/// Which pairs are left out.
#[derive(Debug, Args)]
struct FilterArgs {
    /// Leave out pairs with more characters on a side
    #[arg(long, value_name = "N", default_value_t = FilterConfig::default().max_chars)]
    max_chars: usize,
    /// Leave out pairs with a side that is so many times as long as the other, in bytes
    #[arg(long, value_name = "X", default_value_t = 0.0)]
    max_ratio: f64,
    /// Leave out pairs that came before
    #[arg(long)]
    drop_duplicates: bool,
    /// Leave out pairs with the same text on both sides
    #[arg(long)]
    drop_identical: bool,
    /// Leave out pairs with a side that is not in the script of its language
    #[arg(long, requires = "languages")]
    drop_wrong_script: bool,
    /// The languages of both sides, ISO 639 codes, as in en,zh
    #[arg(long, value_name = "CODE,CODE", value_delimiter = ',', num_args = 2)]
    languages: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi data check pairs.tsv.gz --max-ratio 9 --drop-duplicates
  zhuyi data check train.de train.en --test test.de test.en")]
pub struct CheckArgs {
    #[command(flatten)]
    pairs: PairArgs,
    /// A test set, in the same form: how much of it stands in the pairs too
    #[arg(long, value_name = "FILE", num_args = 1..=2)]
    test: Vec<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  zhuyi data clean pairs.tsv.zst --drop-duplicates --max-ratio 9 --out clean.tsv"
)]
pub struct CleanArgs {
    #[command(flatten)]
    pairs: PairArgs,
    #[command(flatten)]
    filter: FilterArgs,
    /// Where to write, a TSV
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  zhuyi data split pairs.tsv.gz --dev 1000 --test 1000 --out data/mine")]
pub struct SplitArgs {
    #[command(flatten)]
    pairs: PairArgs,
    /// Pairs to choose a model on, at least
    #[arg(long, value_name = "N", default_value_t = 1000)]
    dev: usize,
    /// Pairs to judge on, at least
    #[arg(long, value_name = "N", default_value_t = 1000)]
    test: usize,
    /// The same seed splits alike
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// The folder for train.tsv, dev.tsv and test.tsv
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(command: DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Toy(args) => write_toy(&args)?,
        DataCommand::Check(args) => check(&args)?,
        DataCommand::Clean(args) => clean(&args)?,
        DataCommand::Split(args) => split_up(&args)?,
    }
    Ok(())
}

fn write_toy(args: &ToyArgs) -> Result<()> {
    let long = args.out.join("long");
    for (folder, corpus) in [(&args.out, toy::generate(args.seed)), (&long, toy::long::generate(args.seed))] {
        std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        for (name, pairs) in corpus.parts() {
            let path = folder.join(format!("{name}.tsv"));
            write_whole(&path, toy::to_tsv(pairs).as_bytes())?;
            note(&format!("{}: {} pairs", path.display(), pairs.len()));
        }
    }
    Ok(())
}

impl PairArgs {
    fn stream(&self) -> Result<Pairs> {
        location(&self.files).stream(Gold::Ignored)
    }
}

fn location(files: &[String]) -> Location {
    match files {
        [source, target] => Location::Files([source.clone(), target.clone()]),
        _ => Location::Tsv(files.concat()),
    }
}

impl FilterArgs {
    fn config(&self) -> Result<FilterConfig> {
        let config = FilterConfig {
            max_chars: self.max_chars,
            max_ratio: self.max_ratio,
            drop_duplicates: self.drop_duplicates,
            drop_identical: self.drop_identical,
            drop_wrong_script: self.drop_wrong_script,
        };
        config.check().map(|()| config)
    }

    /// Hands over each pair that is left.
    fn pass(&self, pairs: Pairs, mut work: impl FnMut(Pair) -> Result<()>) -> Result<Report> {
        let (config, plain) = (self.config()?, Normalization::default());
        let languages = [0, 1].map(|side| self.languages.get(side).map_or("", String::as_str));
        let mut filter = Filter::new(&config, &plain, languages);
        for pair in pairs {
            filter.take(pair?).map_or(Ok(()), &mut work)?;
        }
        Ok(filter.report)
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<()> {
    let report = args.filter.pass(args.pairs.stream()?, |_| Ok(()))?;
    let test = (!args.test.is_empty()).then(|| location(&args.test).read(Gold::Ignored)).transpose()?;
    let shared = test.as_ref().map(|test| overlaps(args.pairs.stream()?, test)).transpose()?;
    match args.format {
        Format::Text => {
            print(&report.to_string())?;
            let named = shared.iter().flatten().zip(["exactly", "but for case, spaces and punctuation"]);
            for (overlap, how) in named {
                print(&told(overlap, test.iter().flatten().count(), how))?;
            }
        }
        Format::Json => {
            let dropped = report
                .dropped
                .iter()
                .map(|(reason, count, line)| json!({"reason": reason, "pairs": count, "first_line": line}));
            let dropped: Vec<_> = dropped.collect();
            let mut answer = json!({"read": report.read, "kept": report.kept, "dropped": dropped});
            if let Some([exact, normalized]) = shared {
                answer["overlap"] = json!({"exact": exact, "normalized": normalized});
            }
            print_json(&answer)?;
        }
    }
    if report.kept == 0 {
        warn("nothing is left to train on");
    }
    Ok(())
}

fn told(overlap: &Overlap, all: usize, how: &str) -> String {
    let first = match overlap.first_line {
        0 => String::new(),
        line => format!(" (first: line {line})"),
    };
    format!(
        "of {all} test pairs {} stand among the others {how}; {} sources and {} targets do{first}",
        overlap.pairs, overlap.sources, overlap.targets
    )
}

fn clean(args: &CleanArgs) -> Result<()> {
    let written = |why| Error::io(&args.out)(why);
    let mut out = BufWriter::new(File::create(&args.out).map_err(written)?);
    let report = args.filter.pass(args.pairs.stream()?, |pair| write_pair(&mut out, &pair).map_err(written))?;
    out.flush().map_err(written)?;
    note(&format!("{}: {report}", args.out.display()));
    Ok(())
}

/// A pair as a line of a TSV; a tab inside would be one between.
fn write_pair(out: &mut impl Write, pair: &Pair) -> std::io::Result<()> {
    writeln!(out, "{}\t{}", pair.source.replace('\t', " "), pair.target.replace('\t', " "))
}

fn split_up(args: &SplitArgs) -> Result<()> {
    let mut pairs = Vec::new();
    let filter = FilterConfig::default();
    let plain = Normalization::default();
    let mut usable = Filter::new(&filter, &plain, ["", ""]);
    for pair in args.pairs.stream()? {
        pairs.extend(usable.take(pair?));
    }
    let parts = split(&pairs, args.dev, args.test, args.seed)?;
    std::fs::create_dir_all(&args.out).map_err(Error::io(&args.out))?;
    for (name, places) in [("train", parts.train), ("dev", parts.dev), ("test", parts.test)] {
        write_part(&args.out.join(format!("{name}.tsv")), places.iter().map(|&place| &pairs[place]))?;
    }
    note(&format!("read: {}", usable.report));
    Ok(())
}

fn write_part<'a>(path: &Path, pairs: impl ExactSizeIterator<Item = &'a Pair>) -> Result<()> {
    note(&format!("{}: {} pairs", path.display(), pairs.len()));
    let mut text = Vec::new();
    for pair in pairs {
        write_pair(&mut text, pair).map_err(Error::io(path))?;
    }
    write_whole(path, &text)
}
