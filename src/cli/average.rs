//! `zhuyi average`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::RUNS;
use super::output::note;
use zhuyi::run::{Kept, RunDir};

/// Average models of a run.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi train --set checkpoint.keep_best=4 --run runs/it
  zhuyi average --run runs/it --best 4 --out runs/mean
  zhuyi evaluate --run runs/mean")]
pub struct AverageArgs {
    /// The run directory [default: the newest run in runs/]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Of the models that checkpoint.keep_best kept, so many by their scores
    #[arg(long, value_name = "N", conflicts_with = "last", required_unless_present = "last", value_parser = clap::value_parser!(u64).range(1..))]
    best: Option<u64>,
    /// Of the checkpoints that checkpoint.keep_last kept, so many of the newest
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    last: Option<u64>,
    /// The run directory to make, with the mean of their weights as its model
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

pub fn run(args: AverageArgs) -> anyhow::Result<()> {
    let run = RunDir::find(args.run.as_deref(), Path::new(RUNS))?;
    let (kept, n) = match (args.best, args.last) {
        (Some(n), _) => (Kept::Best, n),
        (_, last) => (Kept::Last, last.unwrap_or(1)),
    };
    let steps = run.average(kept, n as usize, &args.out)?;
    let steps: Vec<String> = steps.iter().map(usize::to_string).collect();
    note(&format!("{}: the mean of {} models, of steps {}", args.out.display(), steps.len(), steps.join(", ")));
    Ok(())
}
