//! `zhuyi train`.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;

use super::choice::ConfigArgs;
use super::output::{note, print, print_json, warn};
use super::progress::Console;
use super::signals::Signals;
use super::{DeviceArgs, Format, RUNS};
use zhuyi::config::{Config, keys};
use zhuyi::device::Opened;
use zhuyi::prepare::{Prepared, prepare_with};
use zhuyi::ranks::Ranks;
use zhuyi::run::{RunDir, Training, Unfinished, Watch, prepare, settled};
use zhuyi::train::{Event, StopReason, Summary};
use zhuyi::{Error, Result};

/// Train a model.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi train --attention bahdanau --set train.max_epochs=5
  zhuyi train --config configs/multi30k-de-en.toml --run runs/deen
  zhuyi train --resume --run runs/deen      # after a stop or a crash
  mpirun -np 4 zhuyi train                  # a build with --features mpi")]
pub struct TrainArgs {
    #[command(flatten)]
    choice: ConfigArgs,
    /// The run directory [default: runs/<config>-<attention>-<n>]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Go on with a run that was stopped or crashed, as if it had not been: --run's, else the one of runs/ that a checkpoint
    /// was written of last. With --config a run that is not there yet is begun
    #[arg(long)]
    resume: bool,
    /// The form of the summary
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    device: DeviceArgs,
}

pub fn run(args: TrainArgs, ranks: &Ranks) -> anyhow::Result<()> {
    let (before, lock) = if args.resume { unfinished(&args, ranks)? } else { (None, None) };
    let config = match &before {
        Some(before) => {
            let before = before.config()?;
            keys::continued(&before, args.choice.over(&before)?)?
        }
        None => args.choice.resolve()?,
    };
    let path = before.as_ref().map_or_else(|| run_path(&args, &config), |before| before.dir.path().to_path_buf());
    if ranks.leads() && before.is_none() && !args.resume {
        RunDir::check_free(&path)?;
    }
    let opened = args.device.open()?;
    let data = match &before {
        Some(before) => prepare_with(&config, before.tokenizers()?)?,
        None => prepare(&config)?,
    };
    tell_reports(&data);
    let config = if before.is_none() { settled(config, &data, &opened, ranks)? } else { config };
    let signals = Signals::watch()?;
    let ranks = &ranks.heeding(signals.flag());
    let training = match before {
        Some(Unfinished { dir, saved: Some(saved), .. }) => {
            note(&format!("goes on after step {}", saved.step));
            Training::resume(dir, &saved, &config, &data, &opened, ranks)?
        }
        Some(Unfinished { dir, .. }) => {
            note("no checkpoint was written yet: it begins from the beginning");
            Training::again(dir, &config, &data, &opened, ranks)?
        }
        None => {
            // What a kill left of the very first files is no run.
            if args.resume && ranks.leads() && path.exists() && RunDir::check_free(&path).is_err() {
                RunDir::remove_beginning(&path)?;
            }
            Training::begin(&path, &config, &data, &opened, ranks)?
        }
    };
    let (dir, parameters) = (training.dir.clone(), training.parameters);
    let _lock = match lock {
        None if ranks.leads() => Some(dir.lock()?),
        held => held,
    };
    note(&format!(
        "model: {parameters} parameters, vocabularies of {} and {}",
        data.source.size(),
        data.target.size()
    ));
    training.started_from.iter().for_each(|told| note(told));
    note(&format!("run: {}", dir.path().display()));
    tell_company(&opened, ranks)?;
    let mut watcher = Watcher { console: Console::new(), signals: &signals };
    let trained = training.run(&config, &data, &opened, ranks, Some(Path::new(RUNS)), &mut watcher);
    watcher.console.finish();
    let summary = trained.map_err(|why| with_what_is_kept(why, &dir, ranks))?;
    match args.format {
        _ if !ranks.leads() => {}
        Format::Json => {
            print_json(&serde_json::json!({"run": dir.path(), "parameters": parameters, "summary": summary}))?
        }
        Format::Text => print(&told(&summary, &dir))?,
    }
    match summary.reason {
        StopReason::Interrupted => Err(signals.interrupted()),
        _ => Ok(()),
    }
}

