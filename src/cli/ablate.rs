//! `zhuyi ablate`.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::EnumValueParser;

use super::choice::{self, Attention};
use super::output::{note, print, print_json, warn};
use super::progress::Console;
use super::signals::Signals;
use super::train::{Watcher, tell_reports};
use super::{DeviceArgs, Format};
use zhuyi::ablation::report::Report;
use zhuyi::ablation::{self, Ask, Ending, Place, Plan, Progress, Results, TestSet, Trial, figures};
use zhuyi::attention::ScoreKind;
use zhuyi::config::{AttentionName, Config};
use zhuyi::language::Language;
use zhuyi::run::Watch;
use zhuyi::train::Event;

/// Train variants of attention alike and report what attention is worth.
#[derive(Debug, Args)]
#[command(after_help = "Example:
  zhuyi ablate --quick                                       # the bottleneck in three minutes
  zhuyi ablate --attention none,additive,general --seeds 3   # the toy corpus' long part
  zhuyi ablate --config reverse --sizes 64,256               # the pure test of memory
  zhuyi ablate --config configs/multi30k-de-en.toml --attention none,general")]
pub struct AblateArgs {
    /// The config: a file, or toy, own, long, copy or reverse, which are built in [default: long]
    #[arg(long, value_name = "FILE|NAME")]
    config: Option<PathBuf>,
    /// The variants, separated by commas [default: none,additive,general]
    #[arg(long, value_name = "NAME,…", value_delimiter = ',', value_parser = EnumValueParser::<Attention>::new())]
    attention: Vec<Attention>,
    /// A config key in place of the config's, for all variants; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// How many seeds each variant is trained with, from the config's train.seed on
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// Sizes of the context vector that none is trained with too, separated by commas
    #[arg(long, value_name = "N,…", value_delimiter = ',')]
    sizes: Vec<usize>,
    /// Where runs and report go; what is finished there is used again [default: ablation/<config>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// none and general on sentences of at most 30 words: a first look in three minutes
    #[arg(long, conflicts_with = "config")]
    quick: bool,
    /// The form of the answer
    #[arg(long, value_enum, default_value = "text")]
    format: Format,
    #[command(flatten)]
    device: DeviceArgs,
}

/// What `--quick` sets over the config `long`.
const QUICK: [&str; 3] = ["data.train=toy:long30/train", "data.dev=toy:long30/dev", "data.test=toy:long30/test"];

pub fn run(args: AblateArgs) -> anyhow::Result<()> {
    let (ask, command) = (args.ask()?, command());
    let (opened, signals) = (args.device.open()?, Signals::watch()?);
    let (test, data) = (TestSet::read(&ask.config)?, ask.prepare()?);
    tell_reports(&data);
    let plan = Plan::new(&ask, &test, &data)?;
    let place = Place::open(&args.out())?;
    tell_plan(&ask, &plan, &place);
    let mut teller = Teller(Watcher { console: Console::new(), signals: &signals });
    let results = match ablation::conduct(&plan, &data, &test, &place, &opened, &mut teller)? {
        Ending::Finished(results) => results,
        Ending::Stopped => {
            teller.0.console.finish();
            note("stopped; the same command goes on where it was");
            return Err(signals.interrupted());
        }
    };
    results.write(&place)?;
    let report = Report { results: &results, plan: &plan, test: &test, command: &command, place: place.path() };
    let written = report.write(&place)?;
    written.warnings.iter().for_each(|warning| warn(warning));
    match args.format {
        Format::Json => results.rows.iter().try_for_each(print_json),
        Format::Text => print(&told(&results, &written.page)),
    }
}

fn tell_plan(ask: &Ask, plan: &Plan, place: &Place) {
    let train = &ask.config.train;
    if train.max_minutes.is_some() || train.patience.is_some() {
        note("train.max_minutes and train.patience don't count here: every variant gets as many updates");
    }
    let names: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
    note(&format!("variants: {}; seeds: {:?}; into {}", names.join(", "), plan.seeds, place.path().display()));
}

impl AblateArgs {
    fn ask(&self) -> zhuyi::Result<Ask> {
        let quick = if self.quick { &QUICK[..] } else { &[] };
        let settings: Vec<String> =
            quick.iter().map(|&setting| setting.to_owned()).chain(self.settings.iter().cloned()).collect();
        let config: Config = choice::parse(self.config.as_deref().unwrap_or(Path::new("long")), &settings)?;
        let score = AttentionName::Score;
        let attention = match self.attention.as_slice() {
            [] if self.quick => vec![score(ScoreKind::None), score(ScoreKind::General)],
            [] => vec![score(ScoreKind::None), score(ScoreKind::Additive), score(ScoreKind::General)],
            named => named.iter().map(|attention| attention.0).collect(),
        };
        Ok(Ask { config, attention, seeds: self.seeds, sizes: self.sizes.clone() })
    }

    fn out(&self) -> PathBuf {
        let stem = self.config.as_deref().and_then(Path::file_stem).map(Path::new);
        let named = stem.unwrap_or(Path::new(if self.quick { "quick" } else { "long" }));
        self.out.clone().unwrap_or_else(|| Path::new("ablation").join(named))
    }
}

/// Tells how far an ablation is.
struct Teller<'a>(Watcher<'a>);

impl Watch for Teller<'_> {
    fn event(&mut self, event: &Event) {
        self.0.event(event);
        if let Event::Finished(summary) = event {
            self.0.console.finish();
            note(&format!("trained: {} steps in {:.1} s", summary.steps, summary.seconds));
        }
    }

    fn stop(&self) -> bool {
        self.0.stop()
    }
}

impl Progress for Teller<'_> {
    fn begins(&mut self, trial: &Trial, n: usize, of: usize) {
        note(&format!("== {n} of {of}: {}, seed {} ({})", trial.variant, trial.seed, trial.run));
    }

    fn reused(&mut self, _: &Trial) {
        note("done before");
    }

    fn judges(&mut self, _: &Trial) {
        note("translating the test set");
    }

    fn failed(&mut self, trial: &Trial, why: &str) {
        warn(&format!("{} with seed {}: {why}; it is left out", trial.variant, trial.seed));
    }
}

/// The command as it was typed, so that it can be typed again.
fn command() -> String {
    let quoted = |word: String| {
        let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%".contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            word
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    std::iter::once("zhuyi".to_owned())
        .chain(std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned())))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The figures in few words, and where the report is.
fn told(results: &Results, page: &Path) -> String {
    let longest =
        results.rows.first().and_then(|row| row.by_length.last()).map(figures::lengths).unwrap_or_default();
    let measure = results.rows.first().map(|row| row.measure.head().to(Language::English).to_owned());
    let mut lines =
        vec![["variant".into(), "parameters".into(), measure.unwrap_or_default(), format!("at {longest} words")]];
    for variant in figures::by_variant(&results.rows) {
        let parameters = variant.rows[0].parameters.to_string();
        let [all, longest] = [variant.score(), variant.at_longest()].map(|score| format!("{score:.2}"));
        lines.push([variant.name.into(), parameters, all, longest]);
    }
    let width = |column: usize| lines.iter().map(|line| line[column].len()).max().unwrap_or_default();
    let widths = [0, 1, 2, 3].map(width);
    let line = |[name, rest @ ..]: &[String; 4]| {
        let cells = rest.iter().zip(&widths[1..]).map(|(cell, &width)| format!("  {cell:>width$}"));
        format!("{name:<width$}{}\n", cells.collect::<String>(), width = widths[0])
    };
    format!("{}report: {}", lines.iter().map(line).collect::<String>(), page.display())
}
