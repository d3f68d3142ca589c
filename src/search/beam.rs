//! Beam search over a batch of sentences.
//!
//! At each step the best 2k continuations of a sentence are looked at, in the order of their score, ties
//! to the lower token. Those that end the sentence and stand among the first k are finished; the first k
//! others live on. A sentence is done with k finished hypotheses, the best of which is at least as good as what lives
//! would be if it ended where it is (then its rows leave the batch), or at its length limit. There what still lives is
//! taken as it is and marked as cut, unless k have ended: who writes in circles is sure of every word.
//!
//! fairseq and others are done with any k: of a model that is sure of every token, the second best way to go on is often to
//! end, and after k such steps the search would be over with k stumps, while the sure one still lives.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::coverage_penalty::coverage_penalty;
use super::{Hypothesis, LengthPenalty, Look, Stepper};
use crate::error::{Error, Result};
use crate::kernels::Precision;
use crate::kernels::log_probs::LogProbs;

/// How translations are searched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// k, hypotheses that live at a time; 1 is greedy.
    pub beam: usize,
    /// Sentences in a batch.
    pub batch: usize,
    /// What makes lengths comparable.
    pub length_penalty: LengthPenalty,
    /// β, what it costs to leave source words unseen; 0 for nothing. Needs attention.
    pub coverage_penalty: f64,
    /// The most tokens of a translation: this many for each source token …
    pub max_ratio: f64,
    /// … and this many more.
    pub max_extra: usize,
    /// The most tokens of a source; longer ones are refused.
    pub max_source: usize,
    /// In how many bits weights are multiplied with. 8 is for what the stepper on slices takes: one decoder layer with the
    /// reset after, on flex, and a single head that looks everywhere, softly, by a product or an additive score (or
    /// nothing); others take 32.
    pub precision: Precision,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            beam: 5,
            batch: 64,
            length_penalty: LengthPenalty::default(),
            coverage_penalty: 0.0,
            max_ratio: 2.0,
            max_extra: 10,
            max_source: 1000,
            precision: Precision::F32,
        }
    }
}

impl SearchConfig {
    /// The most tokens for a source of `tokens`, the end of the sentence not counted.
    pub fn limit(&self, tokens: usize) -> usize {
        ((tokens as f64 * self.max_ratio) as usize).saturating_add(self.max_extra)
    }

    /// Refuses what can't be searched with.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        let rules = [
            ((1..=MOST_BEAM).contains(&self.beam), format!("beam must be 1 to {MOST_BEAM}")),
            (self.batch > 0, "batch must be at least 1".into()),
            (COVERAGE_PENALTIES.contains(&self.coverage_penalty), "coverage_penalty must be 0 to 100".into()),
            ((0.0..=100.0).contains(&self.max_ratio), "max_ratio must be 0 to 100".into()),
            (self.max_source > 0, "max_source must be at least 1".into()),
        ];
        match rules.into_iter().find(|(held, _)| !held) {
            Some((_, rule)) => Err(Error::Config(format!("search.{rule}"))),
            None => Ok(()),
        }
    }
}

/// What β may be.
pub const COVERAGE_PENALTIES: std::ops::RangeInclusive<f64> = 0.0..=100.0;

/// The most hypotheses of a sentence that may live at a time.
pub const MOST_BEAM: usize = 1000;

/// What the search of one batch is told.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// k.
    pub beam: usize,
    /// What makes lengths comparable.
    pub length_penalty: LengthPenalty,
    /// β of [`coverage_penalty()`].
    pub coverage_penalty: f64,
    /// How many positions each source has.
    pub sources: &'a [usize],
    /// The most tokens of each sentence; their number is the number of sentences.
    pub limits: &'a [usize],
    /// Tokens that are never written (padding, begin, unknown).
    pub forbidden: &'a [usize],
    /// The fewest tokens of a translation.
    pub min_length: usize,
}

/// A hypothesis that is still being written; its row in the state is its place in the batch.
struct Live {
    tokens: Vec<usize>,
    log_prob: f64,
    /// Shared with the hypotheses that began alike.
    attention: Vec<Rc<Look>>,
}

