//! Batches that fit into a memory budget (`batch.memory`): what an update needs is counted, not tried, so that the same config
//! means the same batches wherever there are as many cores.

use crate::config::Config;
use crate::device::{DeviceKind, Opened};
use crate::error::{Error, Result};
use crate::kernels::cores;
use crate::model::{Seq2Seq, Vocabularies};
use crate::prepare::Prepared;
use crate::ranks::Ranks;
use crate::train::batch::Lengths;

/// What the program needs for itself, tokenizers and search included, in bytes.
const PROGRAM: f64 = 96e6;

/// The config with the `train.batch_tokens` that its memory budget has room for. Without a budget the same config. Of several processes each gets the budget.
///
/// # Errors
/// A budget that the model alone, or the longest pair, does not fit into: with what would do.
pub fn settled(config: Config, data: &Prepared, opened: &Opened, ranks: &Ranks) -> Result<Config> {
    let Some(budget) = config.batch.bytes()? else { return Ok(config) };
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let blank = config.model().blank(vocabularies, &burn::tensor::Device::flex())?;
    let corpus = Corpus::of(data)?;
    let cores = cores(&opened.device);
    let fixed = PROGRAM + corpus.held + fixed(&blank, &config, cores);
    let a_token = a_target_token(&config, &corpus, opened.kind, vocabularies.target);
    let tokens = ((budget as f64 - fixed) / a_token).floor().max(0.0) as usize;
    let longest = corpus.longest.target.max(corpus.longest.source);
    if tokens < longest {
        let least = (fixed + a_token * longest as f64) / 1e6;
        return Err(Error::Config(format!(
            "batch.memory = \"{}\" is too small: model, optimizer and data take {:.0} MB, and with the longest pair of {longest} \
             tokens {least:.0} MB; raise it, lower train.max_tokens, or make the model smaller",
            config.batch.memory.as_deref().unwrap_or_default(),
            fixed / 1e6
        )));
    }
    let mut config = config;
    config.train.batch_sentences = None;
    config.train.batch_tokens = Some(tokens.saturating_mul(ranks.size()).min(corpus.tokens.max(longest)));
    Ok(config)
}

/// What of the data memory depends on.
struct Corpus {
    longest: Lengths,
    /// Target tokens.
    tokens: usize,
    /// Source tokens for each target token.
    ratio: f64,
    /// Bytes of what is held in memory.
    held: f64,
}

impl Corpus {
    fn of(data: &Prepared) -> Result<Self> {
        let mut longest = Lengths { source: 0, target: 0 };
        let (mut sources, mut targets) = (0, 0);
        for place in 0..data.examples.len() {
            let Lengths { source, target } = data.examples.lengths(place)?;
            longest = Lengths { source: longest.source.max(source), target: longest.target.max(target) };
            (sources, targets) = (sources + source, targets + target);
        }
        let held = data.examples.len().min(data.examples.buffer()) as f64 / data.examples.len().max(1) as f64;
        let bytes = (size_of::<usize>() * (sources + targets)) as f64 + 96.0 * data.examples.len() as f64;
        Ok(Self { longest, tokens: targets, ratio: sources as f64 / targets.max(1) as f64, held: held * bytes })
    }
}

/// Bytes of weights, of gradients (each core's and their sum), of what the optimizer remembers, and of an average.
fn fixed(blank: &Seq2Seq, config: &Config, cores: usize) -> f64 {
    let parameters: usize = blank.parameters().iter().map(|(_, values)| values).sum();
    let remembered = config.train.rule().numbers(blank);
    let average = if config.train.ema > 0.0 { parameters } else { 0 };
    (size_of::<f32>() * ((2 + cores) * parameters + remembered + average)) as f64
}

/// How many more source positions a batch has for padding, at most.
const PADDING: f64 = 1.3;

/// Bytes that a target token and its share of the source need until their gradients are there: what each layer gives, what is
/// kept for the way back, and the gradients of both.
fn a_target_token(config: &Config, corpus: &Corpus, kind: DeviceKind, vocabulary: usize) -> f64 {
    let gru = |hidden: usize| 12 * hidden;
    let (embedding, memory) = (config.embedding.size, config.encoder.memory_size());
    let directions = if config.encoder.bidirectional { 2 } else { 1 };
    let keys = config.attention.size.max(config.decoder.hidden);
    let source =
        4 * embedding + config.encoder.layers * directions * gru(config.encoder.hidden) + 3 * memory + 2 * keys;
    let readout = config.decoder.readout_size(embedding);
    let mut target =
        4 * embedding + config.decoder.layers * gru(config.decoder.hidden) + 3 * memory + 4 * readout + keys;
    target += 4 * config.attention.heads * corpus.longest.source;
    if kind != DeviceKind::Cpu {
        // There all logits stand in memory at once, and additive scores of all pairs.
        target += 3 * vocabulary + 2 * config.attention.size * corpus.longest.source;
    }
    size_of::<f32>() as f64 * (target as f64 + PADDING * corpus.ratio * source as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TOY;
    use crate::prepare::prepare;

    fn with(memory: &str) -> Result<Config> {
        let config = Config::parse("toy.toml".as_ref(), TOY, &[format!("batch.memory={memory}")])?;
        let data = prepare(&config)?;
        settled(config, &data, &DeviceKind::Cpu.open(None)?, &Ranks::default())
    }

    #[test]
    fn a_budget_becomes_tokens() {
        let tokens = |memory: &str| with(memory).unwrap().train.batch_tokens.unwrap();
        let (small, twice) = (tokens("150MB"), tokens("0.2GB"));
        assert!(small > 100 && 2 * twice > 3 * small && twice < 20_000, "{small} {twice}");
        let settled = with("150MB").unwrap();
        assert_eq!((settled.batch.memory.as_deref(), settled.train.batch_sentences), (Some("150MB"), None));
        // Never more than there is.
        assert_eq!(tokens("100GiB"), tokens("200GB"));
        let told = with("10MB").unwrap_err().to_string();
        assert!(told.contains("batch.memory = \"10MB\" is too small: model, optimizer and data take"), "{told}");
        for wrong in ["much", "-1GB", "4G", "GB", "nanMB"] {
            let told = with(wrong).unwrap_err().to_string();
            assert!(told.contains("batch.memory") && told.contains("4GB"), "{told}");
        }
    }
}
