//! Attention in three steps: **score** how well the query matches each key, **normalise** the scores into
//! weights, **sum** the values by weight. The steps are written once, in [`Attention::attend`]. What varies are four
//! independent choices, any of which goes with any other:
//!
//! | choice | room | decides |
//! |---|---|---|
//! | score | [`score`] | how a query matches a key |
//! | window | [`window`] | where the decoder may look |
//! | choice | [`choice`] | how scores become weights |
//! | heads | [`heads`] | how many subspaces look at once |
//!
//! and, beside them, [`coverage`]: whether keys know how much they have been looked at.
//!
//! Letters: B sentences, T queries (target positions), S source positions, N heads, R = N · T looks at a sentence,
//! H query size, M memory size, K key size, C context size.

pub mod choice;
mod config;
pub mod coverage;
pub mod heads;
pub mod mask;
mod matcher;
mod memory;
pub mod score;
mod weights;
pub mod window;

use burn::module::Module;
use burn::tensor::{Tensor, assert_shape};

pub use choice::{ChoiceKind, Drawn};
pub use config::AttentionConfig;
pub use mask::SourceMask;
pub use memory::{Memory, Track};
pub use score::{Score, ScoreKind};
pub use weights::Weights;
pub use window::WindowKind;

use choice::Choice;
use coverage::Coverage;
use heads::Projections;
use window::Window;

/// The sizes that attention connects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// H, the size of a query (the decoder's state).
    pub query: usize,
    /// M, the size of a memory row (the encoder's output).
    pub memory: usize,
}

/// A learned way to look at the source, or (`none`) the lack of one.
#[derive(Module, Debug)]
pub struct Attention {
    /// The score function; without one every step sees the same summary of the source.
    pub score: Option<Score>,
    /// What makes heads; without them queries, keys and values are compared and summed as they are.
    pub projections: Option<Projections>,
    /// Where it may look.
    pub window: Window,
    /// How scores become weights.
    pub choice: Choice,
    /// What makes keys know how much they have been looked at.
    pub coverage: Option<Coverage>,
}

/// What a look at the source gave.
#[derive(Clone, Debug)]
pub struct Attended {
    /// The weighted sum of the values, `[B, T, C]`.
    pub context: Tensor<3>,
    /// Where it looked. Without attention: nothing.
    pub weights: Option<Weights>,
    /// How well queries matched keys, before windows and masks, `[B, N · T, S]`. Without attention: nothing.
    pub scores: Option<Tensor<3>>,
    /// What was drawn to look there, in training of hard attention.
    pub drawn: Option<Drawn>,
    /// What the next look must know.
    pub track: Track,
}

/// How far a position of a sequence that looks at itself can see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// To both ends.
    Whole,
    /// To itself and what comes before it (Vaswani 2017, section 3.2.3).
    Causal,
}

impl Attention {
    /// A score function by itself: one head, not projected, that looks everywhere, softly.
    pub fn plain(score: Score) -> Self {
        let (window, choice) = (Window::everywhere(), Choice::new(ChoiceKind::Soft, 1.0));
        Self { score: Some(score), projections: None, window, choice, coverage: None }
    }

    /// C, the size of a context vector.
    pub fn context_size(&self, memory: usize) -> usize {
        self.projections.as_ref().map_or(memory, Projections::context_size)
    }

    /// N.
    pub fn heads(&self) -> usize {
        self.projections.as_ref().map_or(1, Projections::heads)
    }

    /// Projects an encoded source `[B, S, M]` into keys and values.
    pub fn remember(&self, encoded: Tensor<3>, mask: SourceMask, summary: Tensor<2>) -> Memory {
        let (keys, values) = match &self.projections {
            Some(projections) => (projections.keys(encoded.clone()), projections.values(encoded)),
            None => (encoded.clone(), encoded),
        };
        let keys = match &self.score {
            Some(score) => score.keys(keys),
            None => keys,
        };
        Memory { keys, values, mask, summary }
    }

