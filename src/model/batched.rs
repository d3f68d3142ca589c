//! Many sentences through the model: sorted by length into batches, answered in the order asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::Device;
use rayon::prelude::*;

use super::host::{HostModel, LaidOut};
use super::seq2seq::{Seq2Seq, SourceBatch};
use super::stepper::ModelStepper;
use crate::error::{Error, Result};
use crate::kernels::{Precision, cores};
use crate::search::{Forced, Hypothesis, Request, SearchConfig, beam_search, forced};
use crate::text::{BOS, PAD, UNK};

/// Tokens that no translation may hold.
const FORBIDDEN: [usize; 3] = [PAD, BOS, UNK];

/// The beam up to which a batch is as large as the config says; wider ones share its rows.
const USUAL_BEAM: usize = 5;

/// Translates sources (ids with their end): for each at most `n_best` hypotheses, best first. `laid` belongs to
/// the model.
///
/// # Errors
/// Token ids that the model has no vectors for; probabilities that are no numbers.
pub fn translate(
    model: &Seq2Seq,
    laid: &LaidOut,
    sources: &[&[usize]],
    config: &SearchConfig,
    n_best: usize,
    device: &Device,
) -> Result<Vec<Vec<Hypothesis>>> {
    for source in sources {
        model.check_ids(source, &[])?;
    }
    let batch = config.batch.saturating_mul(USUAL_BEAM) / config.beam.max(USUAL_BEAM);
    let search = Search { model, host: laid.get(model, config.precision, sources.len()), device };
    let found = in_batches(sources, batch, cores(device), |batch, cores| {
        let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
        let lengths: Vec<usize> = chosen.iter().map(|source| source.len()).collect();
        let limits: Vec<usize> = chosen.iter().map(|source| config.limit(source.len())).collect();
        let request = Request {
            beam: config.beam,
            length_penalty: config.length_penalty,
            coverage_penalty: config.coverage_penalty,
            sources: &lengths,
            limits: &limits,
            forbidden: &FORBIDDEN,
            min_length: 0,
        };
        let mut found = search.translate(&chosen, &request, cores);
        found.iter_mut().for_each(|hypotheses| hypotheses.truncate(n_best));
        found
    });
    // Search goes on with numbers only. Where there are none left it stops before the limit.
    let lost = |(found, source): (&Vec<Hypothesis>, &&[usize])| {
        found.iter().any(|hypothesis| hypothesis.cut && hypothesis.tokens.len() < config.limit(source.len()))
    };
    match found.iter().zip(sources).any(lost) {
        true => Err(no_number()),
        false => Ok(found),
    }
}

/// Scores given targets (ids without end) of sources (ids with their end), reference forced.
///
/// # Errors
/// Token ids that the model has no vectors for; probabilities that are no numbers.
pub fn score(
    model: &Seq2Seq,
    laid: &LaidOut,
    sources: &[&[usize]],
    targets: &[&[usize]],
    batch: usize,
    device: &Device,
) -> Result<Vec<Forced>> {
    for (source, target) in sources.iter().zip(targets) {
        model.check_ids(source, target)?;
    }
    let search = Search { model, host: laid.get(model, Precision::F32, sources.len()), device };
    let found = in_batches(sources, batch, cores(device), |batch, cores| {
        let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
        let targets: Vec<&[usize]> = batch.iter().map(|&i| targets[i]).collect();
        search.force(&chosen, &targets, cores)
    });
    match found.iter().any(|forced: &Forced| forced.log_probs.iter().any(|log_prob| log_prob.is_nan())) {
        true => Err(no_number()),
        false => Ok(found),
    }
}

/// What a model says that has lost its numbers: weights that are none, or a device that computes wrongly.
fn no_number() -> Error {
    Error::Model(
        "the model gives probabilities that are no numbers: its weights are broken, or the device computes wrongly \
         (try --device cpu)"
            .into(),
    )
}

/// A model with the stepper that is the fastest for it.
struct Search<'a> {
    model: &'a Seq2Seq,
    host: Option<&'a HostModel>,
    device: &'a Device,
}

impl Search<'_> {
    fn translate(&self, sources: &[&[usize]], request: &Request<'_>, cores: usize) -> Vec<Vec<Hypothesis>> {
        if let Some(host) = self.host {
            let (mut stepper, state) = host.start(self.model, &SourceBatch::new(sources, self.device), cores);
            return beam_search(&mut stepper, state, request);
        }
        let mut stepper = ModelStepper::new(self.model, self.device);
        let state = stepper.start(sources);
        beam_search(&mut stepper, state, request)
    }

    fn force(&self, sources: &[&[usize]], targets: &[&[usize]], cores: usize) -> Vec<Forced> {
        if let Some(host) = self.host {
            let (mut stepper, state) = host.start(self.model, &SourceBatch::new(sources, self.device), cores);
            return forced(&mut stepper, state, targets);
        }
        let mut stepper = ModelStepper::new(self.model, self.device);
        let state = stepper.start(sources);
        forced(&mut stepper, state, targets)
    }
}

/// Calls `work` with the places of sentences of like length and the cores that a batch may use; puts the
/// answers where they belong. Where there are batches enough, each core takes whole ones: within a batch
/// cores would wait for each other at every step. (A device that works in parallel by itself counts as one core: one batch
/// is in its memory at a time.)
fn in_batches<T: Send>(
    sources: &[&[usize]],
    size: usize,
    all_cores: usize,
    work: impl Fn(&[usize], usize) -> Vec<T> + Sync,
) -> Vec<T> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    // Longest first: if memory does not suffice, it shows at once.
    order.sort_by_key(|&i| std::cmp::Reverse(sources[i].len()));
    let batches: Vec<&[usize]> = order.chunks(size.max(1)).collect();
    let cores = all_cores.div_ceil(batches.len().max(1));
    // From a counter, not by splitting: a core that waits inside a batch would else begin another in the middle
    // of it, and so on.
    let next = AtomicUsize::new(0);
    let take = || {
        let at = next.fetch_add(1, Ordering::Relaxed);
        batches.get(at).map(|batch| (*batch, work(batch, cores)))
    };
    let found: Vec<(&[usize], Vec<T>)> =
        (0..all_cores).into_par_iter().with_max_len(1).flat_map_iter(|_| std::iter::from_fn(take)).collect();
    let mut answers: Vec<Option<T>> = sources.iter().map(|_| None).collect();
    for (batch, found) in found {
        for (&place, answer) in batch.iter().zip(found) {
            answers[place] = Some(answer);
        }
    }
    answers.into_iter().flatten().collect()
}
