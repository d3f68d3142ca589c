//! A translation step by step, for people who want to see every number – and to have another word written, or to look elsewhere.

use std::borrow::Cow;
use std::collections::BTreeMap;

use burn::tensor::{Tensor, TensorData};
use serde::Serialize;

use super::{Translator, without_heads};
use crate::attention::Memory;
use crate::error::{Error, Result};
use crate::model::decoder::Opened;
use crate::model::stepper::RowStates;
use crate::model::{ModelStepper, Seq2Seq, TargetBatch};
use crate::search::SearchConfig;
use crate::text::{BOS, EOS, PAD, UNK};

/// What is wished of a translation that is written step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Ids that it begins with; from then on each step writes what is likeliest.
    pub written: Vec<usize>,
    /// Where some steps (from 0) are to look: weights over the source's pieces and its end, in place of the model's own.
    pub instead: BTreeMap<usize, Vec<f32>>,
    /// Heads, from 1, that are switched off.
    pub without: Vec<usize>,
}

/// A translation with everything that led to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Steps {
    /// The source's pieces, and its end.
    pub source: Vec<String>,
    /// Each step; the last one wrote the end, or stands at the limit.
    pub steps: Vec<Step>,
    /// The text.
    pub translation: String,
}

/// A piece with its place in the vocabulary and its probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Candidate {
    /// Its id.
    pub id: usize,
    /// Itself.
    pub piece: String,
    /// How likely it is.
    pub probability: f32,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// What it wrote.
    pub token: Candidate,
    /// What is likeliest, best first.
    pub next: Vec<Candidate>,
    /// What it looked with.
    pub query: Vec<f32>,
    /// Of each head, how well that matched each piece, before windows and softmax; empty without attention.
    pub scores: Vec<Vec<f32>>,
    /// Where it looked, the mean of the heads; empty without attention.
    pub weights: Vec<f32>,
    /// Each head's; empty where there is one.
    pub heads: Vec<Vec<f32>>,
    /// What it saw.
    pub context: Vec<f32>,
    /// How much of that comes from each piece: the length of weight · value as a share of the sum of all lengths, over the heads
    /// that are on. Empty without attention.
    pub parts: Vec<f32>,
    /// Whether somebody said where to look.
    pub told: bool,
}

/// How many of the likeliest are told.
const TOLD: usize = 5;

impl Translator {
    /// Translates a sentence greedily, each step laid open; of `search` it takes the limits of length.
    ///
    /// # Errors
    /// Several models; a source that is too long; ids that are none; weights that are not as many as the source has pieces with
    /// its end; heads that there are not.
    pub fn steps(&self, sentence: &str, search: &SearchConfig, wishes: &Wishes) -> Result<Steps> {
        if !self.others.is_empty() {
            return Err(Error::Usage("several models have no steps in common: ask one".into()));
        }
        let model = match wishes.without.as_slice() {
            [] => Cow::Borrowed(&self.run.model),
            heads => Cow::Owned(without_heads(&self.run.model, heads)?),
        };
        let mut read = self.read(&[sentence], 0, search)?;
        let Some(source) = read.swap_remove(0).source else { return Ok(Steps::default()) };
        model.check_ids(&source.ids, &wishes.written)?;
        check(&model, wishes, source.ids.len())?;
        let mut rows = ModelStepper::new(&model, &self.device).start(&[&source.ids]);
        let limit = search.limit(source.ids.len() - 1).max(wishes.written.len() + 1);
        let (mut steps, mut written) = (Vec::new(), Vec::new());
        while steps.len() < limit {
            let given = wishes.instead.get(&steps.len());
            rows.state.track.instead = given.map(|weights| self.rows_of(weights, model.decoder.attention.heads()));
            let last = written.last().copied().unwrap_or(BOS);
            let opened = model.open(&TargetBatch::new(&[&[last]], &self.device), rows.state, &rows.memory);
            let next = self.likeliest(&model, &opened, wishes.written.get(written.len()).copied());
            let step = told(next, &opened, &rows.memory, wishes, steps.len());
            rows = RowStates { memory: rows.memory, state: opened.decoded.state };
            let id = step.token.id;
            steps.push(step);
            if id == EOS {
                break;
            }
            written.push(id);
        }
        let pieces = source.encoded.pieces.iter().map(String::as_str).chain([self.run.source.piece(EOS)]);
        let translation = self.run.target.decode(&written)?;
        Ok(Steps { source: pieces.map(str::to_owned).collect(), steps, translation })
    }

