//! From a trained run to translations with their alignment.

mod aligned;
mod ensemble;
mod source;
mod steps;
mod told;
mod tree;
mod unknown;
mod wish;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use crate::alignment::{Alignment, Lexicon};
use crate::error::{Error, Result};
use crate::hash::sha256_of;
use crate::kernels::cores;
use crate::model::Seq2Seq;
use crate::model::batched::{Input, Models};
use crate::model::host::LaidOut;
use crate::ranks::Ranks;
use crate::run::{Loaded, RunDir};
use crate::search::{Hypothesis, Look, Mix, SearchConfig};
use crate::text::words::Level;
use crate::text::{EOS, UNK, normalize};
use source::{Reading, Source};
use wish::Wish;

pub use aligned::{Aligned, Judged};
pub use steps::{Candidate, Step, Steps, Wishes};
pub use told::Told;
pub use tree::{Grown, Node, Tree};
pub use wish::Sentence;

/// A trained run, or several that are asked together, ready to translate.
#[derive(Debug)]
pub struct Translator {
    run: Loaded,
    laid: LaidOut,
    /// The models of further runs, which share the run's tokenizers.
    others: Vec<Other>,
    mix: Mix,
    device: Device,
    ranks: Ranks,
}

/// A further run.
#[derive(Debug)]
struct Other {
    dir: RunDir,
    model: Seq2Seq,
    laid: LaidOut,
}

/// How sentences are translated and told.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// How translations are searched for.
    pub search: SearchConfig,
    /// How many translations of a sentence are told.
    pub n_best: usize,
    /// How alignments are told.
    pub view: View,
    /// What unknown words are translated by, where the search lets there be any.
    pub lexicon: Lexicon,
}

/// How alignments are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// How finely.
    pub level: Level,
    /// Whether the end of the sentence has a row and a column.
    pub ends: Ends,
    /// One of several heads, from 0; nothing for their mean.
    pub head: Option<usize>,
    /// Which step's look is a token's.
    pub step: StepOf,
}

impl View {
    /// Words between spaces, without ends: what gold links are between.
    pub const WORDS: Self = Self { level: Level::Word, ends: Ends::Hidden, head: None, step: StepOf::This };
}

/// Which step's look is a token's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepOf {
    /// The one that writes it.
    #[default]
    This,
    /// The one after, which reads it: where it knows the token it may look back at what that translates (Chen et al. 2020,
    /// "Accurate word alignment induction from neural machine translation", section 3.2). Without the end's row.
    Next,
}

impl StepOf {
    /// Every one.
    pub const ALL: [Self; 2] = [Self::This, Self::Next];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::This => "this",
            Self::Next => "next",
        }
    }
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
#[derive(Clone, Debug, PartialEq)]
pub struct Translation {
    /// The place of the sentence among those asked for, from 0.
    pub id: usize,
    /// Best first.
    pub hypotheses: Vec<Rendered>,
    /// Source words that the model does not know.
    pub unknown: Vec<String>,
    /// Where the source has too many tokens: it was cut, or skipped.
    pub too_long: Option<TooLong>,
}

