//! Many sentences through the model: sorted by length into batches, answered in the order asked.

use std::sync::atomic::{AtomicUsize, Ordering};

use burn::tensor::Device;
use rayon::prelude::*;

use super::fastest::{Fastest, Rows};
use super::host::{HostModel, LaidOut};
use super::seq2seq::Seq2Seq;
use crate::error::{Error, Result};
use crate::kernels::{Precision, cores};
use crate::search::{
    Ensemble, Forced, Hypothesis, MOST_LIVE, Method, Mix, Phrase, Request, SearchConfig, Task, Unknown,
    beam_search, forced, sample,
};
use crate::text::{BOS, PAD, UNK};

/// Tokens that no translation may hold; the last one only where the config says so.
pub const FORBIDDEN: [usize; 3] = [PAD, BOS, UNK];

/// The beam up to which a batch is as large as the config says; wider ones share its rows.
const USUAL_BEAM: usize = 5;

/// A sentence to translate.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// Ids with their end.
    pub source: &'a [usize],
    /// Ids that the translation begins with.
    pub prefix: &'a [usize],
    /// Phrases that it must hold.
    pub constraints: &'a [Phrase],
    /// The sentence's number, for chance.
    pub number: usize,
}

/// Models that are asked together, with their weights laid out; one is usual. All have the same vocabularies.
#[derive(Clone, Debug)]
pub struct Models<'a> {
    members: Vec<(&'a Seq2Seq, &'a LaidOut)>,
    mix: Mix,
    device: &'a Device,
}

/// Translates sources (ids with their end) with one model: for each at most `n_best` hypotheses, best first. `laid` belongs to
/// the model.
///
/// # Errors
/// As for [`Models::translate`].
pub fn translate(
    model: &Seq2Seq,
    laid: &LaidOut,
    sources: &[&[usize]],
    config: &SearchConfig,
    n_best: usize,
    device: &Device,
) -> Result<Vec<Vec<Hypothesis>>> {
    let free = |(number, source)| Input { source, prefix: &[], constraints: &[], number };
    let inputs: Vec<Input<'_>> = sources.iter().copied().enumerate().map(free).collect();
    Models::new(vec![(model, laid)], Mix::default(), device).translate(&inputs, config, n_best)
}

/// Scores given targets (ids without end) of sources (ids with their end) with one model, reference forced.
///
/// # Errors
/// As for [`Models::score`].
pub fn score(
    model: &Seq2Seq,
    laid: &LaidOut,
    sources: &[&[usize]],
    targets: &[&[usize]],
    batch: usize,
    device: &Device,
) -> Result<Vec<Forced>> {
    Models::new(vec![(model, laid)], Mix::default(), device).score(sources, targets, batch)
}

impl<'a> Models<'a> {
    /// At least one model.
    pub fn new(members: Vec<(&'a Seq2Seq, &'a LaidOut)>, mix: Mix, device: &'a Device) -> Self {
        Self { members, mix, device }
    }