    /// Weights of one sentence as every head's, `[1, N, S]`, scaled to a sum of 1.
    fn rows_of(&self, weights: &[f32], heads: usize) -> Tensor<3> {
        let sum: f32 = weights.iter().sum();
        let all: Vec<f32> = (0..heads).flat_map(|_| weights.iter().map(|weight| weight / sum)).collect();
        Tensor::from_data(TensorData::new(all, [1, heads, weights.len()]), &self.device)
    }

    /// What a step writes – what is asked for, else what is likeliest – and what is likeliest.
    fn likeliest(&self, model: &Seq2Seq, opened: &Opened, asked: Option<usize>) -> (Candidate, Vec<Candidate>) {
        let logits = model.output().logits(opened.decoded.readouts.clone().squeeze_dim(1));
        let probabilities = softmax(&values(logits));
        let mut order: Vec<usize> = (0..probabilities.len()).filter(|id| ![PAD, BOS, UNK].contains(id)).collect();
        order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        order.truncate(TOLD);
        let candidate = |id: usize| Candidate {
            id,
            piece: self.run.target.piece(id).to_owned(),
            probability: probabilities[id],
        };
        let id = asked.or(order.first().copied()).unwrap_or(EOS);
        (candidate(id), order.into_iter().map(candidate).collect())
    }
}

/// Refuses weights for another number of positions, or that are none; and to look elsewhere where nothing is looked at.
fn check(model: &Seq2Seq, wishes: &Wishes, positions: usize) -> Result<()> {
    if !wishes.instead.is_empty() && model.decoder.attention.score.is_none() {
        return Err(Error::Usage("this run has no attention: it can't be told where to look".into()));
    }
    for (step, weights) in &wishes.instead {
        let is_fine =
            weights.iter().all(|weight| (0.0..=1.0).contains(weight)) && weights.iter().sum::<f32>() > 1e-6;
        if weights.len() != positions || !is_fine {
            return Err(Error::Usage(format!(
                "step {step}: {positions} weights are needed, one for each piece of the source and its end, from 0 to 1 and not \
                 all 0"
            )));
        }
    }
    Ok(())
}

/// A step as it is told.
fn told(
    (token, next): (Candidate, Vec<Candidate>),
    opened: &Opened,
    memory: &Memory,
    wishes: &Wishes,
    step: usize,
) -> Step {
    let weights = opened.decoded.weights.as_ref();
    let mean = weights.map(|weights| values(weights.mean.clone())).unwrap_or_default();
    let positions = mean.len().max(1);
    let by_head = |tensor: Tensor<3>| values(tensor).chunks(positions).map(<[f32]>::to_vec).collect::<Vec<_>>();
    let of_heads = weights.and_then(|weights| weights.heads.clone());
    let heads = of_heads.map(|heads| by_head(heads.flatten::<3>(0, 1))).unwrap_or_default();
    let looked: &[Vec<f32>] = match (mean.is_empty(), heads.is_empty()) {
        (true, _) => &[],
        (false, true) => std::slice::from_ref(&mean),
        (false, false) => &heads,
    };
    Step {
        token,
        next,
        query: values(opened.query.clone()),
        scores: opened.scores.clone().map(by_head).unwrap_or_default(),
        parts: parts(looked, memory, &wishes.without),
        weights: mean,
        heads,
        context: values(opened.context.clone()),
        told: wishes.instead.contains_key(&step),
    }
}

/// The share of each position in a context: the length of weight · value, over all heads that are on; nothing of no heads.
fn parts(heads: &[Vec<f32>], memory: &Memory, without: &[usize]) -> Vec<f32> {
    let Some(first) = heads.first() else { return Vec::new() };
    let [_, positions, size] = memory.values.dims();
    let all = values(memory.values.clone());
    let length = |head: usize, s: usize| {
        let value = &all[(head * positions + s) * size..][..size];
        value.iter().map(|x| x * x).sum::<f32>().sqrt() * heads[head][s]
    };
    let on = |head: &usize| !without.contains(&(head + 1));
    let sum_at = |s: usize| (0..heads.len()).filter(on).map(|head| length(head, s)).sum();
    let lengths: Vec<f32> = (0..first.len()).map(sum_at).collect();
    let sum: f32 = lengths.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    lengths.into_iter().map(|length| length / sum).collect()
}

fn softmax(logits: &[f32]) -> Vec<f32> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    logits.iter().map(|logit| (logit - most).exp() / sum).collect()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
