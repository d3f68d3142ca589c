//! `zhuyi data`.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Subcommand};
use serde_json::json;

use super::Format;
use super::output::{note, print, print_json, warn};
use zhuyi::corpus::overlap::{Finders, Overlap};
use zhuyi::corpus::read::Gold;
use zhuyi::corpus::split::split;
use zhuyi::corpus::{Filter, FilterConfig, Location, Pair, Pairs, Report, toy};
use zhuyi::run::{write_aside, write_whole};
use zhuyi::text::Normalization;
use zhuyi::{Error, Result};

/// Parallel text.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Write the toy corpus with its gold alignment
    Toy(ToyArgs),
    /// Report which pairs would be left out, and why, and what a test set has in common with them
    Check(CheckArgs),
    /// Write the pairs that are left after filtering, source and target as they were
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
    /// The languages of both sides, ISO 639 codes
    #[arg(long, value_name = "CODE,CODE")]
    languages: Option<Languages>,
}

impl Default for FilterArgs {
    fn default() -> Self {
        let FilterConfig { max_chars, max_ratio, drop_duplicates, drop_identical, drop_wrong_script } =
            FilterConfig::default();
        Self { max_chars, max_ratio, drop_duplicates, drop_identical, drop_wrong_script, languages: None }
    }
}

/// The languages of both sides.
#[derive(Clone, Debug)]
struct Languages([String; 2]);

impl FromStr for Languages {
    type Err = String;

    fn from_str(codes: &str) -> std::result::Result<Self, String> {
        let codes: Vec<String> = codes.split(',').map(|code| code.trim().to_owned()).collect();
        codes.try_into().map(Self).map_err(|_| "write two codes, as in en,zh".into())
    }
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
        config.check(self.languages()).map(|()| config)
    }

    /// Hands over each pair that is left, as it was read.
    fn pass(&self, pairs: Result<Pairs>, work: impl FnMut(&Pair) -> Result<()>) -> Result<Report> {
        self.config()?;
        self.pass_each(pairs?, work)
    }

    fn pass_each(
        &self,
        pairs: impl Iterator<Item = Result<Pair>>,
        mut work: impl FnMut(&Pair) -> Result<()>,
    ) -> Result<Report> {
        let (config, plain) = (self.config()?, Normalization::default());
        let mut filter = Filter::new(&config, &plain, self.languages());
        for pair in pairs {
            let pair = pair?;
            if filter.take(pair.clone()).is_some() {
                work(&pair)?;
            }
        }
        Ok(filter.report)
    }

    fn languages(&self) -> [&str; 2] {
        self.languages.as_ref().map_or([""; 2], |Languages(codes)| codes.each_ref().map(String::as_str))
    }
}

fn check(args: &CheckArgs) -> anyhow::Result<()> {
    let test = (!args.test.is_empty()).then(|| location(&args.test).read(Gold::Ignored)).transpose()?;
    let mut finders = test.as_ref().map(|test| Finders::new(test));
    // Once: what is read may be a pipe. Pairs that would be left out are looked at too.
    let pairs = args.pairs.stream()?.inspect(|pair| {
        if let (Some(finders), Ok(pair)) = (&mut finders, pair) {
            finders.see(pair);
        }
    });
    let report = args.filter.pass_each(pairs, |_| Ok(()))?;
    let shared = finders.map(Finders::found);
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
    if args.out.extension().is_some_and(|packed| packed == "gz" || packed == "zst") {
        return Err(Error::Usage(format!("--out {}: what is written is plain; name a .tsv", args.out.display())));
    }
    // Aside, and renamed at the end: what was there stays if anything is wrong, and may be what is read.
    let mut report = Err(Error::Model(String::new()));
    write_aside(&args.out, |aside| {
        let mut out = BufWriter::new(File::create(aside)?);
        report =
            args.filter.pass(args.pairs.stream(), |pair| write_pair(&mut out, pair).map_err(Error::io(&args.out)));
        if report.is_err() {
            return Err(io::ErrorKind::InvalidData.into());
        }
        out.into_inner().map_err(|why| why.into_error())?.sync_all()
    })
    .or_else(|why| if report.is_err() { Ok(()) } else { Err(why) })?;
    note(&format!("{}: {}", args.out.display(), report?));
    Ok(())
}

/// A pair as a line of a TSV; a tab inside would be one between.
fn write_pair(out: &mut impl Write, pair: &Pair) -> io::Result<()> {
    writeln!(out, "{}\t{}", pair.source.replace('\t', " "), pair.target.replace('\t', " "))
}

fn split_up(args: &SplitArgs) -> Result<()> {
    let files = ["train", "dev", "test"].map(|name| args.out.join(format!("{name}.tsv")));
    if let Some(file) = files.iter().find(|file| file.exists()) {
        return Err(Error::data(file, "this file is there already: name another folder with --out"));
    }
    let (mut pairs, plain) = (Vec::new(), FilterArgs::default());
    let report = plain.pass(args.pairs.stream(), |pair| {
        pairs.push(pair.clone());
        Ok(())
    })?;
    let parts = split(&pairs, args.dev, args.test, args.seed)?;
    std::fs::create_dir_all(&args.out).map_err(Error::io(&args.out))?;
    for (file, places) in files.iter().zip([&parts.train, &parts.dev, &parts.test]) {
        let mut text = Vec::new();
        for &place in places {
            write_pair(&mut text, &pairs[place]).map_err(Error::io(file))?;
        }
        write_whole(file, &text)?;
        note(&format!("{}: {} pairs", file.display(), places.len()));
    }
    note(&format!("read: {report}"));
    Ok(())
}
