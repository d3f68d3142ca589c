//! Which config a command works with: a file, an attention, single keys.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::output::note;
use zhuyi::Result;
use zhuyi::config::{AttentionName, BUILT_IN, Config};
use zhuyi::corpus::{Location, read};

/// Arguments that choose a config.
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    /// The config: a file, or toy, own, long, copy or reverse, which are built in [default: toy; with --set
    /// data.train=… own]
    #[arg(long, value_name = "FILE|NAME")]
    pub(super) config: Option<PathBuf>,
    /// The attention, in place of the config's
    #[arg(long, value_name = "NAME", value_parser = clap::builder::EnumValueParser::<Attention>::new())]
    attention: Option<Attention>,
    /// A config key in place of the config's, such as train.seed=2; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// The seed, short for --set train.seed=N
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

/// [`AttentionName`] for clap, so that help, errors and completions list the names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attention(pub(super) AttentionName);

impl ValueEnum for Attention {
    fn value_variants<'a>() -> &'a [Self] {
        static ALL: std::sync::LazyLock<Vec<Attention>> =
            std::sync::LazyLock::new(|| AttentionName::all().map(Attention).collect());
        &ALL
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        Some(clap::builder::PossibleValue::new(self.0.name()).help(self.0.about()))
    }
}

impl ConfigArgs {
    /// The config that was chosen.
    pub(super) fn resolve(&self) -> Result<Config> {
        let settings = self.all_settings();
        match &self.config {
            Some(path) => parse(path, &settings),
            // Own data without a config: the toy's small sizes and its text rules would do it no justice.
            None if names_data(&settings) => parse(Path::new("own"), &settings),
            None => parse(Path::new("toy"), &settings),
        }
    }

    /// Single keys, then what flags stand for, each over the last; says where a flag has the last word.
    fn all_settings(&self) -> Vec<String> {
        let named = self
            .attention
            .map(|attention| (format!("--attention {}", attention.0.name()), attention.0.settings()));
        let seeded = self.seed.map(|seed| (format!("--seed {seed}"), vec![format!("train.seed={seed}")]));
        let mut settings = self.settings.clone();
        for (flag, stands_for) in named.into_iter().chain(seeded) {
            for setting in &stands_for {
                let key = |setting: &str| setting.split_once('=').map(|(key, _)| key.trim().to_owned());
                let before = self.settings.iter().find(|before| key(before) == key(setting) && *before != setting);
                if let Some(before) = before {
                    note(&format!("{flag} stands for {setting}, in place of --set {before}"));
                }
            }
            settings.extend(stands_for);
        }
        settings
    }

    /// The config to go on with: a run's own with what was asked for in its place.
    pub(super) fn over(&self, run: &Config) -> Result<Config> {
        match self.config {
            Some(_) => self.resolve(),
            None => run.with(&self.all_settings()),
        }
    }

    /// Whether anything was asked for.
    pub(super) fn is_given(&self) -> bool {
        self.config.is_some() || self.attention.is_some() || self.seed.is_some() || !self.settings.is_empty()
    }

    /// Whether one attention was asked for.
    pub(super) fn names_attention(&self) -> bool {
        self.attention.is_some()
    }

    /// The name of the attention as it was asked for, else what it is made of.
    pub(super) fn attention_name(&self, config: &Config) -> String {
        self.attention.map_or_else(|| config.attention.slug(), |attention| attention.0.name().to_owned())
    }
}

/// The config of a file or, where there is none of that name, of the program itself, with settings over it.
pub(super) fn parse(name: &Path, settings: &[String]) -> Result<Config> {
    let built_in = BUILT_IN.iter().find(|(built_in, _)| Path::new(built_in) == name);
    match built_in.filter(|_| !name.is_file()) {
        Some((name, text)) => {
            Config::parse(&Path::new("configs").join(name).with_extension("toml"), text, settings)
        }
        None => Config::parse(name, &read::text(name)?, settings),
    }
}

fn names_data(settings: &[String]) -> bool {
    let named = settings.iter().filter_map(|setting| setting.strip_prefix("data.train="));
    named.into_iter().any(|name| !Location::Tsv(name.to_owned()).is_made())
}
