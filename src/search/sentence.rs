//! One sentence's beam search, step by step.
//!
//! At each step the best k ways to go on are taken, in the order of their score, ties to the lower token. Those that end the
//! sentence are finished, the others live on and bear the next step's k. So a beam of 1 is greedy.
//!
//! What lives can't become more probable. Where even the best that it could reach – if the model were sure of all that is to
//! come, at the length that suits it best – is no better than the translations that are asked for and have ended, it is
//! given up; with nothing left the sentence is done. (What can't win has only descendants that can't, and stands behind all
//! that can, so that giving it up changes nothing else. In groups, where a token costs more that others take, it would: there
//! all live until none can win.) fairseq and others are done with any k that ended: of a model that is sure of every token, the
//! second best way to go on is often to end, and after k such steps they would return k stumps.
//!
//! At its length limit a sentence is done too. Where nothing has ended until then, what lives is taken as it is, and told to
//! be cut.

use std::rc::Rc;

use super::lanes::Lanes;
use super::live::{Live, Said};
use super::ranking::Ranking;
use super::rules::Rules;
use super::{Hypothesis, Look, Request, Task};

/// One sentence's search.
pub(super) struct Sentence<'a> {
    live: Vec<Live>,
    finished: Vec<Hypothesis>,
    lanes: Lanes<'a>,
    rules: Rules<'a>,
    ranking: Ranking,
    most: usize,
    n_best: usize,
    end: usize,
}

/// What a step did.
#[derive(Debug, Default)]
pub(super) struct Advance {
    /// The ways to go on that were taken.
    pub taken: Vec<Taken>,
    /// Those of them that live on, in the order of their rows.
    pub alive: Vec<usize>,
}

/// A way to go on that was taken: from which row, among the sentence's own, with which token.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taken {
    pub row: usize,
    pub token: usize,
    pub log_prob: f64,
}

impl Advance {
    /// The row, among the sentence's own, that each live hypothesis continues.
    pub fn parents(&self) -> impl Iterator<Item = usize> + '_ {
        self.alive.iter().map(|&i| self.taken[i].row)
    }
}

impl<'a> Sentence<'a> {
    pub fn new(request: &Request<'a>, task: &Task<'a>, end: usize) -> Self {
        let config = request.config;
        let lanes = Lanes::new(config, task);
        let most = task.limit();
        let mut sentence = Self {
            live: lanes.first().map(Live::empty).collect(),
            finished: Vec::new(),
            lanes,
            rules: Rules::new(*task, request.forbidden, end, config.no_repeat_ngram),
            ranking: Ranking::new(config, task.words),
            most,
            n_best: request.n_best.max(1),
            end,
        };
        if most == 0 {
            sentence.give_up();
        }
        sentence
    }

    pub fn live(&self) -> &[Live] {
        &self.live
    }

    /// Takes one step.
    pub fn advance(&mut self, said: &Said<'_>) -> Advance {
        let looks: Vec<Rc<Look>> = said.attention.iter().cloned().map(Rc::new).collect();
        let mut next: Vec<(usize, Live)> = Vec::new();
        let mut taken: Vec<Taken> = Vec::new();
        let mut written = Vec::new();
        let open = self.lanes.open(&self.live, &self.rules);
        for lane in 0..self.lanes.count() {
            let candidates = self.lanes.candidates(lane, &open, said, &written);
            for candidate in candidates {
                let (from, parent) = (&self.live[candidate.from], candidate.from);
                taken.push(Taken { row: parent, token: candidate.token, log_prob: candidate.log_prob });
                if candidate.token == self.end {
                    let ended = from.ended(candidate.log_prob, looks.get(parent), self.ranking);
                    finish(&mut self.finished, ended);
                    // What is behind those that are asked for stays there.
                    self.finished.truncate(self.n_best);
                } else {
                    written.push(candidate.token);
                    next.push((taken.len() - 1, from.with(candidate, lane, looks.get(parent))));
                }
            }
        }
        if next.is_empty() && self.finished.is_empty() {
            // No way to go on: what there is, is taken. Where the model has said no number, that goes for its probability too.
            if !(0..self.live.len()).any(|row| said.log_probs.has_numbers(said.first + row)) {
                self.live.iter_mut().for_each(|live| live.log_prob = f64::NAN);
            }
            self.give_up();
            return Advance { taken, alive: Vec::new() };
        }
        let bar = self.bar();
        if self.lanes.in_order() || !next.iter().any(|(_, live)| self.can_reach(live) > bar) {
            next.retain(|(_, live)| self.can_reach(live) > bar);
        }
        let alive;
        (alive, self.live) = next.into_iter().unzip();
        if self.live.first().is_some_and(|live| live.tokens.len() >= self.most) {
            self.give_up();
            return Advance { taken, alive: Vec::new() };
        }
        Advance { taken, alive }
    }

    /// What a hypothesis must be better than to be among those that are asked for.
    fn bar(&self) -> f64 {
        self.finished.get(self.n_best - 1).map_or(f64::NEG_INFINITY, |worst| worst.score)
    }

    fn can_reach(&self, live: &Live) -> f64 {
        let least = live.tokens.len() + 1;
        self.ranking.bound(live.log_prob, least, self.most.max(least))
    }

    /// Goes no further; where nothing has ended, what lives is cut, of several beams the one that is furthest with its phrases.
    fn give_up(&mut self) {
        let live = std::mem::take(&mut self.live);
        if !self.finished.is_empty() {
            return;
        }
        let furthest = live.iter().map(|live| self.lanes.standing(live)).max();
        for live in live.iter().filter(|live| Some(self.lanes.standing(live)) == furthest) {
            finish(&mut self.finished, live.cut(self.ranking));
        }
    }

    /// The translations that are asked for, best first.
    pub fn ranked(mut self) -> Vec<Hypothesis> {
        self.finished.truncate(self.n_best);
        self.finished
    }
}

/// Puts a translation where it belongs; of equals the one that was found first stays first, and what was found by several
/// groups stands there once.
fn finish(finished: &mut Vec<Hypothesis>, ended: Hypothesis) {
    if finished.iter().all(|known| known.tokens != ended.tokens) {
        // What is no number stands last.
        let place = finished.partition_point(|better| better.score >= ended.score || ended.score.is_nan());
        finished.insert(place, ended);
    }
}
