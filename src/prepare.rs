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
    let (train, train_report) = pairs(config, &config.data.train)?;
    let (dev, dev_report) = pairs(config, &config.data.dev)?;
    let (source, target) = tokenizers(&config.text, &train)?;
    let (examples, train_report) = encode(&train, &source, &target, config.train.max_tokens, train_report)?;
    let (dev_examples, dev_report) = encode(&dev, &source, &target, usize::MAX, dev_report)?;
    for (name, location, examples) in
        [("train", &config.data.train, &examples), ("dev", &config.data.dev, &dev_examples)]
    {
        if examples.is_empty() {
            return Err(Error::Config(format!("data.{name} = {location}: no pair is left to use")));
        }
    }
    let dev = DevSet {
        examples: dev_examples,
        references: dev.into_iter().map(|pair| pair.target).collect(),
        target_tokenizer: target.clone(),
        tokenization: Tokenization::for_language(config.data.direction().1),
        batch: config.search.batch,
    };
    Ok(Prepared { source, target, examples, dev, reports: [train_report, dev_report] })
}

/// The clean pairs of a location, in the direction of the config.
fn pairs(config: &Config, location: &Location) -> Result<(Vec<Pair>, Report)> {
    let mut pairs = location.read(Gold::Ignored)?;
    if config.data.reverse {
        pairs = pairs.into_iter().map(Pair::reversed).collect();
    }
    Ok(clean(pairs, &config.text.normalize, Limits::default()))
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

fn encode(
    pairs: &[Pair],
    source: &Tokenizer,
    target: &Tokenizer,
    max_tokens: usize,
    mut report: Report,
) -> Result<(Vec<Example>, Report)> {
    let mut examples = Vec::with_capacity(pairs.len());
    for (i, pair) in pairs.iter().enumerate() {
        let example = Example::new(source.encode(&pair.source)?.ids, target.encode(&pair.target)?.ids);
        if example.source.len().max(example.target_tokens()) > max_tokens {
            report.drop(format!("more than {max_tokens} tokens"), i + 1);
        } else {
            examples.push(example);
        }
    }
    report.kept = examples.len();
    Ok((examples, report))
}
