//! `zhuyi ablate`.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::EnumValueParser;

use super::choice::{self, Attention};
use super::output::{note, print, print_json};
use super::progress::Console;
use super::signals::Signals;
use super::train::{Watcher, tell_reports};
use super::{DeviceArgs, Format};
use zhuyi::ablation::{self, Ask, Ending, Plan, Progress, Results, TestSet, Trial, files};
use zhuyi::attention::ScoreKind;
use zhuyi::config::{AttentionName, Config};
use zhuyi::prepare::prepare;
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
    let ask = args.ask()?;
    let (device, signals) = (args.device.choice()?.device(), Signals::watch()?);
    let out = args.out();
    let test = TestSet::read(&ask.config)?;
    tell_reports(&prepare(&ask.config)?);
    let plan = Plan::new(&ask)?;
    let names: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
    note(&format!("variants: {}; seeds: {:?}; into {}", names.join(", "), plan.seeds, out.display()));
    let mut teller = Teller(Watcher { console: Console::new(), signals: &signals });
    let results = match ablation::conduct(&plan, &test, &out, &device, &mut teller)? {
        Ending::Finished(results) => results,
        Ending::Stopped => {
            note("stopped; the same command goes on where it was");
            return Err(signals.interrupted());
        }
    };
    results.write(&out)?;
    match args.format {
        Format::Json => results.rows.iter().try_for_each(print_json),
        Format::Text => print(&told(&results, &out)),
    }
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
}

/// The table of a report in few words.
fn told(results: &Results, out: &Path) -> String {
    format!("{} rows in {}", results.rows.len(), out.join(files::RESULTS).display())
}
