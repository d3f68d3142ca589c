//! The beams of one sentence: a single one, or one for each group of diverse beam search, or one for each number of phrase
//! tokens that are written (grid beam search). Each finds its best ways to go on.

use super::constraints::{Onward, Progress};
use super::live::{Candidate, Live, Said};
use super::rules::{Next, Rules};
use super::{Phrase, SearchConfig, Task};

/// The beams of one sentence.
pub(super) enum Lanes<'a> {
    /// Plain beam search.
    One { width: usize },
    /// Vijayakumar et al. 2016, "Diverse beam search", algorithm 1 with the Hamming distance: the beam is dealt to groups, and a
    /// token costs a group `diversity` for each time that the groups before it take it in the same step. The end of the sentence
    /// costs nothing. What is found is ranked as always.
    Groups { count: usize, width: usize, diversity: f64 },
    /// Grid beam search ([`super::constraints`]).
    Grid { phrases: &'a [Phrase], width: usize },
}

impl<'a> Lanes<'a> {
    pub fn new(config: &SearchConfig, task: &Task<'a>) -> Self {
        let width = config.beam;
        match (task.constraints, config.groups) {
            ([], 0 | 1) => Self::One { width },
            ([], count) => Self::Groups { count, width: (width / count).max(1), diversity: config.diversity },
            (phrases, _) => Self::Grid { phrases, width },
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        match self {
            Self::One { .. } => 1,
            Self::Groups { count, .. } => *count,
            Self::Grid { phrases, .. } => 1 + phrases.iter().map(Phrase::len).sum::<usize>(),
        }
    }

    /// Those that hold the empty hypothesis at first.
    pub fn first(&self) -> std::ops::Range<usize> {
        match self {
            Self::Groups { count, .. } => 0..*count,
            Self::One { .. } | Self::Grid { .. } => 0..1,
        }
    }

    /// How much further than others a hypothesis is, whatever its score.
    pub fn standing(&self, live: &Live) -> usize {
        match self {
            Self::Grid { phrases, .. } => live.progress.standing(phrases),
            Self::One { .. } | Self::Groups { .. } => 0,
        }
    }

    /// Whether hypotheses of a beam stand in the order of their log-probabilities, so that what can't win may be given up
    /// alone: it stands behind all that can. In groups what it writes costs others.
    pub fn in_order(&self) -> bool {
        !matches!(self, Self::Groups { .. })
    }

    /// What may follow live hypotheses.
    pub fn open<'b>(&self, live: &'b [Live], rules: &'b Rules<'b>) -> Vec<Open<'b>> {
        let phrases = match self {
            Self::Grid { phrases, .. } => *phrases,
            Self::One { .. } | Self::Groups { .. } => &[],
        };
        let open = |live: &'b Live| {
            let next = rules.after(&live.tokens);
            // What is forced comes first, whatever phrases want.
            let onward = if next.forced.is_some() { Vec::new() } else { live.progress.onward(phrases) };
            Open { live, next, onward }
        };
        live.iter().map(open).collect()
    }

    /// A beam's best ways to go on, best first; `taken` are the tokens that the beams before it have taken in this step.
    pub fn candidates(&self, lane: usize, open: &[Open<'_>], said: &Said<'_>, taken: &[usize]) -> Vec<Candidate> {
        let (width, cost) = match self {
            Self::Groups { width, diversity, .. } => (*width, *diversity),
            Self::One { width } | Self::Grid { width, .. } => (*width, 0.0),
        };
        let mut best = Best { candidates: Vec::with_capacity(width + 1), width };
        for (from, Open { live, next, onward }) in open.iter().enumerate() {
            let row = Row { said, from, log_prob: live.log_prob };
            // A phrase's token leads into a beam further on.
            for onward in onward.iter().filter(|onward| onward.standing == lane) {
                best.offer(row.candidate(onward.token, Some(onward.to.clone())));
            }
            if live.lane != lane || live.progress.is_inside() {
                continue;
            }
            if let Some(token) = next.forced {
                best.offer(row.candidate(token, None));
                continue;
            }
            // A phrase of one token is written when its token is.
            let writes_phrase = |token| onward.iter().any(|it| it.token == token && !it.to.is_inside());
            let costs = |token| cost * taken.iter().filter(|&&other| other == token).count() as f64;
            row.offer_all(&mut best, costs, |token| next.allows(token) && !writes_phrase(token));
        }
        best.candidates
    }
}

/// A live hypothesis and what may follow it.
pub(super) struct Open<'a> {
    live: &'a Live,
    next: Next<'a>,
    onward: Vec<Onward>,
}

/// What the model says after one hypothesis.
struct Row<'a> {
    said: &'a Said<'a>,
    from: usize,
    log_prob: f64,
}

impl Row<'_> {
    fn candidate(&self, token: usize, progress: Option<Progress>) -> Candidate {
        let log_prob = self.log_prob + f64::from(self.said.log_probs.get(self.said.first + self.from, token));
        Candidate { from: self.from, token, log_prob, rank: log_prob, progress }
    }

    /// Offers every token that may come. What it costs is never less than nothing.
    fn offer_all(&self, best: &mut Best, costs: impl Fn(usize) -> f64, may: impl Fn(usize) -> bool) {
        for block in self.said.log_probs.blocks(self.said.first + self.from) {
            // Most blocks hold nothing that is good enough. What is no number is never better.
            if self.log_prob + f64::from(block.largest) <= best.bar() {
                continue;
            }
            for (token, log_prob) in block.tokens() {
                let log_prob = self.log_prob + f64::from(log_prob);
                if log_prob > best.bar() && may(token) {
                    let rank = log_prob - costs(token);
                    best.offer(Candidate { from: self.from, token, log_prob, rank, progress: None });
                }
            }
        }
    }
}

/// The best candidates so far, best first. All have the same length, so that no length penalty can change their order.
struct Best {
    candidates: Vec<Candidate>,
    width: usize,
}

impl Best {
    /// What a candidate must be better than.
    fn bar(&self) -> f64 {
        self.candidates.get(self.width - 1).map_or(f64::NEG_INFINITY, |worst| worst.rank)
    }

    fn offer(&mut self, candidate: Candidate) {
        if candidate.rank > self.bar() {
            let place = self.candidates.partition_point(|better| better.rank >= candidate.rank);
            self.candidates.insert(place, candidate);
            self.candidates.truncate(self.width);
        }
    }
}
