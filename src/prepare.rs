//! From a config to data that can be trained on: read, check, clean, learn vocabularies, encode.

use crate::config::Config;
use crate::corpus::read::Gold;
use crate::corpus::{Limits, Location, Pair, Report, clean};
use crate::error::{Error, Result};
use crate::metrics::Tokenization;
use crate::text::{TextConfig, Tokenizer};
use crate::train::batch::Example;
use crate::train::validate::DevSet;

/// Everything that training needs but the model.
#[derive(Debug)]
pub struct Prepared {
    /// The source's tokenizer.
    pub source: Tokenizer,
    /// The target's tokenizer.
    pub target: Tokenizer,
    /// What is trained on.
    pub examples: Vec<Example>,
    /// What the model is chosen on.
    pub dev: DevSet,
    /// What was left out of the training data and of the dev data.
    pub reports: [Report; 2],
}

/// Reads and prepares the data of a config.
///
/// # Errors
/// Files that can't be read or don't pair up, and data of which nothing is left.
pub fn prepare(config: &Config) -> Result<Prepared> {
    let (train, mut train_report) = pairs(config, "train", &config.data.train)?;
    let (dev, mut dev_report) = pairs(config, "dev", &config.data.dev)?;
    let (source, target) = tokenizers(&config.text, &train)?;
    tracing::info!(source = source.size(), target = target.size(), "learnt the vocabularies");
    let positions = config.attention.reach().unwrap_or(usize::MAX);
    let most = config.train.max_tokens;
    let limits = |tokens: usize| TokenLimits { source: tokens.min(positions), target: tokens };
    let (examples, _) = encode(train, &source, &target, limits(most), &mut train_report)?;
    let (dev, references) = encode(dev, &source, &target, limits(usize::MAX), &mut dev_report)?;
    for (name, examples) in [("train", &examples), ("dev", &dev)] {
        if examples.is_empty() {
            return Err(Error::Config(format!(
                "data.{name}: every pair is too long for train.max_tokens = {most}"
            )));
        }
    }
    let language = Some(config.data.direction().1);
    let dev = DevSet {
        tokenization: Tokenization::choose(language, &references),
        examples: dev,
        references,
        target_tokenizer: target.clone(),
        batch: config.search.batch,
    };
    Ok(Prepared { source, target, examples, dev, reports: [train_report, dev_report] })
}

/// The clean pairs of a location, in the direction of the config.
fn pairs(config: &Config, name: &str, location: &Location) -> Result<(Vec<Pair>, Report)> {
    let pairs = config.data.read(location, Gold::Ignored)?;
    let (pairs, report) = clean(pairs, &config.text.normalize, Limits::default());
    if pairs.is_empty() {
        return Err(Error::Config(format!("data.{name} = {location}: no pair is left to use ({report})")));
    }
    Ok((pairs, report))
}

/// Learns both vocabularies from the training pairs.
fn tokenizers(config: &TextConfig, pairs: &[Pair]) -> Result<(Tokenizer, Tokenizer)> {
    let sources = pairs.iter().map(|pair| pair.source.as_str());
    let targets = pairs.iter().map(|pair| pair.target.as_str());
    if config.joint {
        let joint = Tokenizer::train(&config.source, sources.chain(targets))?;
        return Ok((joint.clone(), joint));
    }
    Ok((Tokenizer::train(&config.source, sources)?, Tokenizer::train(&config.target, targets)?))
}

/// The most tokens of each side, ends counted.
#[derive(Clone, Copy)]
struct TokenLimits {
    source: usize,
    target: usize,
}

/// Pairs in ids, with the targets as text; what is too long is reported instead.
fn encode(
    pairs: Vec<Pair>,
    source: &Tokenizer,
    target: &Tokenizer,
    most: TokenLimits,
    report: &mut Report,
) -> Result<(Vec<Example>, Vec<String>)> {
    let (mut examples, mut references) = (Vec::with_capacity(pairs.len()), Vec::with_capacity(pairs.len()));
    for pair in pairs {
        let example = Example::new(source.encode(&pair.source)?.ids, target.encode(&pair.target)?.ids);
        if example.source.len() > most.source {
            report.drop(format!("more than {} source tokens", most.source), pair.line);
        } else if example.target_tokens() > most.target {
            report.drop(format!("more than {} target tokens", most.target), pair.line);
        } else {
            examples.push(example);
            references.push(pair.target);
        }
    }
    report.kept = examples.len();
    Ok((examples, references))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `location` must never meet a source past its last position, in training or on the dev set.
    #[test]
    fn sources_that_location_cannot_reach_are_left_out() {
        let settings = ["attention.score=location".to_owned(), "attention.max_positions=6".to_owned()];
        let config = Config::parse("toy.toml".as_ref(), crate::config::TOY, &settings).unwrap();
        let data = prepare(&config).unwrap();
        assert!(data.examples.iter().chain(&data.dev.examples).all(|example| example.source.len() <= 6));
        assert_eq!(data.dev.examples.len(), data.dev.references.len());
        for report in &data.reports {
            assert!(
                report.kept < report.read && report.to_string().contains("more than 6 source tokens"),
                "{report}"
            );
        }
    }
}
