//! The models that a server has, as requests name them.

use std::collections::BTreeMap;

use serde::Serialize;

use super::Settings;
use super::refusal::{Answer, Refusal};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::run::RunDir;
use crate::search::SearchConfig;
use crate::translator::Translator;

/// What is known of a model without asking it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Model {
    /// Its name in requests.
    pub id: String,
    /// The language that it reads …
    pub source: String,
    /// … and writes.
    pub target: String,
    /// How it looks.
    pub attention: String,
    /// Heads that tell where they look.
    pub heads: usize,
    /// Numbers that it has learnt.
    pub parameters: usize,
    /// How it searches where a request says nothing else.
    pub search: SearchConfig,
    /// Whether it looks anywhere.
    pub looks: bool,
    /// Its run.
    #[serde(skip)]
    pub run: RunDir,
    /// Its whole config.
    #[serde(skip)]
    pub config: Config,
}

/// The models of a server; their places are those of the translators.
#[derive(Clone, Debug)]
pub(super) struct Catalog(Vec<Model>);

/// A run's own search, as far as the server lets anybody go.
fn within(search: SearchConfig, Settings { limits, precision, .. }: &Settings) -> SearchConfig {
    let beam = search.beam.min(limits.beam);
    SearchConfig {
        beam,
        groups: if beam.is_multiple_of(search.groups.max(1)) { search.groups } else { 1 },
        max_source: search.max_source.min(limits.tokens),
        precision: *precision,
        ..search
    }
}

impl Catalog {
    pub fn of(models: &[(String, Translator)], settings: &Settings) -> Result<Self> {
        if models.is_empty() {
            return Err(Error::Usage("there is no model to serve".into()));
        }
        let mut catalog: Vec<Model> = Vec::new();
        for (id, translator) in models {
            if catalog.iter().any(|model| model.id == *id) {
                return Err(Error::Usage(format!("two runs are called `{id}`: rename the folder of one")));
            }
            let run = translator.run();
            catalog.push(Model {
                id: id.clone(),
                source: run.manifest.source_language.clone(),
                target: run.manifest.target_language.clone(),
                attention: run.config.attention.told(),
                heads: translator.heads(),
                parameters: run.manifest.parameters,
                search: within(translator.options().search, settings),
                looks: translator.has_attention(),
                run: run.dir.clone(),
                config: run.config.clone(),
            });
        }
        Ok(Self(catalog))
    }

    pub fn all(&self) -> &[Model] {
        &self.0
    }

    pub fn get(&self, place: usize) -> &Model {
        &self.0[place]
    }

    /// All languages, each with those that it is translated into; of several models of a direction the first counts.
    pub fn languages(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut languages: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for model in &self.0 {
            languages.entry(&model.target).or_default();
            let targets = languages.entry(&model.source).or_default();
            if !targets.contains(&model.target.as_str()) {
                targets.push(&model.target);
            }
        }
        languages
    }

    /// The place of the model that a request means, by its name or its direction; what is not said is open.
    pub fn find(&self, id: Option<&str>, source: Option<&str>, target: Option<&str>) -> Answer<usize> {
        let fits = |model: &Model| {
            id.is_none_or(|id| model.id == id)
                && source.is_none_or(|source| model.source == source)
                && target.is_none_or(|target| model.target == target)
        };
        self.0.iter().position(fits).ok_or_else(|| {
            let told = |model: &Model| format!("{} ({} to {})", model.id, model.source, model.target);
            let known: Vec<String> = self.0.iter().map(told).collect();
            Refusal::bad(format!("no such model here: there is {}", known.join(", ")))
        })
    }
}
