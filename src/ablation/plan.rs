//! What an ablation trains.

use std::collections::BTreeSet;

use super::{TestSet, Trial};
use crate::attention::ScoreKind;
use crate::config::{AttentionName, Config};
use crate::device::DeviceKind;
use crate::error::{Error, Result};
use crate::model::Vocabularies;
use crate::prepare::{Prepared, prepare};

/// What somebody wants to know.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Everything but the attention.
    pub config: Config,
    /// The variants, in the order of the report.
    pub attention: Vec<AttentionName>,
    /// How many seeds, from the config's on.
    pub seeds: u64,
    /// Sizes of the context vector that the baseline is trained with too.
    pub sizes: Vec<usize>,
}

/// One row of the report: what is trained with each seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// What it is called.
    pub name: String,
    /// All that decides it but the seed.
    pub config: Config,
}

/// What an ablation trains.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// In the order of the report.
    pub variants: Vec<Variant>,
    /// Each variant is trained with each of these.
    pub seeds: Vec<u64>,
}

/// The single context vector.
pub const BASELINE: &str = ScoreKind::None.name();
/// The baseline with at least as many parameters as the largest variant.
pub const WIDE: &str = "none-wide";

impl Plan {
    /// Plans what is asked. With the baseline among the variants stands one more, widened until it has as many
    /// parameters as the largest of the others.
    ///
    /// `data` is that of the config; vocabularies are the same for every variant.
    ///
    /// # Errors
    /// Variants that can't be built or can't read a sentence of the test set, no seeds.
    pub fn new(ask: &Ask, test: &TestSet, data: &Prepared) -> Result<Self> {
        if ask.seeds == 0 {
            return Err(Error::Usage("--seeds must be at least 1".into()));
        }
        let base = with_equal_budget(&ask.config);
        let tokens = source_tokens(&base, test, data)?;
        let mut variants = Vec::new();
        let mut seen = BTreeSet::new();
        for name in ask.attention.iter().filter(|name| seen.insert(name.name())) {
            let variant = Variant { name: name.name().into(), config: base.with(&name.settings())? };
            variant.check_sources(&tokens, data)?;
            variants.push(variant);
        }
        let baseline = variants.iter().find(|variant| variant.config.attention.score == ScoreKind::None).cloned();
        match &baseline {
            Some(baseline) => {
                let more = widened(baseline, &variants, data)?.into_iter().chain(sized(baseline, &ask.sizes)?);
                let after = 1 + variants.iter().position(|variant| variant == baseline).unwrap_or_default();
                variants.splice(after..after, more.collect::<Vec<_>>());
            }
            None if !ask.sizes.is_empty() => {
                return Err(Error::Usage(
                    "--sizes are those of the single vector: add none to --attention".into(),
                ));
            }
            None => {}
        }
        let first = ask.config.train.seed;
        Ok(Self { variants, seeds: (first..first.saturating_add(ask.seeds)).collect() })
    }

    /// Every variant with the first seed, then with the second, and so on: whoever stops early has something of all.
    pub(super) fn trials(&self, test: &TestSet) -> Result<Vec<Trial>> {
        let of_seed = |&seed: &u64| self.variants.iter().map(move |variant| Trial::new(variant, seed, test));
        self.seeds.iter().flat_map(of_seed).collect()
    }
}

impl Ask {
    /// The data, as every variant is to have it.
    ///
    /// # Errors
    /// As for [`prepare`].
    pub fn prepare(&self) -> Result<Prepared> {
        let mut config = self.config.clone();
        // Nothing is left out because of how far an attention reaches.
        config.attention.score = ScoreKind::None;
        prepare(&config)
    }
}

impl Variant {
    /// Refuses sentences that it can't read, before anything is trained for nothing: those of the test set, and those that
    /// it would not be trained on while the others are.
    fn check_sources(&self, tokens: &[usize], data: &Prepared) -> Result<()> {
        let reach = self.config.attention.reach().unwrap_or(usize::MAX);
        let mut longest = data.dev.examples.iter().map(|example| example.source.len()).max().unwrap_or(0);
        for place in 0..data.examples.len() {
            longest = longest.max(data.examples.lengths(place)?.source);
        }
        if longest > reach {
            return Err(Error::Config(format!(
                "{}: the data has sources of {longest} tokens, which it can't be trained on as the others are: raise \
                 attention.max_positions = {reach}, lower train.max_tokens, or leave it out",
                self.name
            )));
        }
        let most = reach.min(self.config.search.max_source);
        match (1..).zip(tokens).find(|(_, tokens)| **tokens > most) {
            Some((line, tokens)) => Err(Error::Config(format!(
                "{}: pair {line} of data.test has {tokens} source tokens, and it can take {most}: raise \
                 attention.max_positions (of location) or search.max_source, or leave it out",
                self.name
            ))),
            None => Ok(()),
        }
    }
}

/// How many tokens each source of the test set has, its end counted; the same for every variant.
fn source_tokens(config: &Config, test: &TestSet, data: &Prepared) -> Result<Vec<usize>> {
    let tokens = |source: &str| Ok(data.source.encode(&config.text.normalize.apply(source))?.ids.len() + 1);
    test.sources().into_iter().map(tokens).collect()
}

/// Updates are counted, never minutes or patience, which would give the faster variant more.
fn with_equal_budget(config: &Config) -> Config {
    let mut config = config.clone();
    config.train.max_minutes = None;
    config.train.patience = None;
    config
}

