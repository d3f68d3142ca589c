//! Hypotheses that are being written, and ways to go on with them.

use std::rc::Rc;

use super::constraints::Progress;
use super::ranking::Ranking;
use super::{Hypothesis, Look};
use crate::kernels::log_probs::LogProbs;

/// A hypothesis that is still being written; its row in the state is its place in the batch.
pub(super) struct Live {
    pub tokens: Vec<usize>,
    pub log_prob: f64,
    /// Shared with the hypotheses that began alike.
    attention: Vec<Rc<Look>>,
    /// Which of the sentence's beams it stands in.
    pub lane: usize,
    pub progress: Progress,
}

impl Live {
    /// Nothing yet.
    pub fn empty(lane: usize) -> Self {
        Self { tokens: Vec::new(), log_prob: 0.0, attention: Vec::new(), lane, progress: Progress::default() }
    }

    /// The token that was written last, if any was.
    pub fn last(&self) -> Option<usize> {
        self.tokens.last().copied()
    }

    /// The same one token later.
    pub fn with(&self, candidate: Candidate, lane: usize, look: Option<&Rc<Look>>) -> Self {
        Self {
            tokens: self.tokens.iter().copied().chain([candidate.token]).collect(),
            log_prob: candidate.log_prob,
            attention: self.attention.iter().chain(look).cloned().collect(),
            lane,
            progress: candidate.progress.unwrap_or_else(|| self.progress.clone()),
        }
    }

    /// As a translation that has ended, its last step having looked at `look`.
    pub fn ended(&self, log_prob: f64, look: Option<&Rc<Look>>, ranking: Ranking) -> Hypothesis {
        let score = ranking.score(log_prob, self.tokens.len() + 1, &self.attention);
        let attention = self.attention.iter().chain(look).map(|look| look.as_ref().clone()).collect();
        Hypothesis { tokens: self.tokens.clone(), log_prob, score, attention, cut: false }
    }

    /// As a translation that could not end.
    pub fn cut(&self, ranking: Ranking) -> Hypothesis {
        let score = ranking.score(self.log_prob, self.tokens.len(), &self.attention);
        let attention = self.attention.iter().map(|look| look.as_ref().clone()).collect();
        Hypothesis { tokens: self.tokens.clone(), log_prob: self.log_prob, score, attention, cut: true }
    }
}

/// What the model says about a sentence's rows, which begin at `first`.
pub(super) struct Said<'a> {
    pub log_probs: &'a LogProbs,
    pub first: usize,
    pub attention: &'a [Look],
}

/// A way to go on: from which live hypothesis, with which token.
#[derive(Clone)]
pub(super) struct Candidate {
    pub from: usize,
    pub token: usize,
    pub log_prob: f64,
    /// What it is compared by: its log-probability, less what its token costs its group.
    pub rank: f64,
    /// How far it is with its phrases, where this token goes on with one.
    pub progress: Option<Progress>,
}
