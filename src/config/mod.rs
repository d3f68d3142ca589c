//! The config of a run: every component's own, put together. A misspelt key is an error, told with its
//! line and what could be meant.

mod attention_name;
pub mod keys;

pub use attention_name::AttentionName;

use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::attention::{AttentionConfig, ChoiceKind, ScoreKind};
use crate::corpus::DataConfig;
use crate::error::{Error, Result};
use crate::model::{DecoderConfig, EmbeddingConfig, EncoderConfig, ModelConfig, Regularization};
use crate::search::{SearchConfig, Unknown};
use crate::text::{TextConfig, TokenizerKind};
use crate::train::{BatchConfig, CheckpointConfig, LogConfig, StartConfig, TrainConfig};

/// Everything that decides what a run does.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which data.
    pub data: DataConfig,
    /// How it is read.
    pub text: TextConfig,
    /// Both embeddings.
    pub embedding: EmbeddingConfig,
    /// The encoder.
    pub encoder: EncoderConfig,
    /// The decoder.
    pub decoder: DecoderConfig,
    /// Attention.
    pub attention: AttentionConfig,
    /// Dropout.
    pub model: Regularization,
    /// Training.
    pub train: TrainConfig,
    /// What is written down for TensorBoard.
    pub log: LogConfig,
    /// What the first weights are taken from.
    pub start: StartConfig,
    /// How large batches are.
    pub batch: BatchConfig,
    /// When training is written down.
    pub checkpoint: CheckpointConfig,
    /// Translating.
    pub search: SearchConfig,
}

/// The config that `zhuyi train` uses by itself: `configs/toy.toml`.
pub const TOY: &str = include_str!("../../configs/toy.toml");
/// The config that `zhuyi train` starts from when only data is named: `configs/own.toml`.
pub const OWN: &str = include_str!("../../configs/own.toml");
/// The config that `zhuyi ablate` uses by itself: `configs/long.toml`.
pub const LONG: &str = include_str!("../../configs/long.toml");

/// Every config that is part of the program, by name.
pub const BUILT_IN: [(&str, &str); 5] = [
    ("toy", TOY),
    ("own", OWN),
    ("long", LONG),
    ("copy", include_str!("../../configs/copy.toml")),
    ("reverse", include_str!("../../configs/reverse.toml")),
];

impl Config {
    /// Parses a config file and then settings `KEY=VALUE`, each over the last.
    ///
    /// # Errors
    /// Names the file and line, or the setting, and the key.
    pub fn parse(path: &Path, text: &str, settings: &[String]) -> Result<Self> {
        let config: Self = toml::from_str(text).map_err(|why| {
            let line = why.span().map(|span| 1 + text[..span.start].matches('\n').count());
            Error::Data { path: path.to_path_buf(), line, message: explained(why.message()) }
        })?;
        let mut table: Table = toml::from_str(text).map_err(|why| Error::data(path, why.message().to_owned()))?;
        let config = settings.iter().try_fold(config, |_, setting| {
            apply(&mut table, setting)?;
            let config = Self::deserialize(table.clone());
            config.map_err(|why| Error::Usage(format!("--set {setting}: {}", explained(why.message()))))
        })?;
        config.resolved()
    }

    /// The same with some settings `KEY=VALUE` in place of its own.
    ///
    /// # Errors
    /// As for [`Config::parse`].
    pub fn with(&self, settings: &[String]) -> Result<Self> {
        Self::parse(Path::new("the config"), &keys::commented(self)?, settings)
    }

    /// Checks every component, so that a mistake is told before any work.
    fn resolved(mut self) -> Result<Self> {
        self.data.resolve()?;
        self.model().check()?;
        self.train.check()?;
        self.checkpoint.check()?;
        self.batch.bytes()?;
        self.check_together()?;
        self.check_search(self.attention.score != ScoreKind::None)?;
        Ok(self)
    }

    /// Refuses a search that can't be, or that the model can't serve; `looks` tells whether it has attention (of several that
    /// are asked together one is enough).
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check_search(&self, looks: bool) -> Result<()> {
        self.search.check()?;
        let target = if self.text.joint { self.text.source.kind } else { self.text.target.kind };
        let copies = self.search.unknown == Unknown::Copy;
        let rules = [
            (
                looks || self.search.coverage_penalty == 0.0,
                "search.coverage_penalty counts where attention looked, and attention.score is \"none\": leave one of them out",
            ),
            (
                looks || !copies,
                "search.unknown = \"copy\" takes the word that attention looked at, and attention.score is \"none\": leave \
                 one of them out",
            ),
            (
                target == TokenizerKind::Word || !copies,
                "search.unknown = \"copy\" is for models that write words: the pieces of others can write any word",
            ),
        ];
        match rules.into_iter().find(|(held, _)| !held) {
            Some((_, rule)) => Err(Error::Config(rule.into())),
            None => Ok(()),
        }
    }