impl Live {
    /// A translation of so many tokens and these looks, the end counted if it was reached.
    fn end(&self, log_prob: f64, length: usize, looks: &[Rc<Look>], ranking: Ranking, cut: bool) -> Hypothesis {
        let score = ranking.score(log_prob, length, looks);
        let attention = looks.iter().map(|look| look.as_ref().clone()).collect();
        Hypothesis { tokens: self.tokens.clone(), log_prob, score, attention, cut }
    }
}

/// What a sentence's translations are ranked by.
#[derive(Clone, Copy)]
struct Ranking {
    length_penalty: LengthPenalty,
    coverage_penalty: f64,
    source: usize,
}

impl Ranking {
    fn score(self, log_prob: f64, length: usize, looks: &[Rc<Look>]) -> f64 {
        let lost = coverage_penalty(self.coverage_penalty, looks.iter().map(Rc::as_ref), self.source);
        self.length_penalty.score(log_prob, length) + lost
    }
}

/// One sentence's search.
struct Sentence {
    live: Vec<Live>,
    finished: Vec<Hypothesis>,
    limit: usize,
    ranking: Ranking,
}

/// A way to go on: from which live hypothesis, with which token.
#[derive(Clone, Copy)]
struct Candidate {
    from: usize,
    token: usize,
    log_prob: f64,
}

/// Puts a candidate where it belongs among the best `most`. All have the same length here, so the length penalty can't
/// change their order.
fn insert(best: &mut Vec<Candidate>, candidate: Candidate, most: usize) {
    let place = best.partition_point(|better| better.log_prob >= candidate.log_prob);
    best.insert(place, candidate);
    best.truncate(most);
}

/// Hypotheses of every sentence, best first, at most k each. `state` has one row a sentence.
pub fn beam_search<S: Stepper>(stepper: &mut S, state: S::State, request: &Request<'_>) -> Vec<Vec<Hypothesis>> {
    let mut sentences: Vec<Sentence> = (0..request.limits.len()).map(|i| Sentence::new(request, i)).collect();
    let mut state = Some(state);
    sentences.iter_mut().for_each(|sentence| sentence.cut_at_limit(request.beam));
    // At first every sentence has one row; those with a limit of 0 have none left.
    let running: Vec<usize> = (0..sentences.len()).filter(|&i| !sentences[i].live.is_empty()).collect();
    if running.len() < sentences.len() {
        state = state.filter(|_| !running.is_empty()).map(|state| stepper.select(state, &running));
    }
    while let Some(before) = state.take_if(|_| live(&sentences).next().is_some()) {
        let last: Vec<usize> = live(&sentences).map(|hypothesis| last_token(stepper, hypothesis)).collect();
        let step = stepper.step(before, &last);
        let (mut next_rows, mut at) = (Vec::with_capacity(last.len()), 0);
        for sentence in &mut sentences {
            let count = sentence.live.len();
            let attention = if step.attention.is_empty() { &[] } else { &step.attention[at..at + count] };
            let parents = sentence.advance(&step.log_probs, at, attention, stepper.end(), request);
            next_rows.extend(parents.into_iter().map(|parent| at + parent));
            at += count;
        }
        let unmoved = next_rows.len() == at && next_rows.iter().enumerate().all(|(i, &row)| i == row);
        state = match next_rows.as_slice() {
            [] => None,
            _ if unmoved => Some(step.state),
            rows => Some(stepper.select(step.state, rows)),
        };
    }
    sentences.into_iter().map(|sentence| sentence.ranked(request.beam)).collect()
}

fn live(sentences: &[Sentence]) -> impl Iterator<Item = &Live> {
    sentences.iter().flat_map(|sentence| &sentence.live)
}

fn last_token<S: Stepper>(stepper: &S, hypothesis: &Live) -> usize {
    hypothesis.tokens.last().copied().unwrap_or_else(|| stepper.begin())
}

impl Sentence {
    fn new(request: &Request<'_>, i: usize) -> Self {
        let empty = Live { tokens: Vec::new(), log_prob: 0.0, attention: Vec::new() };
        let ranking = Ranking {
            length_penalty: request.length_penalty,
            coverage_penalty: request.coverage_penalty,
            source: request.sources[i],
        };
        Self { live: vec![empty], finished: Vec::new(), limit: request.limits[i], ranking }
    }

