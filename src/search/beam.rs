//! Beam search over a batch of sentences: the rows of all that lives go through the model together. What becomes of one
//! sentence is `sentence.rs`'s business.

use super::live::Said;
use super::sentence::{Advance, Sentence};
use super::{Hypothesis, Request, Stepper};

/// The best translations of every sentence, best first. `state` has one row a sentence.
pub fn beam_search<S: Stepper>(stepper: &mut S, state: S::State, request: &Request<'_>) -> Vec<Vec<Hypothesis>> {
    watched(stepper, state, request, |_| {})
}

/// The same, each step of each sentence shown to somebody.
pub(super) fn watched<S: Stepper>(
    stepper: &mut S,
    state: S::State,
    request: &Request<'_>,
    mut watch: impl FnMut(&Advance),
) -> Vec<Vec<Hypothesis>> {
    let end = stepper.end();
    let mut sentences: Vec<Sentence<'_>> =
        request.tasks.iter().map(|task| Sentence::new(request, task, end)).collect();
    // At first every sentence has one row; it may need one for each group, or none where its limit is 0.
    let first: Vec<usize> =
        sentences.iter().enumerate().flat_map(|(i, sentence)| vec![i; sentence.live().len()]).collect();
    let mut state = moved(stepper, state, &first, sentences.len());
    while let Some(before) = state.take() {
        let begin = stepper.begin();
        let last: Vec<usize> = sentences
            .iter()
            .flat_map(|sentence| sentence.live().iter().map(|live| live.last().unwrap_or(begin)))
            .collect();
        let step = stepper.step(before, &last);
        let (mut next_rows, mut at) = (Vec::with_capacity(last.len()), 0);
        for sentence in &mut sentences {
            let count = sentence.live().len();
            let attention = if step.attention.is_empty() { &[] } else { &step.attention[at..at + count] };
            let advance = sentence.advance(&Said { log_probs: &step.log_probs, first: at, attention });
            next_rows.extend(advance.parents().map(|row| at + row));
            watch(&advance);
            at += count;
        }
        state = moved(stepper, step.state, &next_rows, at);
    }
    sentences.into_iter().map(|sentence| sentence.ranked()).collect()
}

/// Some of a state's rows, of which there are `count`; nothing where none are left.
fn moved<S: Stepper>(stepper: &S, state: S::State, rows: &[usize], count: usize) -> Option<S::State> {
    let unmoved = rows.len() == count && rows.iter().enumerate().all(|(i, &row)| i == row);
    match rows {
        [] => None,
        _ if unmoved => Some(state),
        rows => Some(stepper.select(state, rows)),
    }
}

#[cfg(test)]
#[path = "beam_tests.rs"]
mod tests;