    /// Refuses what components can't do with each other.
    fn check_together(&self) -> Result<()> {
        if self.embedding.shared && !self.text.joint {
            let message = "embedding.shared needs one vocabulary for both sides: set text.joint = true";
            return Err(Error::Config(message.into()));
        }
        if self.embedding.shared && self.start.source_vectors.is_some() {
            let message =
                "with embedding.shared both sides have the same vectors: name them as start.target_vectors";
            return Err(Error::Config(message.into()));
        }
        if self.text.learn_from == 0 {
            return Err(Error::Config("text.learn_from must be at least 1".into()));
        }
        // What is exactly 0 has no slope to learn by.
        let silent = self.attention.score == ScoreKind::None
            || matches!(self.attention.choice, ChoiceKind::Hard | ChoiceKind::Sparsemax);
        if self.train.guided_alignment > 0.0 && silent {
            let message = "train.guided_alignment teaches weights, and there are none to teach with attention.score \
                           \"none\" or attention.choice \"hard\" or \"sparsemax\": leave one of them out";
            return Err(Error::Config(message.into()));
        }
        Ok(())
    }

    /// What the model is made of.
    pub fn model(&self) -> ModelConfig {
        ModelConfig {
            embedding: self.embedding.clone(),
            encoder: self.encoder.clone(),
            decoder: self.decoder.clone(),
            attention: self.attention.clone(),
            regularization: self.model.clone(),
        }
    }
}

/// Puts one `KEY=VALUE` into the table. A value is TOML; what is no TOML is a string.
fn apply(table: &mut Table, setting: &str) -> Result<()> {
    let Some((key, value)) = setting.split_once('=') else {
        return Err(Error::Usage(format!("--set {setting}: write KEY=VALUE, for example train.seed=2")));
    };
    let value = match toml::from_str::<Table>(&format!("value = {value}")) {
        Ok(mut parsed) => parsed.remove("value").unwrap_or_else(|| Value::String(value.into())),
        Err(_) => Value::String(value.into()),
    };
    let mut path: Vec<&str> = key.trim().split('.').collect();
    let last = path.pop().unwrap_or_default();
    let mut inner = table;
    for part in path {
        let entry = inner.entry(part).or_insert_with(|| Value::Table(Table::new()));
        inner = entry
            .as_table_mut()
            .ok_or_else(|| Error::Usage(format!("--set {setting}: `{part}` is a value, not a section")))?;
    }
    inner.insert(last.to_owned(), value);
    Ok(())
}

/// The whole key, where one section has one of this name.
fn elsewhere(name: &str) -> Option<&'static str> {
    let mut keys = keys::KEYS.iter().map(|(key, _)| *key).filter(|key| key.rsplit('.').next() == Some(name));
    // One of several would send people to the wrong place.
    keys.next().filter(|_| keys.next().is_none())
}

