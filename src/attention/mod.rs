//! Attention in three steps: **score** how well the query matches each key, **normalise** the scores into
//! weights, **sum** the values by weight. The steps are written once, in [`Attention::look`]. What varies are four
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
pub mod score;
pub mod window;

use burn::module::Module;
use burn::tensor::{Int, Tensor, assert_shape};

pub use choice::{ChoiceKind, Drawn};
pub use config::AttentionConfig;
pub use mask::SourceMask;
pub use score::{Score, ScoreKind};
pub use window::WindowKind;

use crate::kernels::attentive::Matching;
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

/// A source sentence ready to be looked at: keys are projected once, not once a step.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What queries are compared with, `[B · N, S, K]`.
    pub keys: Tensor<3>,
    /// What is summed, `[B · N, S, C]`.
    pub values: Tensor<3>,
    /// Which positions are padding.
    pub mask: SourceMask,
    /// The whole source in one vector, `[B, M]`: the context of a model without attention.
    pub summary: Tensor<2>,
}

/// What attention carries from step to step.
#[derive(Clone, Debug, Default)]
pub struct Track {
    /// Steps so far.
    pub step: usize,
    /// The weights that each position has had, `[B, N, S]`; only with coverage, and not before the first step.
    pub covered: Option<Tensor<3>>,
}

/// What a look at the source gave.
#[derive(Clone, Debug)]
pub struct Attended {
    /// The weighted sum of the values, `[B, T, C]`.
    pub context: Tensor<3>,
    /// Where it looked. Without attention: nothing.
    pub weights: Option<Weights>,
    /// What was drawn to look there, in training of hard attention.
    pub drawn: Option<Drawn>,
    /// What the next look must know.
    pub track: Track,
}

/// Where T steps looked: padding is exactly 0, rows sum to 1 (with local-p to at most 1).
#[derive(Clone, Debug)]
pub struct Weights {
    /// The mean of the heads that count, `[B, T, S]`.
    pub mean: Tensor<3>,
    /// Each head's, `[B, N, T, S]`; only where there are several.
    pub heads: Option<Tensor<4>>,
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
            return Attended { context, weights: None, drawn: None, track };
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
        let (weights, drawn) = self.choice.weights(scores, blocked, around, track.step);

        let context = weights.clone().reshape([b * looks / t, t, s]).matmul(memory.values.clone());
        let context = match &self.projections {
            Some(projections) => projections.join(context),
            None => context,
        };
        let track = self.after(track, &weights, t);
        Attended {
            context,
            weights: Some(self.told(weights, t)),
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
        Track { step: track.step + t, covered }
    }

    /// Weights `[B, R, S]` by head, and their mean.
    fn told(&self, weights: Tensor<3>, t: usize) -> Weights {
        let [b, looks, s] = weights.dims();
        let Some(projections) = self.projections.as_ref().filter(|projections| projections.heads() > 1) else {
            return Weights { mean: weights, heads: None };
        };
        let heads = weights.reshape([b, looks / t, t, s]);
        let left: Vec<i64> = projections.left().iter().map(|&head| head as i64).collect();
        let counted = heads.clone().select(1, Tensor::from_data(left.as_slice(), &heads.device()));
        Weights { mean: counted.mean_dim(1).squeeze_dim(1), heads: Some(heads) }
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

    /// This attention for kernels, if they know it: one head that looks everywhere, softly, by a product or an additive
    /// score. `hidden` is H.
    pub fn matcher(&self, hidden: usize) -> Option<Matcher> {
        let plain = self.window.kind() == WindowKind::Global
            && self.choice.kind() == ChoiceKind::Soft
            && self.coverage.is_none()
            && self.heads() == 1;
        let score = self.score.as_ref().filter(|_| plain)?;
        let projected =
            self.projections.as_ref().and_then(|projections| Some(projections.query.as_ref()?.weight.val()));
        let product = |scale| Matching::Product { scale };
        let (matching, query, energy) = match score {
            Score::Dot(_) | Score::General(_) => (product(1.0), projected, None),
            Score::ScaledDot(_) => {
                let size = projected.as_ref().map_or(hidden, |query| query.dims()[1]);
                (product(score::scaled_dot::scale(size) as f32), projected, None)
            }
            Score::Additive(score) => {
                (Matching::Additive, Some(score.query.weight.val()), Some(score.energy.val()))
            }
            Score::Concat(score) => {
                (Matching::Additive, Some(score.query_weight(hidden)), Some(score.energy.val()))
            }
            Score::Linear(_) | Score::Location(_) => return None,
        };
        Some(Matcher { matching, query, energy })
    }
}

/// Attention that kernels know: the query is projected (or not), then matched with the key.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// How they are matched.
    pub matching: Matching,
    /// `[H, K]`, if the query is projected.
    pub query: Option<Tensor<2>>,
    /// v, `[K]`, of additive scores.
    pub energy: Option<Tensor<1>>,
}

impl Memory {
    /// The memories of some sentences, in that order, repeats allowed (hypotheses of a beam).
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        let heads = self.keys.dims()[0] / self.mask.dims()[0];
        let select = |tensor: &Tensor<3>| {
            let ([all, s, size], n) = (tensor.dims(), rows.dims()[0]);
            let sentences = tensor.clone().reshape([all / heads, heads * s, size]);
            sentences.select(0, rows.clone()).reshape([n * heads, s, size])
        };
        Self {
            keys: select(&self.keys),
            values: select(&self.values),
            mask: self.mask.select(rows.clone()),
            summary: self.summary.clone().select(0, rows),
        }
    }
}

impl Track {
    /// The tracks of some sentences, in that order, repeats allowed.
    pub fn select(&self, rows: Tensor<1, Int>) -> Self {
        let covered = self.covered.as_ref().map(|covered| covered.clone().select(0, rows));
        Self { step: self.step, covered }
    }
}

impl Weights {
    /// The weights of one step after the other.
    pub fn cat(steps: Vec<Self>) -> Option<Self> {
        if steps.is_empty() {
            return None;
        }
        let heads: Vec<Tensor<4>> = steps.iter().filter_map(|step| step.heads.clone()).collect();
        let mean = Tensor::cat(steps.into_iter().map(|step| step.mean).collect(), 1);
        Some(Self { mean, heads: (!heads.is_empty()).then(|| Tensor::cat(heads, 2)) })
    }
}
