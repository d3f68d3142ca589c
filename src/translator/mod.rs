//! From a trained run to translations with their alignment.

mod aligned;

use burn::tensor::Device;
use serde::Serialize;

use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::hash::sha256_of;
use crate::model::batched;
use crate::model::host::LaidOut;
use crate::ranks::Ranks;
use crate::run::{Loaded, RunDir};
use crate::search::{Hypothesis, Look, SearchConfig};
use crate::text::words::Level;
use crate::text::{EOS, Encoded, normalize};

pub use aligned::Aligned;

/// A trained run, ready to translate.
#[derive(Debug)]
pub struct Translator {
    run: Loaded,
    laid: LaidOut,
    device: Device,
    ranks: Ranks,
}

/// How sentences are translated and told.
#[derive(Clone, Debug)]
pub struct Options {
    /// How translations are searched for.
    pub search: SearchConfig,
    /// How many translations of a sentence are told.
    pub n_best: usize,
    /// How alignments are told.
    pub view: View,
}

/// How alignments are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How finely.
    pub level: Level,
    /// Whether the end of the sentence has a row and a column.
    pub ends: Ends,
}

impl View {
    /// Words between spaces, without ends: what gold links are between.
    pub const WORDS: Self = Self { level: Level::Word, ends: Ends::Hidden };
}

/// Whether the end of the sentence is a token among others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ends {
    /// Left out.
    #[default]
    Hidden,
    /// In both lists.
    Shown,
}

/// A sentence's translations, best first; there is at least one.
#[derive(Clone, Debug)]
pub struct Translation {
    /// The place of the sentence among those asked for, from 0.
    pub id: usize,
    /// Best first.
    pub hypotheses: Vec<Rendered>,
    /// Source words that the model does not know.
    pub unknown: Vec<String>,
}

/// One translation as text, with where the model looked.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rendered {
    /// Who was looked at by whom; no weights from a model without attention.
    #[serde(flatten)]
    pub alignment: Alignment,
    /// The text.
    pub translation: String,
    /// What it was ranked by; of a given translation its log-probability.
    pub score: f64,
    /// Whether the length limit ended it.
    pub cut: bool,
}

impl Translation {
    /// The best translation.
    pub fn best(&self) -> &Rendered {
        &self.hypotheses[0]
    }
}

impl Translator {
    /// Opens a run.
    ///
    /// # Errors
    /// A run that is incomplete or does not fit together.
    pub fn open(run: &RunDir, device: &Device) -> Result<Self> {
        if !run.has_model() {
            return Err(Error::data(run.path(), "this run has no model yet: its training was never validated"));
        }
        Ok(Self::of(run.load(device)?, device))
    }

    /// Of the small run that is part of the program.
    ///
    /// # Errors
    /// None, unless the program was built from broken files.
    pub fn shipped(device: &Device) -> Result<Self> {
        Ok(Self::of(Loaded::shipped(device)?, device))
    }

    fn of(run: Loaded, device: &Device) -> Self {
        tracing::info!(run = %run.dir.path().display(), parameters = run.manifest.parameters, "opened");
        Self { run, laid: LaidOut::default(), device: device.clone(), ranks: Ranks::default() }
    }

    /// The same, asked by several processes together: each calls with the same sentences, does its share of them, and gets
    /// all answers.
    ///
    /// # Errors
    /// They have opened different models.
    pub fn together(self, ranks: &Ranks) -> Result<Self> {
        ranks.agree("the run's model", || self.run.dir.fingerprint())?;
        Ok(Self { ranks: ranks.clone(), ..self })
    }

    /// The run.
    pub fn run(&self) -> &Loaded {
        &self.run
    }

    /// Whether the model looks anywhere.
    pub fn has_attention(&self) -> bool {
        self.run.model.decoder.attention.score.is_some()
    }

    /// The same without some heads of its attention, which count from 1.
    ///
    /// # Errors
    /// Heads that there are not, or all of them.
    pub fn without_heads(mut self, heads: &[usize]) -> Result<Self> {
        if heads.is_empty() {
            return Ok(self);
        }
        let attention = self.run.model.decoder.attention.clone();
        let n = attention.heads();
        if n == 1 {
            return Err(Error::Usage("--without-head: this run's attention has no heads to switch off".into()));
        }
        if let Some(head) = heads.iter().find(|head| !(1..=n).contains(head)) {
            return Err(Error::Usage(format!("--without-head {head}: this run has the heads 1 to {n}")));
        }
        if (1..=n).all(|head| heads.contains(&head)) {
            return Err(Error::Usage(format!("--without-head: at least one of the {n} heads must stay")));
        }
        let places: Vec<usize> = heads.iter().map(|head| head - 1).collect();
        self.run.model.decoder.attention = attention.without_heads(&places);
        Ok(self)
    }

