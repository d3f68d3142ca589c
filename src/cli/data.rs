//! `zhuyi data`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Format;
use super::output::{note, print, print_json, warn};
use zhuyi::corpus::read::Gold;
use zhuyi::corpus::{Limits, Location, clean, toy};
use zhuyi::run::write_whole;
use zhuyi::text::Normalization;
use zhuyi::{Error, Result};

/// Parallel text.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Write the toy corpus with its gold alignment
    Toy(ToyArgs),
    /// Report which pairs would be left out, and why
    Check(CheckArgs),
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

#[derive(Debug, Args)]
#[command(after_help = "Example:\n  zhuyi data check pairs.tsv.gz\n  zhuyi data check train.de train.en")]
pub struct CheckArgs {
    /// A TSV, or a source file and a target file
    #[arg(value_name = "FILE", num_args = 1..=2, required = true)]
    files: Vec<String>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub fn run(command: DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Toy(args) => write_toy(&args)?,
        DataCommand::Check(args) => check(args)?,
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

fn check(args: CheckArgs) -> anyhow::Result<()> {
    let location = match <[String; 2]>::try_from(args.files) {
        Ok(files) => Location::Files(files),
        Err(mut one) => Location::Tsv(one.remove(0)),
    };
    let (kept, report) = clean(location.read(Gold::Ignored)?, &Normalization::default(), Limits::default());
    match args.format {
        Format::Text => print(&report.to_string())?,
        Format::Json => {
            let dropped = report.dropped.iter().map(
                |(reason, count, line)| serde_json::json!({"reason": reason, "pairs": count, "first_line": line}),
            );
            let dropped: Vec<_> = dropped.collect();
            print_json(&serde_json::json!({"read": report.read, "kept": report.kept, "dropped": dropped}))?;
        }
    }
    if kept.is_empty() {
        warn("nothing is left to train on");
    }
    Ok(())
}
