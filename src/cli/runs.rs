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

/// What a run's log tells of it.
struct Standing {
    /// Updates so far.
    steps: u64,
    /// How training ended, or that it did not.
    state: &'static str,
    /// The best scores on the dev set.
    best: Value,
}

fn standing(run: &RunDir) -> Standing {
    let events = run.events();
    let steps = events.iter().filter_map(|event| event["step"].as_u64().or(event["steps"].as_u64())).max();
    let best = events.iter().rev().find(|event| event["event"] == "validated" && event["best"] == true);
    let state = match events.last() {
        Some(event) if event["reason"] == "interrupted" => "stopped",
        Some(event) if event["event"] == "finished" => "finished",
        _ => "unfinished",
    };
    let best = best.map_or(Value::Null, |event| event["scores"].clone());
    Standing { steps: steps.unwrap_or(0), state, best }
}

fn json((run, config, manifest): &Listed, is_latest: bool) -> Value {
    let Standing { steps, state, best } = standing(run);
    json!({
        "run": run.path(), "latest": is_latest, "has_model": run.has_model(),
        "attention": config.attention.told(), "source_language": manifest.source_language,
        "target_language": manifest.target_language, "parameters": manifest.parameters, "steps": steps,
        "state": state, "dev_bleu": best["bleu"], "dev": best,
    })
}

fn line((run, config, manifest): &Listed, is_latest: bool, [path, attention]: [usize; 2]) -> String {
    let Standing { steps, state, best } = standing(run);
    let score = |key: &str| best[key].as_f64().map_or("?".into(), |score| format!("{score:.2}"));
    format!(
        "{} {}{}  {}-{}  {:<attention$}  {:>9} parameters  {steps:>6} steps, {state:<10}  dev BLEU {}  chrF {}  \
         perplexity {}{}",
        if is_latest { "*" } else { " " },
        run.path().display(),
        // By how wide it is shown: Chinese takes two places a character.
        " ".repeat(path.saturating_sub(run.path().display().to_string().width())),
        manifest.source_language,
        manifest.target_language,
        config.attention.told(),
        manifest.parameters,
        score("bleu"),
        score("chrf"),
        score("perplexity"),
        if run.has_model() { "" } else { "  (no model)" },
    )
}
