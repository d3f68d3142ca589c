//! `zhuyi runs`.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::output::{note, print, print_json, warn};
use super::{Format, RUNS};
use zhuyi::config::Config;
use zhuyi::run::{Manifest, RunDir};

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
    let mut listed = Vec::new();
    for run in runs {
        match run.read_manifest() {
            Ok((config, manifest)) => listed.push((run, config, manifest)),
            Err(why) => warn(&why.to_string()),
        }
    }
    let width = |of: &dyn Fn(&Listed) -> String| listed.iter().map(|run| of(run).width()).max().unwrap_or(0);
    let widths =
        [width(&|(run, ..)| run.path().display().to_string()), width(&|(_, config, _)| config.attention.told())];
    for run in &listed {
        let is_latest = latest.as_ref() == Some(&run.0);
        match args.format {
            Format::Json => print_json(&json(run, is_latest))?,
            Format::Text => print(&line(run, is_latest, widths))?,
        }
    }
    Ok(())
}

type Listed = (RunDir, Config, Manifest);

fn dev_bleu(run: &RunDir) -> Option<f64> {
    run.summary().and_then(|summary| summary["best"]["bleu"].as_f64())
}

fn json((run, config, manifest): &Listed, is_latest: bool) -> Value {
    json!({
        "run": run.path(), "latest": is_latest, "has_model": run.has_model(),
        "attention": config.attention.told(), "source_language": manifest.source_language,
        "target_language": manifest.target_language, "parameters": manifest.parameters, "dev_bleu": dev_bleu(run),
    })
}

fn line((run, config, manifest): &Listed, is_latest: bool, [path, attention]: [usize; 2]) -> String {
    format!(
        "{} {:<path$}  {}-{}  {:<attention$}  {:>9} parameters  dev BLEU {}{}",
        if is_latest { "*" } else { " " },
        run.path().display().to_string(),
        manifest.source_language,
        manifest.target_language,
        config.attention.told(),
        manifest.parameters,
        dev_bleu(run).map_or("?".into(), |bleu| format!("{bleu:.2}")),
        if run.has_model() { "" } else { "  (no model)" },
    )
}
