//! `zhuyi train`.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::choice::ConfigArgs;
use super::output::{Interrupted, note, print, print_json};
use super::progress::Console;
use super::{DeviceArgs, Format, RUNS};
use zhuyi::config::Config;
use zhuyi::model::{Seq2Seq, Vocabularies};
use zhuyi::prepare::prepare;
use zhuyi::rng::Rng;
use zhuyi::run::{Log, RunDir};
use zhuyi::train::{Event, Observer, StopReason, Summary, train};
use zhuyi::{Error, Result};

/// Train a model.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi train --attention bahdanau --set train.max_epochs=5
  zhuyi train --config configs/multi30k-de-en.toml --run runs/deen")]
pub struct TrainArgs {
    #[command(flatten)]
    choice: ConfigArgs,
    /// The run directory [default: runs/<config>-<attention>-<n>]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// The form of the summary
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    device: DeviceArgs,
}

pub fn run(args: TrainArgs) -> anyhow::Result<()> {
    let config = args.choice.resolve()?;
    let device = args.device.choice()?.device();
    let signals = Signals::watch()?;
    let path = run_path(&args, &config);
    RunDir::check_free(&path)?;
    let data = prepare(&config)?;
    for (name, report) in ["train", "dev"].iter().zip(&data.reports) {
        note(&format!("{name}: {report}"));
    }
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), &device)?;
    let parameters = model.parameters().iter().map(|(_, values)| values).sum();
    // Only now, so that a mistake in the config leaves no directory behind.
    let dir = RunDir::create(&path)?;
    dir.write_start(&config, &data.source, &data.target, parameters)?;
    note(&format!(
        "model: {parameters} parameters, vocabularies of {} and {}",
        vocabularies.source, vocabularies.target
    ));
    note(&format!("run: {}", dir.path().display()));
    let mut recorder = Recorder {
        log: dir.log()?,
        dir: &dir,
        console: Console::new(),
        started: std::time::Instant::now(),
        signals: &signals,
    };
    let summary = train(model, &data.examples, &data.dev, &config.train, &device, &mut recorder)?;
    recorder.console.finish();
    match args.format {
        Format::Json => {
            print_json(&serde_json::json!({"run": dir.path(), "parameters": parameters, "summary": summary}))?
        }
        Format::Text => print(&told(&summary, &dir))?,
    }
    match summary.reason {
        StopReason::Interrupted => Err(Interrupted(signals.caught().unwrap_or(SIGINT)).into()),
        _ => Ok(()),
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
    let next = summary.best.map_or(String::new(), |_| {
        format!("\ntranslate with: zhuyi translate --run {} \"…\"", dir.path().display())
    });
    format!(
        "{why}: {} steps in {:.1} s, {:.0} target tokens/s\n{best}{skipped}\nrun: {}{next}",
        summary.steps,
        summary.seconds,
        summary.tokens_per_second,
        dir.path().display()
    )
}

/// Writes down what training says.
struct Recorder<'a> {
    dir: &'a RunDir,
    log: Log,
    console: Console,
    started: std::time::Instant,
    signals: &'a Signals,
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) -> Result<()> {
        self.console.event(event);
        self.log.add(event, self.started.elapsed().as_secs_f64())
    }

    fn best(&mut self, model: &Seq2Seq) -> Result<()> {
        self.dir.save_model(model)?;
        self.dir.make_latest(Path::new(RUNS))
    }

    fn stop(&self) -> bool {
        self.signals.caught().is_some()
    }
}

/// SIGINT and SIGTERM: the first asks training to stop, the second ends the program at once.
struct Signals(Arc<AtomicUsize>);

impl Signals {
    fn watch() -> Result<Self> {
        let caught = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(std::sync::atomic::AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let registered = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))
                .and_then(|_| flag::register(signal, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&caught), signal as usize));
            registered.map_err(|why| Error::Model(format!("can't watch for signals: {why}")))?;
        }
        Ok(Self(caught))
    }

    fn caught(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }
}