    /// The run's search with one translation a sentence.
    pub fn options(&self) -> Options {
        Options { search: self.run.config.search.clone(), n_best: 1, view: View::default() }
    }

    /// Translates sentences. A blank one gets an empty translation without asking the model.
    ///
    /// # Errors
    /// A sentence that is too long for the model, named by its number (`before` came before these); other processes that do
    /// not answer.
    pub fn translate(&self, sentences: &[&str], options: &Options, before: usize) -> Result<Vec<Translation>> {
        let sources = self.sources(sentences, before)?;
        let asked: Vec<&Source> = sources.iter().flatten().collect();
        let n_best = options.n_best.max(1);
        self.ranks.agree("sentences", || Ok(sha256_of(asked.iter().map(|source| format!("{:?}", source.ids)))))?;
        let found = self.ranks.share(asked.len(), |mine| {
            let ids: Vec<&[usize]> = mine.iter().map(|&i| asked[i].ids.as_slice()).collect();
            batched::translate(&self.run.model, &self.laid, &ids, &options.search, n_best, &self.device)
        })?;
        let mut found = found.into_iter();
        let mut translations = Vec::with_capacity(sentences.len());
        for (id, source) in sources.iter().enumerate() {
            translations.push(match source {
                Some(source) => {
                    let hypotheses = found.next().unwrap_or_default();
                    let render = |hypothesis| self.render(source, hypothesis, options.view);
                    Translation {
                        id,
                        hypotheses: hypotheses.iter().map(render).collect::<Result<_>>()?,
                        unknown: source.encoded.unknown().map(str::to_owned).collect(),
                    }
                }
                None => blank(id),
            });
        }
        Ok(translations)
    }

    fn sources(&self, sentences: &[&str], before: usize) -> Result<Vec<Option<Source>>> {
        let mut sources = Vec::with_capacity(sentences.len());
        for (i, sentence) in sentences.iter().enumerate() {
            let text = self.run.config.text.normalize.apply(sentence);
            if normalize::is_blank(&text) {
                sources.push(None);
                continue;
            }
            let encoded = self.run.source.encode(&text)?;
            let ids: Vec<usize> = encoded.ids.iter().copied().chain([EOS]).collect();
            self.check_length(ids.len())
                .map_err(|why| Error::Model(format!("sentence {}: {why}", before + i + 1)))?;
            sources.push(Some(Source { encoded, ids }));
        }
        Ok(sources)
    }

    fn check_length(&self, tokens: usize) -> Result<()> {
        let most = self.run.config.search.max_source;
        if tokens > most {
            return Err(Error::Model(format!(
                "{tokens} tokens, more than search.max_source = {most}: cut the line, or raise the limit in {}",
                self.run.dir.path().join("config.toml").display()
            )));
        }
        self.run.model.check_length(tokens)
    }

    fn render(&self, source: &Source, hypothesis: &Hypothesis, view: View) -> Result<Rendered> {
        let pieces: Vec<String> =
            hypothesis.tokens.iter().map(|&id| self.run.target.piece(id).to_owned()).collect();
        let text = self.run.target.decode(&hypothesis.tokens)?;
        Ok(Rendered {
            alignment: self.alignment(source, &pieces, &hypothesis.attention, view),
            translation: normalize::without_breaks(&text),
            score: hypothesis.score,
            cut: hypothesis.cut,
        })
    }

    fn alignment(&self, source: &Source, target: &[String], looks: &[Look], view: View) -> Alignment {
        let mut source_words = self.run.source.words(view.level, &source.encoded.pieces);
        let mut target_words = self.run.target.words(view.level, target);
        if view.ends == Ends::Shown {
            source_words.push(self.run.source.piece(EOS));
            if looks.len() > target.len() {
                target_words.push(self.run.target.piece(EOS));
            }
        }
        let Some(first) = looks.first() else {
            return Alignment { source: source_words.words, target: target_words.words, ..Alignment::default() };
        };
        let weights: Vec<&[f32]> = looks.iter().map(|look| look.weights.as_slice()).collect();
        let of_head = |head: usize| looks.iter().map(|look| look.heads[head].as_slice()).collect();
        let heads: Vec<Vec<&[f32]>> = (0..first.heads.len()).map(of_head).collect();
        Alignment::at_words(&weights, &heads, &source_words, &target_words)
    }
}

/// A sentence as the model reads it.
#[derive(Debug)]
struct Source {
    encoded: Encoded,
    /// With the end of the sentence.
    ids: Vec<usize>,
}

fn blank(id: usize) -> Translation {
    let nothing = Rendered { alignment: Alignment::default(), translation: String::new(), score: 0.0, cut: false };
    Translation { id, hypotheses: vec![nothing], unknown: Vec::new() }
}
