//! How good the model is on sentences that it was not trained on.

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::batch::{Batch, Batching, Example, Lengths};
use super::{Choice, loss};
use crate::error::Result;
use crate::metrics::{BleuConfig, ChrfConfig, Tokenization, exact_match};
use crate::model::host::LaidOut;
use crate::model::{Seq2Seq, batched};
use crate::ranks::Ranks;
use crate::rng::Rng;
use crate::search::SearchConfig;
use crate::text::Tokenizer;

/// Target tokens in a batch of the loss.
pub const BATCH_TOKENS: usize = 2000;

/// What a model is scored on.
#[derive(Clone, Debug)]
pub struct DevSet {
    /// The pairs in ids.
    pub examples: Vec<Example>,
    /// The targets as text.
    pub references: Vec<String>,
    /// Turns ids into text.
    pub target_tokenizer: Tokenizer,
    /// How BLEU cuts the target language.
    pub tokenization: Tokenization,
    /// Sentences in a batch.
    pub batch: usize,
}

/// A model's scores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Scores {
    /// Cross-entropy a target token in nats, without label smoothing.
    pub loss: f64,
    /// e to the loss.
    #[serde(with = "super::number")]
    pub perplexity: f64,
    /// Of greedy translations.
    pub bleu: f64,
    /// chrF2 of greedy translations.
    #[serde(default)]
    pub chrf: f64,
    /// The share of greedy translations that are the reference.
    pub exact_match: f64,
}

impl Scores {
    /// Whether these are better than others, or than nothing. Scores that are no numbers never are.
    pub fn beats(&self, other: Option<&Self>, by: Choice) -> bool {
        if !self.loss.is_finite() {
            return false;
        }
        let Some(other) = other else { return true };
        let lower_loss = self.loss < other.loss;
        match by {
            Choice::Loss => lower_loss,
            Choice::Bleu => self.bleu > other.bleu || (self.bleu == other.bleu && lower_loss),
            Choice::Chrf => self.chrf > other.chrf || (self.chrf == other.chrf && lower_loss),
        }
    }
}

impl DevSet {
    /// Scores a model that has no gradients ([`burn::module::Module::valid`]); where several processes train together,
    /// each takes its share of the sentences.
    ///
    /// # Errors
    /// A tokenizer that can't decode; other processes that do not answer.
    pub fn score(&self, model: &Seq2Seq, device: &Device, ranks: &Ranks) -> Result<Scores> {
        let loss = self.loss(model, device, ranks)?;
        if !loss.is_finite() {
            return Ok(Scores { loss, perplexity: loss, ..Scores::default() });
        }
        let greedy = SearchConfig { beam: 1, batch: self.batch, ..SearchConfig::default() };
        let translations = ranks.share(self.examples.len(), |mine| {
            let sources: Vec<&[usize]> = mine.iter().map(|&i| self.examples[i].source.as_slice()).collect();
            batched::translate(model, &LaidOut::default(), &sources, &greedy, 1, device)?
                .iter()
                .map(|n_best| self.target_tokenizer.decode(n_best.first().map_or(&[][..], |best| &best.tokens)))
                .collect()
        })?;
        let bleu = BleuConfig { tokenization: self.tokenization, ..BleuConfig::default() };
        Ok(Scores {
            loss,
            perplexity: loss.exp(),
            bleu: bleu.corpus(&translations, &[&self.references]).score,
            chrf: ChrfConfig::default().corpus(&translations, &[&self.references]).score,
            exact_match: exact_match(&translations, &[&self.references]),
        })
    }

    /// Cross-entropy a target token in nats.
    ///
    /// # Errors
    /// Other processes that do not answer.
    pub fn loss(&self, model: &Seq2Seq, device: &Device, ranks: &Ranks) -> Result<f64> {
        let (mut sum, mut tokens) = (0.0, 0.0);
        // By tokens: how long the longest sentences are, nobody has checked.
        let lengths: Vec<Lengths> = self.examples.iter().map(Example::lengths).collect();
        let plan = Batching::Tokens(BATCH_TOKENS).plan(&lengths, &mut Rng::new(0, 0));
        for places in plan.iter().skip(ranks.rank()).step_by(ranks.size()) {
            let batch = Batch::new(&places.iter().map(|&i| &self.examples[i]).collect::<Vec<_>>(), device);
            sum += loss::batch_loss(model, &batch, 0.0).into_scalar::<f64>() * batch.tokens as f64;
            tokens += batch.tokens as f64;
        }
        let [sum, tokens] = ranks.sum_wide([sum, tokens])?;
        Ok(sum / tokens.max(1.0))
    }
}
