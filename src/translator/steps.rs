//! A translation step by step, for people who want to see every number – and to have another word written, or to look elsewhere.

use std::collections::BTreeMap;

use burn::tensor::{Tensor, TensorData};
use serde::Serialize;

use super::Translator;
use crate::error::{Error, Result};
use crate::model::decoder::Opened;
use crate::model::stepper::RowStates;
use crate::model::{ModelStepper, TargetBatch};
use crate::text::{BOS, EOS, PAD, UNK};

/// What is wished of a translation that is written step by step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wishes {
    /// Ids that it begins with; from then on each step writes what is likeliest.
    pub written: Vec<usize>,
    /// Where some steps (from 0) are to look: weights over the source's pieces and its end, in place of the model's own.
    pub instead: BTreeMap<usize, Vec<f32>>,
}

/// A translation with everything that led to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// How much of that comes from each piece: the length of its part, as a share of all parts'. Empty without attention.
    pub parts: Vec<f32>,
    /// Whether somebody said where to look.
    pub told: bool,
}

/// How many of the likeliest are told.
const TOLD: usize = 5;

impl Translator {
    /// Translates a sentence greedily, each step laid open.
    ///
    /// # Errors
    /// Several models; a source that is too long; ids that are none; weights that are not as many as the source has pieces with its end.
    pub fn steps(&self, sentence: &str, wishes: &Wishes) -> Result<Steps> {
        if !self.others.is_empty() {
            return Err(Error::Usage("several models have no steps in common: ask one".into()));
        }
        let search = self.options().search;
        let mut read = self.read(&[sentence], 0, &search)?;
        let Some(source) = read.swap_remove(0).source else {
            return Ok(Steps { source: Vec::new(), steps: Vec::new(), translation: String::new() });
        };
        self.run.model.check_ids(&source.ids, &wishes.written)?;
        let positions = source.ids.len();
        check(wishes, positions)?;
        let stepper = ModelStepper::new(&self.run.model, &self.device);
        let mut rows = stepper.start(&[&source.ids]);
        let limit = search.limit(positions - 1).max(wishes.written.len() + 1);
        let (mut steps, mut written) = (Vec::new(), Vec::new());
        while steps.len() < limit {
            let given = wishes.instead.get(&steps.len());
            rows.state.track.instead = given.map(|weights| self.rows_of(weights));
            let last = written.last().copied().unwrap_or(BOS);
            let opened =
                self.run.model.open(&TargetBatch::new(&[&[last]], &self.device), rows.state, &rows.memory);
            let (step, id) =
                self.told(&opened, &rows.memory, wishes.written.get(written.len()).copied(), given.is_some());
            rows = RowStates { memory: rows.memory, state: opened.decoded.state };
            steps.push(step);
            if id == EOS {
                break;
            }
            written.push(id);
        }
        let pieces = source.encoded.pieces.iter().map(String::as_str).chain([self.run.source.piece(EOS)]);
        Ok(Steps {
            source: pieces.map(str::to_owned).collect(),
            steps,
            translation: self.run.target.decode(&written)?,
        })
    }

    /// Weights of one sentence as every head's, `[1, N, S]`, scaled to a sum of 1.
    fn rows_of(&self, weights: &[f32]) -> Tensor<3> {
        let sum: f32 = weights.iter().sum();
        let heads = self.run.model.decoder.attention.heads();
        let all: Vec<f32> = (0..heads).flat_map(|_| weights.iter().map(|weight| weight / sum)).collect();
        Tensor::from_data(TensorData::new(all, [1, heads, weights.len()]), &self.device)
    }

    /// A step as it is told, and what it writes: what is asked for, else what is likeliest.
    fn told(
        &self,
        opened: &Opened,
        memory: &crate::attention::Memory,
        asked: Option<usize>,
        told: bool,
    ) -> (Step, usize) {
        let logits = self.run.model.output().logits(opened.decoded.readouts.clone().squeeze_dim(1));
        let probabilities = probabilities(&values(logits));
        let may = |id: &usize| ![PAD, BOS, UNK].contains(id);
        let mut order: Vec<usize> = (0..probabilities.len()).filter(may).collect();
        order.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
        order.truncate(TOLD);
        let candidate = |id: usize| Candidate {
            id,
            piece: self.run.target.piece(id).to_owned(),
            probability: probabilities[id],
        };
        let id = asked.or(order.first().copied()).unwrap_or(EOS);
        let weights = opened.decoded.weights.as_ref();
        let mean = weights.map(|weights| values(weights.mean.clone())).unwrap_or_default();
        let positions = mean.len().max(1);
        let by_head = |tensor: Vec<f32>| tensor.chunks(positions).map(<[f32]>::to_vec).collect::<Vec<_>>();
        let heads = weights.and_then(|weights| weights.heads.clone()).map(|heads| by_head(values(heads)));
        let heads = heads.unwrap_or_default();
        let looked = if heads.is_empty() { vec![mean.clone()] } else { heads.clone() };
        let step = Step {
            token: candidate(id),
            next: order.into_iter().map(candidate).collect(),
            query: values(opened.query.clone()),
            scores: opened.scores.clone().map(|scores| by_head(values(scores))).unwrap_or_default(),
            parts: if mean.is_empty() { Vec::new() } else { parts(&looked, memory) },
            weights: mean,
            heads,
            context: values(opened.context.clone()),
            told,
        };
        (step, id)
    }
}

fn check(wishes: &Wishes, positions: usize) -> Result<()> {
    for (step, weights) in &wishes.instead {
        let is_fine =
            weights.iter().all(|weight| (0.0..=1.0).contains(weight)) && weights.iter().sum::<f32>() > 0.0;
        if weights.len() != positions || !is_fine {
            return Err(Error::Usage(format!(
                "step {step}: {positions} weights are needed, one for each piece of the source and its end, from 0 to 1 and not all 0"
            )));
        }
    }
    Ok(())
}

/// The share of each position in a context: the length of weight · value, over all heads.
fn parts(heads: &[Vec<f32>], memory: &crate::attention::Memory) -> Vec<f32> {
    let [_, positions, size] = memory.values.dims();
    let all = values(memory.values.clone());
    let length = |head: usize, s: usize| {
        let value = &all[(head * positions + s) * size..][..size];
        value.iter().map(|x| x * x).sum::<f32>().sqrt() * heads[head][s]
    };
    let lengths: Vec<f32> = (0..positions).map(|s| (0..heads.len()).map(|head| length(head, s)).sum()).collect();
    let sum: f32 = lengths.iter().sum::<f32>().max(f32::MIN_POSITIVE);
    lengths.into_iter().map(|length| length / sum).collect()
}

fn probabilities(logits: &[f32]) -> Vec<f32> {
    let most = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let sum: f32 = logits.iter().map(|logit| (logit - most).exp()).sum();
    logits.iter().map(|logit| (logit - most).exp() / sum).collect()
}

fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}
