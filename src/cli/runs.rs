//! `zhuyi runs`.

use std::path::{Path, PathBuf};

use clap::Args;

use super::output::{note, print, print_json};
use super::{Format, RUNS};
use zhuyi::run::RunDir;

/// List what has been trained.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  zhuyi runs --format json")]
pub struct RunsArgs {
    /// The folder that holds the runs
    #[arg(default_value = RUNS)]
    folder: PathBuf,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
}

pub fn run(args: RunsArgs) -> anyhow::Result<()> {
    let runs = RunDir::list(&args.folder);
    if runs.is_empty() && args.format == Format::Text {
        note(&format!("no runs in {}; train one with `zhuyi train`", args.folder.display()));
    }
    let latest = RunDir::find(None, Path::new(&args.folder)).ok();
    for run in runs {
        let (config, manifest) = match run.read_manifest() {
            Ok(read) => read,
            Err(why) => {
                super::output::warn(&why.to_string());
                continue;
            }
        };
        let bleu = run.summary().and_then(|summary| summary["best"]["bleu"].as_f64());
        let is_latest = latest.as_ref() == Some(&run);
        match args.format {
            Format::Json => print_json(&serde_json::json!({
                "run": run.path(), "latest": is_latest, "has_model": run.has_model(),
                "attention": config.attention.told(), "source_language": manifest.source_language,
                "target_language": manifest.target_language, "parameters": manifest.parameters, "dev_bleu": bleu,
            }))?,
            Format::Text => print(&format!(
                "{} {:<28} {}-{} {:<10} {:>9} parameters  dev BLEU {}{}",
                if is_latest { "*" } else { " " },
                run.path().display(),
                manifest.source_language,
                manifest.target_language,
                config.attention.told(),
                manifest.parameters,
                bleu.map_or("?".into(), |bleu| format!("{bleu:.2}")),
                if run.has_model() { "" } else { "  (no model)" },
            ))?,
        }
    }
    Ok(())
}