/// A source with too many tokens, its end counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// How many it has.
    pub tokens: usize,
    /// How many it may have, by the config or the model.
    pub most: usize,
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
    /// Places of tokens that the model did not know: the source or a lexicon gave them, or the prefix that was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub copied: Vec<usize>,
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
        Ok(Self::of(trained(run, device)?, device))
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
        let (others, mix) = (Vec::new(), Mix::default());
        Self { run, laid: LaidOut::default(), others, mix, device: device.clone(), ranks: Ranks::default() }
    }

    /// The same, asked by several processes together: each calls with the same sentences, does its share of them, and gets
    /// all answers.
    ///
    /// # Errors
    /// They have opened different models.
    pub fn together(self, ranks: &Ranks) -> Result<Self> {
        ranks.agree("the run's model", || {
            let runs = std::iter::once(&self.run.dir).chain(self.others.iter().map(|other| &other.dir));
            Ok(sha256_of(runs.map(RunDir::fingerprint).collect::<Result<Vec<_>>>()?))
        })?;
        Ok(Self { ranks: ranks.clone(), ..self })
    }

    /// The run.
    pub fn run(&self) -> &Loaded {
        &self.run
    }

    /// How many batches it is best asked at a time.
    pub fn cores(&self) -> usize {
        cores(&self.device)
    }

    /// Whether the model looks anywhere; of several, whether one does.
    pub fn has_attention(&self) -> bool {
        self.members().any(|model| model.decoder.attention.score.is_some())
    }

    /// How many heads tell where they look: of several models none by itself.
    pub fn heads(&self) -> usize {
        if self.others.is_empty() { self.run.model.decoder.attention.heads() } else { 1 }
    }

    /// The same without some heads of its attention, which count from 1.
    ///
    /// # Errors
    /// Heads that there are not, or all of them.
    pub fn without_heads(mut self, heads: &[usize]) -> Result<Self> {
        if heads.is_empty() {
            return Ok(self);
        }
        self.run.model = without_heads(&self.run.model, heads)?;
        Ok(self)
    }

    /// The run's search with one translation a sentence.
    pub fn options(&self) -> Options {
        let search = self.run.config.search.clone();
        Options { search, n_best: 1, view: View::default(), lexicon: Lexicon::default() }
    }

    /// Translates sentences, with what their translations are asked to be. A blank one gets an empty translation without asking
    /// the model.
    ///
    /// # Errors
    /// A sentence that is too long for the model where those are refused, named by its number (`before` came before these); a
    /// phrase that the model has no pieces for; other processes that do not answer.
    pub fn translate<'a, S: Into<Sentence<'a>> + Clone>(
        &self,
        sentences: &[S],
        options: &Options,
        before: usize,
    ) -> Result<Vec<Translation>> {
        let sentences: Vec<Sentence<'a>> = sentences.iter().cloned().map(Into::into).collect();
        let texts: Vec<&str> = sentences.iter().map(|sentence| sentence.text).collect();
        let readings = self.read(&texts, before, &options.search)?;
        let mut asked: Vec<(usize, &Source, Wish)> = Vec::new();
        for (i, (reading, sentence)) in readings.iter().zip(&sentences).enumerate() {
            if let Some(source) = &reading.source {
                asked.push((before + i, source, self.wish(sentence, before + i + 1)?));
            }
        }
        let new = |(id, reading): (usize, &Reading)| Translation { too_long: reading.too_long, ..blank(id) };
        let mut translations: Vec<Translation> = readings.iter().enumerate().map(new).collect();
        for ((number, source, wish), found) in asked.iter().zip(self.ask(&asked, options)?) {
            let translation = &mut translations[number - before];
            let render = |hypothesis| self.render(source, wish, hypothesis, options);
            translation.hypotheses = found.iter().map(render).collect::<Result<_>>()?;
            translation.unknown = source.encoded.unknown().map(str::to_owned).collect();
        }
        Ok(translations)
    }

    /// What the models find for sentences, each with its number.
    fn ask(&self, asked: &[(usize, &Source, Wish)], options: &Options) -> Result<Vec<Vec<Hypothesis>>> {
        let told = asked
            .iter()
            .map(|(_, source, wish)| format!("{:?} {:?}", source.ids, (&wish.prefix, &wish.constraints)));
        self.ranks.agree("sentences", || Ok(sha256_of(told)))?;
        self.ranks.share(asked.len(), |mine| {
            let input = |&i: &usize| {
                let (number, source, wish) = &asked[i];
                let (prefix, constraints) = (wish.prefix.as_slice(), wish.constraints.as_slice());
                Input { source: &source.ids, prefix, constraints, number: *number }
            };
            let inputs: Vec<Input<'_>> = mine.iter().map(input).collect();
            self.models().translate(&inputs, &options.search, options.n_best.max(1))
        })
    }

    /// The models, one or several.
    fn models(&self) -> Models<'_> {
        let others = self.others.iter().map(|other| (&other.model, &other.laid));
        let members = std::iter::once((&self.run.model, &self.laid)).chain(others).collect();
        Models::new(members, self.mix, &self.device)
    }

    fn members(&self) -> impl Iterator<Item = &Seq2Seq> {
        std::iter::once(&self.run.model).chain(self.others.iter().map(|other| &other.model))
    }

    fn render(&self, source: &Source, wish: &Wish, found: &Hypothesis, options: &Options) -> Result<Rendered> {
        let mut pieces: Vec<String> =
            found.tokens.iter().map(|&id| self.run.target.piece(id).to_owned()).collect();
        let mut copied = Vec::new();
        for place in (0..pieces.len()).filter(|&place| found.tokens[place] == UNK) {
            let typed = wish.typed.get(place).cloned();
            let look = found.attention.get(place);
            if let Some(word) = typed.or_else(|| self.instead(source, look?, &options.lexicon)) {
                pieces[place] = word;
                copied.push(place);
            }
        }
        let text = match copied.is_empty() {
            true => self.run.target.decode(&found.tokens)?,
            false => self.run.target.join(&pieces),
        };
        Ok(Rendered {
            alignment: self.alignment(source, &pieces, &found.attention, options.view),
            translation: normalize::without_breaks(&text),
            score: found.score,
            cut: found.cut,
            copied,
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
        let looks = match view.step {
            StepOf::This => looks,
            StepOf::Next => looks.get(1..).unwrap_or_default(),
        };
        let Some(first) = looks.first() else {
            return Alignment { source: source_words.words, target: target_words.words, ..Alignment::default() };
        };
        let of_head =
            |head: usize| -> Vec<&[f32]> { looks.iter().map(|look| look.heads[head].as_slice()).collect() };
        let head = view.head.filter(|&head| head < first.heads.len());
        let weights = match head {
            Some(head) => of_head(head),
            None => looks.iter().map(|look| look.weights.as_slice()).collect(),
        };
        let heads: Vec<Vec<&[f32]>> = match head {
            Some(_) => Vec::new(),
            None => (0..first.heads.len()).map(of_head).collect(),
        };
        Alignment::at_words(&weights, &heads, &source_words, &target_words)
    }
}

/// A model without some heads of its attention, which count from 1.
fn without_heads(model: &Seq2Seq, heads: &[usize]) -> Result<Seq2Seq> {
    let attention = model.decoder.attention.clone();
    let n = attention.heads();
    if n == 1 {
        return Err(Error::Usage("without-head: this run's attention has no heads to switch off".into()));
    }
    if let Some(head) = heads.iter().find(|head| !(1..=n).contains(head)) {
        return Err(Error::Usage(format!("without-head {head}: this run has the heads 1 to {n}")));
    }
    if (1..=n).all(|head| heads.contains(&head)) {
        return Err(Error::Usage(format!("without-head: at least one of the {n} heads must stay")));
    }
    let places: Vec<usize> = heads.iter().map(|head| head - 1).collect();
    let mut model = model.clone();
    model.decoder.attention = attention.without_heads(&places);
    Ok(model)
}

/// A run that has a model.
fn trained(run: &RunDir, device: &Device) -> Result<Loaded> {
    if !run.has_model() {
        return Err(Error::data(run.path(), "this run has no model yet: its training was never validated"));
    }
    run.load(device)
}

fn blank(id: usize) -> Translation {
    let nothing = Rendered {
        alignment: Alignment::default(),
        translation: String::new(),
        score: 0.0,
        cut: false,
        copied: Vec::new(),
    };
    Translation { id, hypotheses: vec![nothing], unknown: Vec::new(), too_long: None }
}
