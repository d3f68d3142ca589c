//! The command line: one file a command. Only here anything is printed.

mod ablate;
mod align;
mod aligned;
mod average;
mod bench;
mod choice;
mod config;
mod counter;
mod data;
mod devices;
mod ensemble;
mod evaluate;
mod evaluated;
mod generate;
mod gold;
mod judging;
mod language;
mod lesson;
mod lines;
mod links;
mod output;
mod parity;
mod plot;
mod plotting;
mod process;
mod progress;
mod runs;
mod searching;
#[cfg(feature = "server")]
mod serve;
mod signals;
mod train;
mod translate;
mod wishes;

use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use output::{Interrupted, note};
use zhuyi::device::{DeviceChoice, Need, Opened};
use zhuyi::ranks::{self, Ranks};
use zhuyi::run::RunDir;
use zhuyi::search::Mix;
use zhuyi::translator::Translator;
use zhuyi::{Error, Result};

/// Where runs are looked for and made.
const RUNS: &str = "runs";

/// Trains small translation models and shows where they look.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100, after_help = EXAMPLE)]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

const EXAMPLE: &str = "Example:
  zhuyi train --attention luong
  zhuyi translate \"welcome to shenzhen\" --show";

#[derive(Debug, Args)]
struct Global {
    /// Say less: only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more; twice for the most
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
    /// When to use colour (NO_COLOR is respected)
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: Colour,
}

#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Colour {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Train a model (without --config on the shipped toy corpus)
    Train(train::TrainArgs),
    /// Translate sentences, a file, or standard input line by line
    Translate(Box<translate::TranslateArgs>),
    /// Score translations: BLEU, chrF, TER, exact match; by length, by sentence, beside another system
    Evaluate(Box<evaluate::EvaluateArgs>),
    /// Align given pairs with a model, or score links: precision, recall, AER
    Align(Box<align::AlignArgs>),
    /// Make a run whose model is the mean of several of another's
    Average(average::AverageArgs),
    /// Train variants of attention alike and report what attention is worth
    Ablate(ablate::AblateArgs),
    /// Write the toy corpus; check parallel text
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Serve translations over HTTP
    #[cfg(feature = "server")]
    Serve(serve::ServeArgs),
    /// Draw alignments, runs and results
    #[command(subcommand)]
    Plot(plot::PlotCommand),
    /// Work out the examples of the course, step by step
    Lesson(lesson::LessonArgs),
    /// Measure how fast this machine trains and translates
    Bench(bench::BenchArgs),
    /// List what has been trained
    Runs(runs::RunsArgs),
    /// List the devices of this build and machine, with what they do
    Devices(devices::DevicesArgs),
    /// Compare devices with the processor, for every attention
    Parity(parity::ParityArgs),
    /// Show configs
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Write shell completions to standard output
    Completions(generate::CompletionsArgs),
    /// Write the man page to standard output
    Man,
}

/// Which run to use, and where to compute.
#[derive(Debug, Args)]
struct RunArgs {
    /// The run directory [default: the newest run in runs/]
    #[arg(long, value_name = "DIR")]
    run: Option<PathBuf>,
    /// Switch a head of attention off, from 1, to see what it does; may be repeated
    #[arg(long, value_name = "N")]
    without_head: Vec<usize>,
    #[command(flatten)]
    device: DeviceArgs,
}

#[derive(Debug, Args)]
struct DeviceArgs {
    /// Where to compute: cpu, ndarray, auto, and what else this build holds (see `zhuyi devices`); of several of a
    /// kind one by its place, as in wgpu:1
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
}

impl DeviceArgs {
    /// The device; says which one it is where that was not said already.
    fn open(&self) -> Result<Opened> {
        let choice: DeviceChoice = self.device.parse()?;
        let (opened, passed_over) = choice.open(ranks::local_rank())?;
        if choice == DeviceChoice::Auto || opened.adapter.is_some() {
            note(&format!("device: {opened}"));
        }
        passed_over.iter().for_each(|why| note(&format!("passed over: {why}")));
        Ok(opened)
    }
}

impl RunArgs {
    /// The same device, for another run's whole model.
    fn other(&self) -> Self {
        Self { run: None, without_head: Vec::new(), device: DeviceArgs { device: self.device.device.clone() } }
    }

    /// The run's model, which all ranks ask together.
    fn open(&self, ranks: &Ranks) -> Result<Translator> {
        self.open_with(&[], Mix::default(), ranks)
    }

    /// The same with the models of further runs.
    fn open_with(&self, others: &[RunDir], mix: Mix, ranks: &Ranks) -> Result<Translator> {
        let run = RunDir::find(self.run.as_deref(), Path::new(RUNS))?;
        let opened = self.device.open()?;
        if let Some(adapter) = &opened.adapter {
            for run in std::iter::once(&run).chain(others) {
                adapter.limits.check(&Need::of_parameters(&run.parameters()?, "take a device that can"))?;
            }
        }
        let translator = Translator::open(&run, &opened.device)?.without_heads(&self.without_head)?;
        translator.with(others, mix)?.together(ranks)
    }
}

