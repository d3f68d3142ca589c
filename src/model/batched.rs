//! Many sentences through the model: sorted by length into batches, answered in the order asked.

use burn::tensor::Device;

use super::host::HostModel;
use super::seq2seq::{Seq2Seq, SourceBatch};
use super::stepper::ModelStepper;
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
    let host = HostModel::new(model);
    in_batches(sources, batch, |batch| {
        let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
        let limits: Vec<usize> = chosen.iter().map(|source| config.limit(source.len())).collect();
        let request = Request {
            beam: config.beam,
            length_penalty: config.length_penalty,
            limits: &limits,
            forbidden: &FORBIDDEN,
            min_length: 0,
        };
        let mut found = match &host {
            Some(host) => {
                let (mut stepper, state) = host.start(&SourceBatch::new(&chosen, device));
                beam_search(&mut stepper, state, &request)
            }
            None => {
                let mut stepper = ModelStepper::new(model, device);
                let state = stepper.start(&chosen);
                beam_search(&mut stepper, state, &request)
            }
        };
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
    let host = HostModel::new(model);
    in_batches(sources, batch, |batch| {
        let chosen: Vec<&[usize]> = batch.iter().map(|&i| sources[i]).collect();
        let targets: Vec<&[usize]> = batch.iter().map(|&i| targets[i]).collect();
        match &host {
            Some(host) => {
                let (mut stepper, state) = host.start(&SourceBatch::new(&chosen, device));
                forced(&mut stepper, state, &targets)
            }
            None => {
                let mut stepper = ModelStepper::new(model, device);
                let state = stepper.start(&chosen);
                forced(&mut stepper, state, &targets)
            }
        }
    })
}

/// Calls `work` with the places of sentences of like length; puts the answers where they belong.
fn in_batches<T>(sources: &[&[usize]], size: usize, mut work: impl FnMut(&[usize]) -> Vec<T>) -> Vec<T> {
    let mut order: Vec<usize> = (0..sources.len()).collect();
    // Longest first: if memory does not suffice, it shows at once.
    order.sort_by_key(|&i| std::cmp::Reverse(sources[i].len()));
    let mut answers: Vec<Option<T>> = sources.iter().map(|_| None).collect();
    for batch in order.chunks(size.max(1)) {
        for (&place, answer) in batch.iter().zip(work(batch)) {
            answers[place] = Some(answer);
        }
    }
    answers.into_iter().flatten().collect()
}
