//! Several runs that translate together.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{RUNS, RunArgs};
use zhuyi::ranks::Ranks;
use zhuyi::run::RunDir;
use zhuyi::search::Mix;
use zhuyi::translator::Translator;
use zhuyi::{Error, Result};

/// Further runs, beside `--run`.
#[derive(Debug, Args)]
pub(super) struct EnsembleArgs {
    /// A further run that is asked together with the first; it must have the same tokenizers; may be repeated
    #[arg(long, value_name = "DIR")]
    ensemble: Vec<PathBuf>,
    /// How their probabilities become one
    #[arg(long, value_enum, default_value = "log-linear", requires = "ensemble")]
    mix: MixArg,
}

/// [`Mix`] for clap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MixArg {
    /// The mean of their log-probabilities
    LogLinear,
    /// The mean of their probabilities
    Linear,
}

impl EnsembleArgs {
    /// The run's model, and the further ones, which all ranks ask together.
    pub fn open(&self, run: &RunArgs, ranks: &Ranks) -> Result<Translator> {
        if self.ensemble.is_empty() {
            return run.open(ranks);
        }
        if !run.without_head.is_empty() {
            return Err(Error::Usage("--without-head is for one run: leave it or --ensemble out".into()));
        }
        let find = |run: &PathBuf| RunDir::find(Some(run), Path::new(RUNS));
        let others = self.ensemble.iter().map(find).collect::<Result<Vec<_>>>()?;
        let mix = match self.mix {
            MixArg::LogLinear => Mix::LogLinear,
            MixArg::Linear => Mix::Linear,
        };
        run.open_with(&others, mix, ranks)
    }
}