/// The answers of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Runs the program.
pub fn main() -> ExitCode {
    // What all of several processes would say, one says.
    let speaks = ranks::launched_as().unwrap_or(0) == 0;
    if !speaks {
        output::be_silent();
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(told) if speaks => told.exit(),
        Err(told) => return ExitCode::from(told.exit_code() as u8),
    };
    start_logging(&cli.global);
    process::prepare();
    if cli.global.quiet {
        output::be_quiet();
    }
    let ranks = match Ranks::start() {
        Ok(ranks) => ranks,
        Err(why) => return exit_code(&why.into(), &Ranks::default()),
    };
    let done =
        process::start_threads(&ranks).map_err(Into::into).and_then(|()| guarded(|| run(cli.command, &ranks)));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => exit_code(&why, &ranks),
    }
}

/// Does work on a thread of the pool: from outside, every parallel piece of work would first have to wake it. What
/// panics, most likely in a device's driver, becomes an error.
fn guarded(work: impl FnOnce() -> anyhow::Result<()> + Send) -> anyhow::Result<()> {
    let (said, listener) = std::sync::mpsc::channel();
    std::panic::set_hook(Box::new(move |panic| {
        // Nobody listens any more once the first has been told.
        let _ = said.send(panic.to_string().replace('\n', " "));
    }));
    let done = std::panic::catch_unwind(AssertUnwindSafe(|| rayon::scope(|_| work())));
    done.unwrap_or_else(|_| {
        let why = listener.try_iter().next().unwrap_or_default();
        let message = format!(
            "something went wrong that should not ({why}); with --device cpu it may not, and please tell us if it does"
        );
        Err(Error::Device(message).into())
    })
}

fn run(command: Command, ranks: &Ranks) -> anyhow::Result<()> {
    match command {
        Command::Train(args) => train::run(args, ranks),
        Command::Translate(args) => translate::run(&args, ranks),
        Command::Evaluate(args) => evaluate::run(&args, ranks),
        Command::Align(args) => align::run(&args, ranks),
        Command::Bench(args) => bench::run(args, ranks),
        // The others are no work for many.
        _ if !ranks.leads() => Ok(()),
        Command::Average(args) => average::run(args),
        Command::Ablate(args) => ablate::run(args),
        Command::Data(command) => data::run(command),
        #[cfg(feature = "server")]
        Command::Serve(args) => serve::run(&args),
        Command::Plot(command) => plot::run(command),
        Command::Lesson(args) => lesson::run(args),
        Command::Runs(args) => runs::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Parity(args) => parity::run(args),
        Command::Config(command) => config::run(command),
        Command::Completions(args) => generate::completions(args, &mut Cli::command()),
        Command::Man => generate::man(Cli::command()),
    }
}

/// Says what went wrong, in one line, and how the program ends; other ranks, which would wait for this one for ever, end
/// with it.
fn exit_code(why: &anyhow::Error, ranks: &Ranks) -> ExitCode {
    if let Some(Interrupted(signal)) = why.downcast_ref() {
        // They have all stopped after the same update.
        return ExitCode::from(128 + *signal as u8);
    }
    if output::is_broken_pipe(why) {
        ranks.abandon(0);
        return ExitCode::SUCCESS;
    }
    let own = why.downcast_ref::<Error>();
    // Our own errors say their cause themselves; of others the whole chain is told.
    let message = own.map_or_else(|| format!("{why:#}"), Error::to_string);
    if ranks.leads() {
        output::complain(&message);
    } else {
        // What every rank finds wrong, rank 0 says, and ends the others before they have said it too.
        std::thread::sleep(LEADER_FIRST);
        output::speak();
        output::complain(&format!("rank {}: {message}", ranks.rank()));
    }
    let code = if matches!(own, Some(Error::Usage(_))) { 2 } else { 1 };
    ranks.abandon(code);
    ExitCode::from(code)
}

/// How long a rank lets rank 0 speak first.
const LEADER_FIRST: std::time::Duration = std::time::Duration::from_secs(1);

fn start_logging(global: &Global) {
    match global.color {
        Colour::Auto => {}
        Colour::Always => anstream::ColorChoice::Always.write_global(),
        Colour::Never => anstream::ColorChoice::Never.write_global(),
    }
    let level = match (global.quiet, global.verbose) {
        (true, _) => "error",
        (_, 0) => "zhuyi=warn,error",
        (_, 1) => "zhuyi=info,warn",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_env("ZHUYI_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let colour = anstream::AutoStream::choice(&std::io::stderr()) != anstream::ColorChoice::Never;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(colour)
        .without_time()
        .with_target(false)
        .init();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No panic reaches a user: it is one line, and other ranks are told to end.
    #[test]
    fn a_panic_is_told_in_one_line() {
        let told = guarded(|| panic!("out of\nmemory")).unwrap_err().to_string();
        assert!(
            told.starts_with("something went wrong that should not (") && told.contains("out of memory"),
            "{told}"
        );
        assert!(!told.contains('\n') && told.contains("--device cpu"), "{told}");
        assert!(guarded(|| Ok(())).is_ok());
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