    /// Translates sentences: for each at most `n_best` hypotheses, best first.
    ///
    /// # Errors
    /// Token ids that the models have no vectors for; probabilities that are no numbers.
    pub fn translate(
        &self,
        inputs: &[Input<'_>],
        config: &SearchConfig,
        n_best: usize,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        let sources: Vec<&[usize]> = inputs.iter().map(|input| input.source).collect();
        for input in inputs {
            self.check_ids(input.source, input.prefix)?;
            let ways = input.constraints.iter().flat_map(Phrase::ways);
            ways.into_iter().try_for_each(|way| self.check_ids(&[], way))?;
        }
        let rows = rows(inputs, config, n_best)?;
        let batch = config.batch.saturating_mul(USUAL_BEAM) / rows.max(USUAL_BEAM);
        let forbidden = match config.unknown {
            Unknown::Never => &FORBIDDEN[..],
            Unknown::Copy => &FORBIDDEN[..2],
        };
        let hosts = self.laid_out(config.precision, sources.len());
        let found = in_batches(&sources, batch, cores(self.device), |batch, cores| {
            let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
            let tasks: Vec<Task<'_>> = batch.iter().map(|&i| task(&inputs[i], config)).collect();
            let request = Request { config, n_best, forbidden, tasks: &tasks };
            let (mut stepper, state) = self.start(&hosts, &chosen, cores);
            match config.method {
                Method::Beam => beam_search(&mut stepper, state, &request),
                Method::Sample => sample(&mut stepper, state, &request),
            }
        });
        match found.iter().flatten().any(|hypothesis| hypothesis.log_prob.is_nan()) {
            true => Err(no_number()),
            false => Ok(found),
        }
    }

    /// Scores given targets (ids without end) of sources (ids with their end), reference forced.
    ///
    /// # Errors
    /// Token ids that the models have no vectors for; probabilities that are no numbers.
    pub fn score(&self, sources: &[&[usize]], targets: &[&[usize]], batch: usize) -> Result<Vec<Forced>> {
        for (source, target) in sources.iter().zip(targets) {
            self.check_ids(source, target)?;
        }
        let hosts = self.laid_out(Precision::F32, sources.len());
        let found = in_batches(sources, batch, cores(self.device), |batch, cores| {
            let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
            let targets: Vec<&[usize]> = batch.iter().map(|&i| targets[i]).collect();
            let (mut stepper, state) = self.start(&hosts, &chosen, cores);
            forced(&mut stepper, state, &targets)
        });
        match found.iter().any(|forced: &Forced| forced.log_probs.iter().any(|log_prob| log_prob.is_nan())) {
            true => Err(no_number()),
            false => Ok(found),
        }
    }

    fn check_ids(&self, source: &[usize], target: &[usize]) -> Result<()> {
        self.members.iter().try_for_each(|(model, _)| model.check_ids(source, target))
    }

    /// Each model's weights for decoding, where the kernels know it.
    fn laid_out(&self, precision: Precision, sentences: usize) -> Vec<Option<&'a HostModel>> {
        self.members.iter().map(|(model, laid)| laid.get(model, precision, sentences)).collect()
    }

    fn start(
        &self,
        hosts: &[Option<&'a HostModel>],
        sources: &[&[usize]],
        cores: usize,
    ) -> (Ensemble<Fastest<'a>>, Vec<Rows>) {
        let start = |((model, _), host): (&(&'a Seq2Seq, &LaidOut), &Option<&'a HostModel>)| {
            Fastest::start(model, *host, sources, cores, self.device)
        };
        let (steppers, states) = self.members.iter().zip(hosts).map(start).unzip();
        (Ensemble::new(steppers, self.mix), states)
    }
}

/// The most rows that a sentence needs.
///
/// # Errors
/// Phrases with more tokens than there may be beams.
fn rows(inputs: &[Input<'_>], config: &SearchConfig, n_best: usize) -> Result<usize> {
    if config.method == Method::Sample {
        return Ok(n_best);
    }
    let mut most = config.beam;
    for input in inputs {
        let tokens: usize = input.constraints.iter().map(Phrase::len).sum();
        let rows = config.beam.saturating_mul(1 + tokens);
        if tokens > 0 && rows > MOST_LIVE {
            return Err(Error::Model(format!(
                "sentence {}: the phrases that it must hold have {tokens} tokens, and with a beam of {} there may be {}: \
                 ask for less, or search with a narrower beam",
                input.number + 1,
                config.beam,
                MOST_LIVE / config.beam - 1
            )));
        }
        most = most.max(rows);
    }
    Ok(most)
}

/// What search is told about a sentence.
fn task<'a>(input: &Input<'a>, config: &SearchConfig) -> Task<'a> {
    let words = input.source.len().saturating_sub(1);
    Task {
        words,
        least: config.least(words),
        most: config.limit(words),
        prefix: input.prefix,
        constraints: input.constraints,
        number: input.number,
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