/// The baseline, as much wider as the largest variant has more parameters; nothing if none has more.
fn widened(baseline: &Variant, variants: &[Variant], data: &Prepared) -> Result<Option<Variant>> {
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let sizes = variants.iter().map(|variant| parameters(&variant.config, vocabularies));
    let most = sizes.collect::<Result<Vec<_>>>()?.into_iter().max().unwrap_or_default();
    let (mut short, mut enough) = (baseline.config.encoder.hidden, baseline.config.encoder.hidden);
    if parameters(&baseline.config, vocabularies)? >= most {
        return Ok(None);
    }
    while parameters(&scaled(&baseline.config, enough), vocabularies)? < most {
        (short, enough) = (enough, 2 * enough);
    }
    while enough - short > 1 {
        let middle = short.midpoint(enough);
        match parameters(&scaled(&baseline.config, middle), vocabularies)? < most {
            true => short = middle,
            false => enough = middle,
        }
    }
    Ok(Some(Variant { name: WIDE.into(), config: scaled(&baseline.config, enough) }))
}

/// The baseline with other sizes of C; its own is there already.
fn sized(baseline: &Variant, sizes: &[usize]) -> Result<Vec<Variant>> {
    let encoder = &baseline.config.encoder;
    let directions = encoder.memory_size() / encoder.hidden.max(1);
    let sizes: BTreeSet<usize> = sizes.iter().copied().filter(|&size| size != encoder.memory_size()).collect();
    let variant = |size: usize| match size.is_multiple_of(directions) && size > 0 {
        true => {
            Ok(Variant { name: format!("{BASELINE}-{size}"), config: scaled(&baseline.config, size / directions) })
        }
        false => Err(Error::Usage(format!(
            "--sizes {size}: the context vector holds both directions of the encoder, so its size is even and not 0"
        ))),
    };
    sizes.into_iter().map(variant).collect()
}

/// Another size of the encoder, and so of C; the decoder's state grows or shrinks with it.
fn scaled(config: &Config, hidden: usize) -> Config {
    let mut config = config.clone();
    let grown = config.decoder.hidden * hidden;
    config.decoder.hidden = (grown as f64 / config.encoder.hidden as f64).round().max(1.0) as usize;
    config.encoder.hidden = hidden;
    config
}

fn parameters(config: &Config, vocabularies: Vocabularies) -> Result<usize> {
    let model = config.model().blank(vocabularies, &DeviceKind::default().open(None)?.device)?;
    Ok(model.parameters().iter().map(|(_, values)| values).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TOY;

    fn ask(names: &[AttentionName], sizes: &[usize]) -> Ask {
        let settings =
            ["train.max_minutes=3".to_owned(), "train.patience=2".to_owned(), "train.seed=5".to_owned()];
        let config = Config::parse("toy.toml".as_ref(), TOY, &settings).unwrap();
        Ask { config, attention: names.to_vec(), seeds: 2, sizes: sizes.to_vec() }
    }

    fn planned(ask: &Ask) -> Result<Plan> {
        Plan::new(ask, &TestSet::read(&ask.config).unwrap(), &ask.prepare().unwrap())
    }

    const NONE: AttentionName = AttentionName::Score(ScoreKind::None);
    const GENERAL: AttentionName = AttentionName::Score(ScoreKind::General);

    #[test]
    fn the_wide_baseline_has_just_as_many_parameters() {
        let plan = planned(&ask(&[GENERAL, NONE, GENERAL], &[])).unwrap();
        let names: Vec<&str> = plan.variants.iter().map(|variant| variant.name.as_str()).collect();
        assert_eq!(names, ["general", "none", "none-wide"]);
        let data = prepare(&plan.variants[0].config).unwrap();
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        let count = |config: &Config| parameters(config, vocabularies).unwrap();
        let wide = &plan.variants[2].config;
        assert!(count(wide) >= count(&plan.variants[0].config));
        let narrower = scaled(&plan.variants[1].config, wide.encoder.hidden - 1);
        assert!(count(&narrower) < count(&plan.variants[0].config));
    }

    #[test]
    fn budgets_are_updates_and_seeds_follow_the_configs() {
        let plan = planned(&ask(&[NONE, GENERAL], &[])).unwrap();
        assert_eq!(plan.seeds, [5, 6]);
        for variant in &plan.variants {
            let train = &variant.config.train;
            assert_eq!((train.max_minutes, train.patience, train.max_epochs), (None, None, 20));
        }
    }

    #[test]
    fn sizes_are_those_of_the_context_vector() {
        let plan = planned(&ask(&[NONE], &[256, 64, 128, 64])).unwrap();
        let told = |variant: &Variant| {
            let config = &variant.config;
            (variant.name.clone(), config.encoder.memory_size(), config.decoder.hidden)
        };
        let told: Vec<_> = plan.variants.iter().map(told).collect();
        let right = [("none", 128, 128), ("none-64", 64, 64), ("none-256", 256, 256)];
        assert_eq!(told, right.map(|(name, context, state)| (name.to_owned(), context, state)));
        assert!(planned(&ask(&[NONE], &[63])).unwrap_err().to_string().contains("even"));
        assert!(planned(&ask(&[GENERAL], &[64])).unwrap_err().to_string().contains("add none"));
        assert!(planned(&Ask { seeds: 0, ..ask(&[NONE], &[]) }).is_err());
    }
}