/// serde's message about an unknown key, with the nearest known one first.
fn explained(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let is_about_names = message.starts_with("unknown field") || message.starts_with("unknown variant");
    let Some(unknown) = quoted.next().filter(|_| is_about_names) else {
        return message.trim().replace('\n', " ");
    };
    let known: Vec<&str> = quoted.collect();
    if let Some(key) = elsewhere(unknown).filter(|_| message.starts_with("unknown field")) {
        let section = key.rsplit_once('.').map_or("", |(section, _)| section);
        return format!("no key `{unknown}` here: did you mean `{key}`, which stands in [{section}]?");
    }
    let nearest = known.iter().max_by(|a, b| strsim::jaro(a, unknown).total_cmp(&strsim::jaro(b, unknown)));
    let what = if message.starts_with("unknown field") { "key" } else { "value" };
    match nearest {
        Some(nearest) if strsim::jaro(nearest, unknown) > 0.7 => {
            format!("unknown {what} `{unknown}`: did you mean `{nearest}`? (known: {})", known.join(", "))
        }
        _ => format!("unknown {what} `{unknown}` (known: {})", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timing;

    fn parse(text: &str, settings: &[&str]) -> Result<Config> {
        let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
        Config::parse(Path::new("my.toml"), text, &settings)
    }

    #[test]
    fn the_shipped_configs_parse_and_come_back() {
        let own = ["data.train=a.tsv", "data.dev=b.tsv"];
        for (name, text) in BUILT_IN {
            let config = parse(text, if name == "own" { &own } else { &[] }).unwrap();
            let written = keys::commented(&config).unwrap();
            assert_eq!(parse(&written, &[]).unwrap(), config);
            assert_eq!(config.with(&["train.seed=9".into()]).unwrap().train.seed, 9, "{name}");
        }
    }

    #[test]
    fn own_data_is_not_mixed_with_the_toy_corpus() {
        let config = parse(OWN, &["data.train=a.tsv", "data.dev=b.tsv"]).unwrap();
        assert_eq!(config.data.test, None);
        assert!(parse(OWN, &["data.train=a.tsv"]).unwrap_err().to_string().contains("data.dev"));
        let mixed = parse(TOY, &["data.train=reverse:train"]).unwrap_err().to_string();
        assert!(mixed.contains("data.dev is toy:dev: add data.dev=reverse:dev"), "{mixed}");
        let long = parse(TOY, &["data.train=toy:long/train", "data.dev=toy:long/dev"]).unwrap();
        assert_eq!(long.data.test, None, "the short test part is another collection's");
    }

    #[test]
    fn numbers_that_cannot_be_meant_are_refused_by_name() {
        for (setting, key) in [
            ("search.beam=0", "search.beam must be 1 to 1000"),
            ("search.beam=1000000000", "search.beam"),
            ("search.max_ratio=inf", "search.max_ratio"),
            ("train.max_minutes=nan", "train.max_minutes"),
            ("train.learning_rate=nan", "train.learning_rate"),
            ("train.learning_rate=-1", "train.learning_rate"),
            ("train.label_smoothing=1", "train.label_smoothing"),
            ("train.batch_sentences=0", "a batch must hold something"),
            ("model.dropout=1", "model.dropout"),
            ("encoder.layers=0", "encoder.layers must be at least 1"),
            ("search.length_penalty=long", "gnmt:ALPHA"),
            ("search.groups=2", "search.groups must divide"),
            ("search.sampling.top_p=0", "search.sampling.top_p"),
            ("search.min_ratio=9", "search.min_ratio"),
            ("data.train=3", "name data as"),
        ] {
            let message = parse(TOY, &[setting]).unwrap_err().to_string();
            assert!(message.contains(key), "{setting}: {message}");
        }
    }

    #[test]
    fn every_attention_name_is_a_valid_setting() {
        for name in AttentionName::all() {
            let settings = name.settings();
            let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
            assert!(parse(TOY, &settings).is_ok(), "{}", name.name());
        }
        let luong = AttentionName::Luong.settings();
        let luong: Vec<&str> = luong.iter().map(String::as_str).collect();
        let config = parse("[decoder]\ntiming = \"before\"\ninput_feeding = true", &luong).unwrap();
        assert_eq!((config.decoder.timing, config.decoder.input_feeding), (Timing::After, false));
    }

    #[test]
    fn settings_are_toml_or_text() {
        let settings =
            ["train.seed=7", "attention.score=dot", "data.train=a b.tsv", "data.dev=[\"x.de\", \"x.en\"]"];
        let config = parse("", &settings).unwrap();
        assert_eq!((config.train.seed, config.attention.score), (7, ScoreKind::Dot));
        assert_eq!(config.data.train, crate::corpus::Location::Tsv("a b.tsv".into()));
        assert_eq!(config.data.dev, crate::corpus::Location::Files(["x.de".into(), "x.en".into()]));
    }

    #[test]
    fn mistakes_are_told_with_place_and_way_out() {
        let told = |text: &str, settings: &[&str]| parse(text, settings).unwrap_err().to_string();
        let message = told("[train]\nseed = 1\nlearning_rte = 2", &[]);
        assert!(
            message.starts_with("my.toml:3: unknown key `learning_rte`: did you mean `learning_rate`?"),
            "{message}"
        );
        assert!(told("[train]\nseed = \"x\"", &[]).starts_with("my.toml:2: "));
        assert!(told("[train", &[]).starts_with("my.toml:1: "));
        let message = told("", &["attention.score=genral"]);
        assert!(
            message.starts_with("--set attention.score=genral: unknown value `genral`: did you mean `general`?"),
            "{message}"
        );
        // In the wrong section, and in none.
        let message = told("[model]\nlearning_rate = 1", &[]);
        assert!(
            message.starts_with("my.toml:2: no key `learning_rate` here: did you mean `train.learning_rate`"),
            "{message}"
        );
        let message = told("", &["batch_tokens=5"]);
        assert!(message.contains("did you mean `train.batch_tokens`, which stands in [train]?"), "{message}");
        assert!(told("[train]\ndropout = 0.1", &[]).contains("`model.dropout`, which stands in [model]"));
        assert!(told("", &["seed"]).contains("KEY=VALUE"));
        assert!(told("", &["train.seed.x=1", "train.seed=1"]).contains("train.seed.x=1"));
    }
}
