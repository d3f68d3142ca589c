//! How hard attention learns to choose: by the score function (Williams 1992, REINFORCE), as Xu et al. 2015,
//! "Show, attend and tell", section 4.1, eq. 11 and 12. Each draw is made likelier by what its reward is above a
//! baseline. Xu rewards every draw of a sentence with the log-probability of all of it; here a draw's reward
//! is that of the tokens from its step on, since those before can't depend on it.

use burn::tensor::activation::log_softmax;
use burn::tensor::{Tensor, TensorData};
use serde::{Deserialize, Serialize};

use super::batch::Batch;
use crate::kernels::cross_entropy::Output;

/// What a token's log-probability is expected to be: the moving average over the batches before, never of this one,
/// so that subtracting it leaves the gradient unbiased. Before the first batch it is that of a model that knows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Baseline {
    /// The log-probability a token, in nats.
    pub log_prob: f64,
}

impl Baseline {
    /// Of a model that has not seen a batch: −ln V.
    pub fn new(vocabulary: usize) -> Self {
        Self { log_prob: -(vocabulary as f64).ln() }
    }

    /// After a batch with this mean log-probability a token, of which `1 − decay` is taken over. What is no number is not.
    pub fn after(self, log_prob: Option<f64>, decay: f64) -> Self {
        match log_prob.filter(|log_prob| log_prob.is_finite()) {
            Some(log_prob) => Self { log_prob: decay * self.log_prob + (1.0 - decay) * log_prob },
            None => self,
        }
    }
}

/// What choosing adds to the loss of a batch.
#[derive(Clone, Debug)]
pub struct Policy {
    /// What its gradient comes from, `[1]`: minus the sum over draws of their log-probability times their reward above
    /// the baseline, minus the bonus times their entropy; divided by `tokens`.
    pub loss: Tensor<1>,
    /// The sum of the log-probabilities of the batch's tokens, in nats.
    pub log_prob: f64,
}

/// What choosing adds to the loss, from the readouts `[N, R]` that followed and the log-probability and the entropy
/// `[N]` of what was drawn.
pub fn policy(
    readouts: Tensor<2>,
    output: &Output,
    [log_prob, entropy]: [Tensor<1>; 2],
    batch: &Batch,
    baseline: Baseline,
    entropy_bonus: f64,
    tokens: usize,
) -> Policy {
    let log_probs = token_log_probs(readouts, output, batch);
    let rewards = rewards(&log_probs, &batch.inputs.lengths, baseline);
    let data = TensorData::new(rewards, [log_probs.len()]).convert_dtype(log_prob.dtype());
    let rewards = Tensor::<1>::from_data(data, (&log_prob.device(), log_prob.dtype()));
    let gain = (rewards * log_prob).sum() + entropy.sum().mul_scalar(entropy_bonus);
    Policy { loss: gain.mul_scalar(-1.0 / tokens as f64), log_prob: log_probs.iter().sum() }
}

/// The log-probability of each target, in nats; nothing is learnt by it.
fn token_log_probs(readouts: Tensor<2>, output: &Output, batch: &Batch) -> Vec<f64> {
    let log_probs = log_softmax(output.logits(readouts.detach()).detach(), 1);
    log_probs.gather(1, batch.targets.clone().unsqueeze_dim(1)).into_data().iter::<f64>().collect()
}

/// The reward of each step above the baseline, from the log-probabilities of sentences with so many steps each.
fn rewards(log_probs: &[f64], lengths: &[usize], baseline: Baseline) -> Vec<f64> {
    let mut rewards = log_probs.to_vec();
    let mut rest = rewards.as_mut_slice();
    for &length in lengths {
        let (sentence, others) = rest.split_at_mut(length);
        let mut later = 0.0;
        for reward in sentence.iter_mut().rev() {
            later += *reward - baseline.log_prob;
            *reward = later;
        }
        rest = others;
    }
    rewards
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: the sum of what is later, less the baseline for each of those tokens.
    #[test]
    fn a_step_is_rewarded_for_what_comes_after_it() {
        let baseline = Baseline { log_prob: -2.0 };
        let rewards = rewards(&[-1.0, -4.0, -0.5, -3.0], &[3, 1], baseline);
        assert_eq!(rewards, [0.5, -0.5, 1.5, -1.0]);
    }

    #[test]
    fn the_baseline_follows_slowly_and_ignores_what_is_no_number() {
        let first = Baseline::new(100);
        assert!((first.log_prob + 4.605_170_186).abs() < 1e-9);
        let next = first.after(Some(-1.0), 0.9);
        assert!((next.log_prob + 4.244_653_167_4).abs() < 1e-9);
        assert_eq!(next.after(Some(f64::NAN), 0.9), next);
        assert_eq!(next.after(None, 0.9), next);
    }
}
