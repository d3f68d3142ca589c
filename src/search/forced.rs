//! What a model thinks of translations that are given: scores and attention, reference forced.

use serde::{Deserialize, Serialize};

use super::{Look, Stepper};

/// One given translation's score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forced {
    /// The log-probability of each token and of the end.
    pub log_probs: Vec<f64>,
    /// Where each step looked, the end included; empty without attention.
    pub attention: Vec<Look>,
}

impl Forced {
    /// The log-probability of the whole.
    pub fn log_prob(&self) -> f64 {
        self.log_probs.iter().sum()
    }
}

/// Scores `targets` (ids without end), one for each row of `state`, by the steps that search takes.
pub fn forced<S: Stepper>(stepper: &mut S, state: S::State, targets: &[&[usize]]) -> Vec<Forced> {
    let mut scored: Vec<Forced> =
        targets.iter().map(|_| Forced { log_probs: Vec::new(), attention: Vec::new() }).collect();
    let mut running: Vec<usize> = (0..targets.len()).collect();
    let mut state = state;
    if running.is_empty() {
        return scored;
    }
    for t in 0.. {
        let begin = stepper.begin();
        let last: Vec<usize> = running.iter().map(|&i| if t == 0 { begin } else { targets[i][t - 1] }).collect();
        let step = stepper.step(state, &last);
        let end = stepper.end();
        for (row, &i) in running.iter().enumerate() {
            let token = targets[i].get(t).copied().unwrap_or(end);
            scored[i].log_probs.push(f64::from(step.log_probs.get(row, token)));
            scored[i].attention.extend(step.attention.get(row).cloned());
        }
        let keep: Vec<usize> = (0..running.len()).filter(|&row| t < targets[running[row]].len()).collect();
        state = match keep.as_slice() {
            [] => break,
            keep if keep.len() == running.len() => step.state,
            keep => stepper.select(step.state, keep),
        };
        running = keep.into_iter().map(|row| running[row]).collect();
    }
    scored
}
