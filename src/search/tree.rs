//! All that a beam search of one sentence takes up: what went on, what ended, what was given up.

use std::collections::HashSet;

use serde::Serialize;

use super::beam::watched;
use super::sentence::Advance;
use super::{Hypothesis, Request, Stepper};

/// A token that was taken up. Its place in the list is its number; its parent stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Branch {
    /// What it goes on from; nothing at the beginning.
    pub parent: Option<usize>,
    /// The token.
    pub token: usize,
    /// The sum of the log-probabilities from the beginning to here.
    pub log_prob: f64,
    /// What became of it.
    pub fate: Fate,
}

/// What becomes of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// It went on, or was cut at the length limit.
    GoesOn,
    /// It went on, and others went on better.
    Outrun,
    /// It is the end of a sentence.
    Ends,
    /// It could not win any more.
    GivenUp,
}

/// Searches for the translations of one sentence, which is the request's only task; also every branch, in the order of their steps.
pub fn beam_tree<S: Stepper>(
    stepper: &mut S,
    state: S::State,
    request: &Request<'_>,
) -> (Vec<Branch>, Vec<Hypothesis>) {
    let end = stepper.end();
    let (mut branches, mut rows): (Vec<Branch>, Vec<Option<usize>>) = (Vec::new(), vec![None]);
    let mut found = watched(stepper, state, request, |Advance { taken, alive }| {
        let first = branches.len();
        // Groups begin as several rows of nothing.
        let parent = |row: usize| rows.get(row).copied().flatten();
        branches.extend(taken.iter().enumerate().map(|(i, taken)| Branch {
            parent: parent(taken.row),
            token: taken.token,
            log_prob: taken.log_prob,
            fate: match taken.token {
                token if token == end => Fate::Ends,
                _ if alive.contains(&i) => Fate::GoesOn,
                _ => Fate::GivenUp,
            },
        }));
        rows = alive.iter().map(|&i| Some(first + i)).collect();
    });
    let found = found.pop().unwrap_or_default();
    let parents: HashSet<usize> = branches.iter().filter_map(|branch| branch.parent).collect();
    for (i, branch) in branches.iter_mut().enumerate() {
        if branch.fate == Fate::GoesOn && !parents.contains(&i) {
            branch.fate = Fate::Outrun;
        }
    }
    // What was cut at the limit went as far as it could.
    for cut in found.iter().filter(|hypothesis| hypothesis.cut) {
        if let Some(last) = place(&branches, &cut.tokens) {
            branches[last].fate = Fate::GoesOn;
        }
    }
    (branches, found)
}

/// The branch at the end of some tokens; of several, which groups have grown alike, the first.
pub fn place(branches: &[Branch], tokens: &[usize]) -> Option<usize> {
    let mut at: Vec<Option<usize>> = vec![None];
    for &token in tokens {
        let goes_on = |i: &usize| branches[*i].token == token && at.contains(&branches[*i].parent);
        at = (0..branches.len()).filter(goes_on).map(Some).collect();
    }
    at.first().copied().flatten()
}