    /// Takes one step, its rows beginning at `first`; returns the row, among this sentence's, that each new live
    /// hypothesis continues.
    fn advance(
        &mut self,
        log_probs: &LogProbs,
        first: usize,
        attention: &[Look],
        end: usize,
        request: &Request<'_>,
    ) -> Vec<usize> {
        let candidates = self.candidates(log_probs, first, end, request);
        let looked: Vec<Rc<Look>> = attention.iter().cloned().map(Rc::new).collect();
        let mut next = Vec::with_capacity(request.beam);
        let mut parents = Vec::with_capacity(request.beam);
        for (place, candidate) in candidates.into_iter().enumerate() {
            let (from, log_prob) = (&self.live[candidate.from], candidate.log_prob);
            let looked = || from.attention.iter().chain(looked.get(candidate.from)).cloned().collect::<Vec<_>>();
            if candidate.token == end {
                if place < request.beam {
                    let ended = from.end(log_prob, from.tokens.len() + 1, &looked(), self.ranking, false);
                    self.finished.push(ended);
                }
            } else if next.len() < request.beam {
                let tokens = from.tokens.iter().copied().chain([candidate.token]).collect();
                next.push(Live { tokens, log_prob, attention: looked() });
                parents.push(candidate.from);
            }
        }
        if next.is_empty() && self.finished.is_empty() {
            // No way to go on (a model that says NaN): what there is, is taken.
            self.cut();
            return Vec::new();
        }
        let done = self.finished.len() >= request.beam && !self.is_behind(&next);
        self.live = if done { Vec::new() } else { next };
        self.cut_at_limit(request.beam);
        parents.truncate(self.live.len());
        parents
    }

    /// Whether something that lives is better, as long as it is, than everything that has ended.
    fn is_behind(&self, live: &[Live]) -> bool {
        let best = self.finished.iter().map(|ended| ended.score).fold(f64::NEG_INFINITY, f64::max);
        let as_it_is = |live: &Live| self.ranking.score(live.log_prob, live.tokens.len(), &live.attention);
        live.iter().any(|live| as_it_is(live) > best)
    }

    /// The best 2k ways to go on, best first.
    fn candidates(&self, log_probs: &LogProbs, first: usize, end: usize, request: &Request<'_>) -> Vec<Candidate> {
        let most = 2 * request.beam;
        let mut best: Vec<Candidate> = Vec::with_capacity(most + 1);
        let worst = |best: &[Candidate]| best.get(most - 1).map_or(f64::NEG_INFINITY, |worst| worst.log_prob);
        for (from, hypothesis) in self.live.iter().enumerate() {
            let too_short = hypothesis.tokens.len() < request.min_length;
            let may = |token: usize| !(request.forbidden.contains(&token) || token == end && too_short);
            for block in log_probs.blocks(first + from) {
                // What is no number is never better.
                let mut bar = worst(&best);
                // Most blocks hold nothing that is good enough.
                if hypothesis.log_prob + f64::from(block.largest) > bar {
                    for (token, log_prob) in block.tokens() {
                        let log_prob = hypothesis.log_prob + f64::from(log_prob);
                        if log_prob > bar && may(token) {
                            insert(&mut best, Candidate { from, token, log_prob }, most);
                            bar = worst(&best);
                        }
                    }
                }
            }
        }
        best
    }

    /// Goes no further once what lives has as many tokens as it may have.
    fn cut_at_limit(&mut self, beam: usize) {
        if self.live.first().is_none_or(|hypothesis| hypothesis.tokens.len() < self.limit) {
            return;
        }
        if self.finished.len() < beam {
            self.cut();
        }
        self.live.clear();
    }

    fn cut(&mut self) {
        for live in std::mem::take(&mut self.live) {
            self.finished.push(live.end(live.log_prob, live.tokens.len(), &live.attention, self.ranking, true));
        }
    }

    fn ranked(mut self, beam: usize) -> Vec<Hypothesis> {
        // Stable: of equals the one that was found first stays first.
        self.finished.sort_by(|a, b| b.score.total_cmp(&a.score));
        self.finished.truncate(beam);
        self.finished
    }
}

#[cfg(test)]
#[path = "beam_tests.rs"]
mod tests;