/// The run to go on with, which rank 0 reads for all and keeps others from; none where one is to be begun.
fn unfinished(args: &TrainArgs, ranks: &Ranks) -> anyhow::Result<(Option<Unfinished>, Option<File>)> {
    let dir = if ranks.leads() { find_unfinished(args)? } else { None };
    let lock = dir.as_ref().map(RunDir::lock).transpose()?;
    let found = dir.map(|dir| dir.unfinished()).transpose()?;
    let found = ranks.tell(ranks.leads().then_some(found))?;
    for why in found.iter().flat_map(|run| &run.wrong) {
        warn(&format!("a checkpoint is passed over: {why}"));
    }
    Ok((found, lock))
}

fn find_unfinished(args: &TrainArgs) -> Result<Option<RunDir>> {
    match &args.run {
        Some(path) if !RunDir::is_begun(path) && args.choice.is_given() => Ok(None),
        Some(path) => RunDir::find(Some(path), path).map(Some),
        None => RunDir::last_trained(Path::new(RUNS)).map(Some),
    }
}

/// Says who trains together, and on what.
fn tell_company(opened: &Opened, ranks: &Ranks) -> zhuyi::Result<()> {
    if ranks.size() == 1 {
        return Ok(());
    }
    let all = ranks.gather((opened.to_string(), rayon::current_num_threads()))?;
    let threads: usize = all.iter().map(|(_, threads)| threads).sum();
    note(&format!(
        "{} processes with {threads} threads in all train together; each does its share of every batch",
        all.len()
    ));
    if all.iter().any(|(device, _)| *device != all[0].0) {
        all.iter().enumerate().for_each(|(rank, (device, _))| note(&format!("rank {rank}: {device}")));
    }
    Ok(())
}

/// Tells what is not lost; rank 0 knows.
fn with_what_is_kept(why: Error, dir: &RunDir, ranks: &Ranks) -> Error {
    match why {
        other if !ranks.leads() => other,
        Error::Ranks(why) if dir.has_model() => {
            Error::Ranks(format!("{why}; the best model so far is kept in {}", dir.path().display()))
        }
        Error::Ranks(why) => Error::Ranks(format!("{why}; no model was scored yet, so none is kept")),
        other => other,
    }
}

/// Says what was left out of the data.
pub fn tell_reports(data: &Prepared) {
    for (name, report) in ["train", "dev"].iter().zip(&data.reports) {
        note(&format!("{name}: {report}"));
    }
}

/// Shows training, and stops it when a signal comes.
pub struct Watcher<'a> {
    pub console: Console,
    pub signals: &'a Signals,
}

impl Watch for Watcher<'_> {
    fn event(&mut self, event: &Event) {
        self.console.event(event);
    }

    fn stop(&self) -> bool {
        self.signals.caught().is_some()
    }
}

fn run_path(args: &TrainArgs, config: &Config) -> PathBuf {
    if let Some(path) = &args.run {
        return path.clone();
    }
    let stem =
        args.choice.config.as_deref().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
    let made = |collection: &str| collection.trim_end_matches([':', '/']).replace([':', '/'], "-");
    let name = stem.unwrap_or_else(|| config.data.train.collection().map_or_else(|| "own".into(), made));
    let attention = args.choice.attention_name(config);
    RunDir::fresh_path(Path::new(RUNS), &format!("{name}-{attention}"))
}

fn told(summary: &Summary, dir: &RunDir) -> String {
    let why = match summary.reason {
        StopReason::Epochs => "all epochs done",
        StopReason::Steps => "all steps done",
        StopReason::Minutes => "time is up",
        StopReason::Patience => "no better for long",
        StopReason::Interrupted => "interrupted",
    };
    let best = summary.best.map_or("no model was scored yet, so none is kept".to_owned(), |best| {
        format!(
            "best model after {} steps: dev BLEU {:.2}, exact {:.1} %, perplexity {:.3}",
            summary.best_step,
            best.bleu,
            100.0 * best.exact_match,
            best.perplexity
        )
    });
    let skipped = match summary.skipped {
        0 => String::new(),
        n => format!("\n{n} updates left out: loss or gradients were not finite"),
    };
    let path = dir.path().display();
    let mut next =
        summary.best.map_or(String::new(), |_| format!("\ntranslate with: zhuyi translate --run {path} \"…\""));
    if summary.reason == StopReason::Interrupted {
        next += &format!("\ngo on with: zhuyi train --resume --run {path}");
    }
    format!(
        "{why}: {} steps in {:.1} s, {:.0} target tokens/s\n{best}{skipped}\nrun: {path}{next}",
        summary.steps, summary.seconds, summary.tokens_per_second,
    )
}
