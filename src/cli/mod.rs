//! The command line: one file a command. Only here anything is printed.

mod ablate;
mod align;
mod bench;
mod choice;
mod config;
mod data;
mod devices;
mod evaluate;
mod generate;
mod gold;
mod language;
mod lesson;
mod lines;
mod output;
mod plot;
mod plotting;
mod process;
mod progress;
mod runs;
mod signals;
mod train;
mod translate;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, CommandFactory, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use output::Interrupted;
use zhuyi::device::DeviceChoice;
use zhuyi::run::RunDir;
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
    Translate(translate::TranslateArgs),
    /// Score translations: BLEU, chrF, exact match, by length
    Evaluate(evaluate::EvaluateArgs),
    /// Align given pairs with a model, or score links: precision, recall, AER
    Align(align::AlignArgs),
    /// Train variants of attention alike and report what attention is worth
    Ablate(ablate::AblateArgs),
    /// Write the toy corpus; check parallel text
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Draw alignments, runs and results
    #[command(subcommand)]
    Plot(plot::PlotCommand),
    /// Work out the examples of the course, step by step
    Lesson(lesson::LessonArgs),
    /// Measure how fast this machine trains and translates
    Bench(bench::BenchArgs),
    /// List what has been trained
    Runs(runs::RunsArgs),
    /// List the devices of this build
    Devices(devices::DevicesArgs),
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
    /// Where to compute: cpu, ndarray, auto (see `zhuyi devices`)
    #[arg(long, value_name = "DEVICE", default_value = "cpu")]
    device: String,
}

impl DeviceArgs {
    fn choice(&self) -> Result<DeviceChoice> {
        self.device.parse()
    }
}

impl RunArgs {
    /// Refuses to switch heads off where no model looks.
    fn check_no_heads(&self, flag: &str) -> Result<()> {
        if self.without_head.is_empty() {
            return Ok(());
        }
        Err(Error::Usage(format!(
            "--without-head is for a run's model, and with {flag} none is used: leave one out"
        )))
    }

    fn open(&self) -> Result<Translator> {
        let device = self.device.choice()?.device();
        Translator::open(&RunDir::find(self.run.as_deref(), Path::new(RUNS))?, &device)?
            .without_heads(&self.without_head)
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
    let cli = Cli::parse();
    start_logging(&cli.global);
    process::prepare();
    if cli.global.quiet {
        output::be_quiet();
    }
    // On a thread of the pool: from outside, every parallel piece of work would first have to wake it.
    let done = rayon::scope(|_| run(cli.command));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => exit_code(&why),
    }
}

fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Train(args) => train::run(args),
        Command::Translate(args) => translate::run(args),
        Command::Evaluate(args) => evaluate::run(args),
        Command::Align(args) => align::run(args),
        Command::Ablate(args) => ablate::run(args),
        Command::Data(command) => data::run(command),
        Command::Plot(command) => plot::run(command),
        Command::Lesson(args) => lesson::run(args),
        Command::Bench(args) => bench::run(args),
        Command::Runs(args) => runs::run(args),
        Command::Devices(args) => devices::run(args),
        Command::Config(command) => config::run(command),
        Command::Completions(args) => generate::completions(args, &mut Cli::command()),
        Command::Man => generate::man(Cli::command()),
    }
}

/// Says what went wrong, in one line, and how the program ends.
fn exit_code(why: &anyhow::Error) -> ExitCode {
    if output::is_broken_pipe(why) {
        return ExitCode::SUCCESS;
    }
    if let Some(Interrupted(signal)) = why.downcast_ref() {
        return ExitCode::from(128 + *signal as u8);
    }
    let own = why.downcast_ref::<Error>();
    // Our own errors say their cause themselves; of others the whole chain is told.
    output::complain(&own.map_or_else(|| format!("{why:#}"), Error::to_string));
    match own {
        Some(Error::Usage(_)) => ExitCode::from(2),
        _ => ExitCode::FAILURE,
    }
}

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

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }
}
