//! Many sentences through the model: sorted by length into batches, answered in the order asked.

use burn::tensor::Device;
use rayon::prelude::*;

use super::host::HostModel;
use super::seq2seq::{Seq2Seq, SourceBatch};
use super::stepper::ModelStepper;
use crate::kernels::Precision;
use crate::search::{Forced, Hypothesis, Request, SearchConfig, beam_search, forced};
use crate::text::{BOS, PAD, UNK};

/// Tokens that no translation may hold.
const FORBIDDEN: [usize; 3] = [PAD, BOS, UNK];

/// The beam up to which a batch is as large as the config says; wider ones share its rows.
const USUAL_BEAM: usize = 5;

/// Translates sources (ids with their end): for each at most `n_best` hypotheses, best first.
pub fn translate(
    model: &Seq2Seq,
    sources: &[&[usize]],
    config: &SearchConfig,
    n_best: usize,
    device: &Device,
) -> Vec<Vec<Hypothesis>> {
    let batch = config.batch * USUAL_BEAM / config.beam.max(USUAL_BEAM);
    let search = Search { model, host: HostModel::new(model, config.precision), device };
    in_batches(sources, batch, |batch, cores| {
        let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
        let limits: Vec<usize> = chosen.iter().map(|source| config.limit(source.len())).collect();
        let request = Request {
            beam: config.beam,
            length_penalty: config.length_penalty,
            limits: &limits,
            forbidden: &FORBIDDEN,
            min_length: 0,
        };
        let mut found = search.translate(&chosen, &request, cores);
        found.iter_mut().for_each(|hypotheses| hypotheses.truncate(n_best));
        found
    })
}

/// Scores given targets (ids without end) of sources (ids with their end), reference forced.
pub fn score(
    model: &Seq2Seq,
    sources: &[&[usize]],
    targets: &[&[usize]],
    batch: usize,
    device: &Device,
) -> Vec<Forced> {
    let search = Search { model, host: HostModel::new(model, Precision::F32), device };
    in_batches(sources, batch, |batch, cores| {
        let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
        let targets: Vec<&[usize]> = batch.iter().map(|&i| targets[i]).collect();
        search.force(&chosen, &targets, cores)
    })
}

/// A model with the stepper that is the fastest for it.
struct Search<'a> {
    model: &'a Seq2Seq,
    host: Option<HostModel<'a>>,
    device: &'a Device,
}

impl Search<'_> {
    fn translate(&self, sources: &[&[usize]], request: &Request<'_>, cores: usize) -> Vec<Vec<Hypothesis>> {
        if let Some(host) = &self.host {
            let (mut stepper, state) = host.start(&SourceBatch::new(sources, self.device), cores);
            return beam_search(&mut stepper, state, request);
        }
        let mut stepper = ModelStepper::new(self.model, self.device);
        let state = stepper.start(sources);
        beam_search(&mut stepper, state, request)
    }

    fn force(&self, sources: &[&[usize]], targets: &[&[usize]], cores: usize) -> Vec<Forced> {
        if let Some(host) = &self.host {
            let (mut stepper, state) = host.start(&SourceBatch::new(sources, self.device), cores);
            return forced(&mut stepper, state, targets);
        }
        let mut stepper = ModelStepper::new(self.model, self.device);
        let state = stepper.start(sources);
        forced(&mut stepper, state, targets)
    }
}

/// Calls `work` with the places of sentences of like length and the cores that a batch may use; puts the
/// answers where they belong. Where there are batches enough, each core takes whole ones: within a batch
/// cores would wait for each other at every step.
fn in_batches<T: Send>(
    sources: &[&[usize]],
    size: usize,
    work: impl Fn(&[usize], usize) -> Vec<T> + Sync,
) -> Vec<T> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    // Longest first: if memory does not suffice, it shows at once.
    order.sort_by_key(|&i| std::cmp::Reverse(sources[i].len()));
    let batches: Vec<&[usize]> = order.chunks(size.max(1)).collect();
    let cores = rayon::current_num_threads().div_ceil(batches.len().max(1));
    let found: Vec<Vec<T>> = batches.par_iter().with_max_len(1).map(|batch| work(batch, cores)).collect();
    let mut answers: Vec<Option<T>> = sources.iter().map(|_| None).collect();
    for (&place, answer) in batches.iter().copied().flatten().zip(found.into_iter().flatten()) {
        answers[place] = Some(answer);
    }
    answers.into_iter().flatten().collect()
}
