//! How scores become weights: one file each, one line each in the list below.
//!
//! | choice | weights | learns by |
//! |---|---|---|
//! | soft | softmax | its gradient |
//! | sparsemax | the nearest point of the simplex, with exact zeros | its gradient |
//! | hard | one position, in training drawn from the softmax, else the best | its gradient for what was chosen, and the score function for choosing |
//! | gumbel | one position, in training the best after noise, else the best | the gradient of the softmax in its place |

pub mod gumbel;
pub mod hard;
pub mod sparsemax;

use burn::module::Module;
use burn::tensor::{Bool, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::mask::{blocked_out, like, softmax};
use super::window::Around;
use crate::rng::Rng;

/// How scores become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceKind {
    /// All positions, by softmax.
    #[default]
    Soft,
    /// One position, learnt by trial.
    Hard,
    /// One position, learnt as if it were soft.
    Gumbel,
    /// Few positions, the others exactly 0.
    Sparsemax,
}

impl ChoiceKind {
    /// Every choice.
    pub const ALL: [Self; 4] = [Self::Soft, Self::Hard, Self::Gumbel, Self::Sparsemax];

    /// The name in configs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Soft => "soft",
            Self::Hard => "hard",
            Self::Gumbel => "gumbel",
            Self::Sparsemax => "sparsemax",
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Soft => "every position has some weight",
            Self::Hard => "one position a step, learnt by trial (Xu 2015)",
            Self::Gumbel => "one position a step, learnt as if it were soft (Jang 2017)",
            Self::Sparsemax => "few positions, the others exactly 0 (Martins & Astudillo 2016)",
        }
    }

    /// Whether training draws numbers for it.
    pub fn draws(self) -> bool {
        matches!(self, Self::Hard | Self::Gumbel)
    }
}

/// Turns scores into weights. Draws nothing until it is given noise.
#[derive(Module, Debug)]
pub struct Choice {
    #[module(skip)]
    kind: ChoiceKind,
    /// τ of gumbel.
    #[module(skip)]
    temperature: f64,
    /// The seed of what is drawn; none outside training.
    #[module(skip)]
    noise: Option<u64>,
}

/// What was chosen by drawing, for its gradient by the score function.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The logarithm of the probability of what was chosen, `[B, R]`.
    pub log_prob: Tensor<2>,
    /// The entropy of what it was drawn from, in nats, `[B, R]`.
    pub entropy: Tensor<2>,
}

impl Drawn {
    /// What T steps drew, all heads together: `[B, N · T]` → `[B, T]`.
    pub fn joined(self, steps: usize) -> Self {
        let join = |x: Tensor<2>| {
            let [b, looks] = x.dims();
            x.reshape([b, looks / steps, steps]).sum_dim(1).squeeze_dim::<2>(1)
        };
        Self { log_prob: join(self.log_prob), entropy: join(self.entropy) }
    }

    /// What was drawn at one step after the other, `[B, T]`.
    pub fn cat(steps: Vec<Self>) -> Option<Self> {
        if steps.is_empty() {
            return None;
        }
        let (log_probs, entropies) = steps.into_iter().map(|step| (step.log_prob, step.entropy)).unzip();
        Some(Self { log_prob: Tensor::cat(log_probs, 1), entropy: Tensor::cat(entropies, 1) })
    }
}

impl Choice {
    /// A choice without noise yet.
    pub fn new(kind: ChoiceKind, temperature: f64) -> Self {
        Self { kind, temperature, noise: None }
    }

    /// Which it is.
    pub fn kind(&self) -> ChoiceKind {
        self.kind
    }

    /// The same with the noise of a seed. Numbers come from our own generator, on the host: the same on every device for
    /// the same rows.
    pub fn noisy(self, seed: u64) -> Self {
        Self { noise: Some(seed), ..self }
    }

    /// Weights of scores `[B, R, S]` where they are not `blocked`; R looks, the first of them at `step`. Rows sum to 1, but
    /// for what local-p takes away; a row that is all blocked is 0.
    pub fn weights(
        &self,
        scores: Tensor<3>,
        blocked: Tensor<3, Bool>,
        around: Option<Around>,
        step: usize,
    ) -> (Tensor<3>, Option<Drawn>) {
        let around = around.and_then(|around| Some((around.log_factor?, around.renormalized)));
        let weights = match self.kind {
            ChoiceKind::Soft => softmax(scores, blocked),
            ChoiceKind::Sparsemax => sparsemax::weights(scores, blocked),
            ChoiceKind::Hard | ChoiceKind::Gumbel => {
                // A factor after the choice would leave no single 1: it has its say before.
                let scores = around.map_or(scores.clone(), |(log_factor, _)| scores + log_factor);
                return self.one(scores, blocked, step);
            }
        };
        let Some((log_factor, renormalized)) = around else { return (weights, None) };
        let weights = weights * log_factor.exp();
        let sums = weights.clone().sum_dim(2);
        // Of a row that is all blocked the sum is 0 too.
        (if renormalized { weights / sums.clamp_min(1e-30) } else { weights }, None)
    }

    fn one(&self, scores: Tensor<3>, blocked: Tensor<3, Bool>, step: usize) -> (Tensor<3>, Option<Drawn>) {
        let Some(seed) = self.noise else { return (best(scores, blocked), None) };
        let mut rng = Rng::new(seed, step as u64);
        match self.kind {
            ChoiceKind::Hard => {
                let (weights, drawn) = hard::draw(softmax(scores, blocked), &mut rng);
                (weights, Some(drawn))
            }
            _ => (gumbel::weights(scores, blocked, self.temperature, &mut rng), None),
        }
    }
}

/// 1 at the first of the best positions of each row that are not blocked, else 0; nothing to learn by.
fn best(scores: Tensor<3>, blocked: Tensor<3, Bool>) -> Tensor<3> {
    let scores = blocked_out(scores.detach(), blocked.clone());
    let [_, _, s] = scores.dims();
    let positions = Tensor::<1, Int>::arange(0..s as i64, &scores.device()).reshape([1, 1, s]);
    let chosen = positions.expand(scores.dims()).equal(scores.clone().argmax(2).expand(scores.dims()));
    like(chosen.int(), &scores).mask_fill(blocked, 0.0)
}
