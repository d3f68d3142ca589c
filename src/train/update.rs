//! One update of the weights.

use std::time::{Duration, Instant};

use burn::module::Module;
use burn::optim::GradientsParams;
use rayon::prelude::*;

use super::batch::Batch;
use super::exchange::sum as sum_across;
use super::loss::{self, Objective};
use super::optimizer::{Move, Optimizer};
use super::reward::Baseline;
use super::sampling::sampled;
use super::share::{Part, Share};
use super::{TrainConfig, clip, gradients};
use crate::error::Result;
use crate::model::Seq2Seq;
use crate::ranks::Ranks;
use crate::rng::Rng;

/// What an update saw.
#[derive(Clone, Copy, Debug)]
pub struct Seen {
    /// The mean loss a target token, in nats.
    pub loss: f64,
    /// The norm of all gradients before clipping.
    pub norm: f64,
    /// The mean log-probability a target token, where choices are rewarded by it.
    pub log_prob: Option<f64>,
    /// The time in which gradients were added up with those of other processes, and these were waited for.
    pub exchange: Duration,
}

impl Seen {
    /// Whether the weights may be moved: not if a number was no number.
    pub fn usable(self) -> bool {
        self.norm.is_finite() && self.loss.is_finite()
    }
}

/// How an update is made, beside what it is made with.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The learning rate.
    pub rate: f64,
    /// The seed of dropout and of what attention draws.
    pub noise: u64,
    /// What hard choices are compared with.
    pub baseline: Baseline,
    /// The share of the decoder's inputs that are its own.
    pub sampling: f64,
}

/// Moves the weights of a model (on an autodiff device) by some batches, one after the other, each part of a batch by a core
/// of its own: cores that share every product wait for each other at every product. Other processes do their shares at the
/// same time; all get the same gradients, divided by the tokens of all batches, and so keep the same weights.
///
/// # Errors
/// The other processes do not answer.
pub fn update(
    model: Seq2Seq,
    optimizer: &mut Optimizer,
    shares: &[Share],
    step: Step,
    config: &TrainConfig,
    ranks: &Ranks,
) -> Result<(Seq2Seq, Seen)> {
    let Step { rate, noise, baseline, sampling } = step;
    let tokens = shares.iter().map(|share| share.tokens).sum();
    let objective = Objective {
        smoothing: config.label_smoothing,
        entropy_bonus: config.entropy_bonus,
        baseline,
        guided: config.guided_alignment,
        tokens,
    };
    let still = (sampling > 0.0).then(|| model.clone().no_grad());
    let (mut loss, mut log_prob, mut rewarded) = (0.0, 0.0, 0.0);
    let mut all: Option<GradientsParams> = None;
    for (place, share) in shares.iter().enumerate() {
        // Every part of every batch has noise of its own.
        let noise = if place == 0 { noise } else { Rng::new(noise, u64::MAX - place as u64).bits() };
        let copy = |part: &Part| model.noisy(seed_of(noise, part));
        let copies: Vec<Seq2Seq> = share.parts.iter().map(copy).collect();
        let found: Vec<Found> = copies
            .into_par_iter()
            .zip(&share.parts)
            .with_max_len(1)
            .map(|(copy, part)| match &still {
                None => find(copy, &part.batch, &objective),
                Some(still) => {
                    let mut rng = Rng::new(seed_of(noise, part), SAMPLING);
                    find(copy, &sampled(still, &part.batch, sampling, &mut rng), &objective)
                }
            })
            .collect();
        loss += found.iter().map(|part| part.loss).sum::<f64>();
        log_prob += found.iter().filter_map(|part| part.log_prob).sum::<f64>();
        rewarded += found.iter().filter(|part| part.log_prob.is_some()).count() as f64;
        all = Some(gradients::sum(all.into_iter().chain(found.into_iter().map(|part| part.gradients)), &model));
    }
    let started = Instant::now();
    let [loss, log_prob, rewarded] = ranks.sum_wide([loss, log_prob, rewarded])?;
    let gradients = sum_across(ranks, all.unwrap_or_default(), &model)?;
    let exchange = started.elapsed();
    let log_prob = (rewarded > 0.0).then(|| log_prob / tokens as f64);
    let mut seen = Seen { loss, norm: clip::global_norm(&gradients, &model), log_prob, exchange: Duration::ZERO };
    let started = Instant::now();
    // As soon as one of them can't: all leave it out, or their weights would part.
    let [unusable] = ranks.any([!seen.usable()])?;
    seen.exchange = exchange + started.elapsed();
    if unusable {
        tracing::debug!(loss = seen.loss, norm = seen.norm, "an update is left out: not finite");
        return Ok((model, seen));
    }
    let scale = clip::scale(seen.norm, config.clip_norm);
    Ok((optimizer.step(model, gradients, Move { rate, scale }), seen))
}

/// The seed of a part's dropout and draws.
fn seed_of(noise: u64, part: &Part) -> u64 {
    Rng::new(noise, part.number as u64).bits()
}

/// The stream of a part's seed that decides which inputs are the model's own; stream 0 is the dropout's.
const SAMPLING: u64 = 1;

/// What one core found.
struct Found {
    loss: f64,
    log_prob: Option<f64>,
    gradients: GradientsParams,
}

fn find(model: Seq2Seq, batch: &Batch, objective: &Objective) -> Found {
    let loss = loss::part_of_loss(&model, batch, objective);
    let gradients = GradientsParams::from_grads(loss.total().backward(), &model);
    let log_prob = loss.policy.map(|policy| policy.log_prob);
    Found { loss: loss.cross_entropy.into_scalar(), log_prob, gradients }
}
