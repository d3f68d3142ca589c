//! `zhuyi config`.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};

use super::output::{print, print_json};
use super::{Format, RUNS, choice};
use zhuyi::config::keys;
use zhuyi::run::RunDir;

/// Configs.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show a config with every key written out
    Show(ShowArgs),
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  zhuyi config show --set train.seed=2\n  zhuyi config show --run runs/toy-luong-1"
)]
pub struct ShowArgs {
    /// A config: a file, or toy, own, long, copy or reverse, which are built in [default: toy]
    #[arg(long, value_name = "FILE|NAME", conflicts_with = "run")]
    config: Option<PathBuf>,
    /// A run's config
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// A key in place of the config's
    #[arg(long = "set", value_name = "KEY=VALUE", conflicts_with = "run")]
    settings: Vec<String>,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub fn run(ConfigCommand::Show(args): ConfigCommand) -> anyhow::Result<()> {
    let config = match (&args.config, &args.run) {
        (Some(path), _) => choice::parse(path, &args.settings)?,
        (_, Some(run)) => RunDir::find(Some(run), Path::new(RUNS))?.read_manifest()?.0,
        _ => choice::parse(Path::new("toy"), &args.settings)?,
    };
    match args.format {
        Format::Text => print(keys::commented(&config)?.trim_end()),
        Format::Json => print_json(&config),
    }
}