    /// Looks at the source with the queries `[B, T, H]` of the next T steps.
    pub fn attend(&self, query: Tensor<3>, memory: &Memory, track: Track) -> Attended {
        self.look(query, memory, track, Sight::Whole)
    }

    /// A sequence `[B, S, M]` (M = H) looks at itself.
    pub fn attend_to_self(&self, sequence: Tensor<3>, mask: SourceMask, sight: Sight) -> Attended {
        let [b, _, m] = sequence.dims();
        let summary = Tensor::zeros([b, m], &sequence.device());
        let memory = self.remember(sequence.clone(), mask, summary);
        self.look(sequence, &memory, Track::default(), sight)
    }

    /// Score, normalise, sum.
    fn look(&self, query: Tensor<3>, memory: &Memory, track: Track, sight: Sight) -> Attended {
        let ([b, t, _], [_, s]) = (query.dims(), memory.mask.dims());
        let Some(score) = &self.score else {
            let size = memory.summary.dims()[1];
            let context = memory.summary.clone().unsqueeze_dim::<3>(1).expand([b, t, size]);
            let track = Track { step: track.step + t, ..track };
            return Attended { context, weights: None, scores: None, drawn: None, track };
        };
        let looks = self.heads() * t;
        let queries = match &self.projections {
            Some(projections) => projections.queries(query),
            None => query,
        };

        let scores = score.scores(queries.clone(), self.keys(memory, &track));
        assert_shape!(scores, [b * self.heads(), t, s]);
        let scores = scores.reshape([b, looks, s]);

        let around = self.window.around(&queries, track.step, &memory.mask);
        let blocked = memory.mask.blocked(looks);
        let blocked = match &around {
            Some(around) => blocked.bool_or(around.outside.clone()),
            None => blocked,
        };
        let blocked = match sight {
            Sight::Whole => blocked,
            Sight::Causal => {
                let after = mask::causal(s, &scores.device()).unsqueeze_dim::<4>(1);
                blocked.bool_or(after.expand([b, looks / t, t, s]).reshape([b, looks, s]))
            }
        };
        let (weights, drawn) = match &track.instead {
            Some(weights) => (weights.clone(), None),
            None => self.choice.weights(scores.clone(), blocked, around, track.step),
        };

        let context = weights.clone().reshape([b * looks / t, t, s]).matmul(memory.values.clone());
        let context = match &self.projections {
            Some(projections) => projections.join(context),
            None => context,
        };
        let track = self.after(track, &weights, t);
        Attended {
            context,
            weights: Some(Weights::of(weights, t, self.projections.as_ref())),
            scores: Some(scores),
            drawn: drawn.map(|drawn| drawn.joined(t)),
            track,
        }
    }

    /// The keys as they are scored: with coverage they know how much they have been looked at.
    fn keys(&self, memory: &Memory, track: &Track) -> Tensor<3> {
        match (&self.coverage, &track.covered) {
            (Some(coverage), Some(covered)) => coverage.join(memory.keys.clone(), covered.clone()),
            _ => memory.keys.clone(),
        }
    }

    /// What the next look must know, from the weights `[B, R, S]` of T steps.
    fn after(&self, track: Track, weights: &Tensor<3>, t: usize) -> Track {
        let [b, looks, s] = weights.dims();
        let covered = self.coverage.as_ref().map(|_| {
            let now = weights.clone().reshape([b, looks / t, t, s]).sum_dim(2).squeeze_dim::<3>(2);
            track.covered.map_or(now.clone(), |before| before + now)
        });
        Track { step: track.step + t, covered, instead: None }
    }

    /// Whether a look must know the weights of those before it.
    pub fn is_sequential(&self) -> bool {
        self.coverage.is_some()
    }

    /// A copy that draws as training does, by a seed.
    pub fn noisy(self, seed: u64) -> Self {
        Self { choice: self.choice.noisy(seed), ..self }
    }

    /// A copy without the context of some heads, from 0.
    pub fn without_heads(self, heads: &[usize]) -> Self {
        Self { projections: self.projections.map(|projections| projections.without(heads)), ..self }
    }
}
