//! The beams of one sentence: a single one, or one for each group of diverse beam search, or one for each number of phrase
//! tokens that are written (grid beam search). Each finds its best ways to go on.

use super::constraints::Progress;
use super::live::{Candidate, Live, Said};
use super::rules::Rules;
use super::{SearchConfig, Task};

/// The beams of one sentence.
pub(super) enum Lanes<'a> {
    /// Plain beam search.
    One { width: usize },
    /// Vijayakumar et al. 2016, "Diverse beam search", algorithm 1 with the Hamming distance: the beam is dealt to groups, and a
    /// token costs a group `diversity` for each time that the groups before it take it in the same step. The end of the sentence
    /// costs nothing. What is found is ranked as always.
    Groups { count: usize, width: usize, diversity: f64 },
    /// Grid beam search ([`super::constraints`]).
    Grid { phrases: &'a [Vec<usize>], width: usize },
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
            Self::Grid { phrases, .. } => 1 + phrases.iter().map(Vec::len).sum::<usize>(),
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
            Self::Grid { phrases, .. } => live.progress.tokens(phrases),
            Self::One { .. } | Self::Groups { .. } => 0,
        }
    }

    /// A beam's best ways to go on, best first; `taken` are the tokens that the beams before it have taken in this step.
    pub fn candidates(
        &self,
        lane: usize,
        live: &[Live],
        rules: &Rules<'_>,
        said: &Said<'_>,
        taken: &[usize],
    ) -> Vec<Candidate> {
        let (width, cost, phrases): (usize, f64, &[Vec<usize>]) = match self {
            Self::One { width } => (*width, 0.0, &[]),
            Self::Groups { width, diversity, .. } => (*width, *diversity, &[]),
            Self::Grid { phrases, width } => (*width, 0.0, phrases),
        };
        let mut best = Best { candidates: Vec::with_capacity(width + 1), width };
        for (from, hypothesis) in live.iter().enumerate() {
            let here = hypothesis.lane == lane;
            // A phrase token leads one beam further.
            if !here && (phrases.is_empty() || hypothesis.lane + 1 != lane) {
                continue;
            }
            let ways = hypothesis.progress.ways(phrases);
            let next = rules.after(&hypothesis.tokens);
            let row = Row { said, from, log_prob: hypothesis.log_prob };
            if let Some(token) = next.forced {
                if here {
                    best.offer(row.candidate(token, None));
                }
                continue;
            }
            for (token, progress) in &ways {
                if progress.tokens(phrases) == lane {
                    best.offer(row.candidate(*token, Some(progress.clone())));
                }
            }
            if here && !hypothesis.progress.is_inside() {
                // A phrase of one token is written when its token is.
                let writes_phrase = |token| ways.iter().any(|(way, to)| *way == token && !to.is_inside());
                let costs = |token| cost * taken.iter().filter(|&&other| other == token).count() as f64;
                row.offer_all(&mut best, costs, |token| next.allows(token) && !writes_phrase(token));
            }
        }
        best.candidates
    }
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
