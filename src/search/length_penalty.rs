//! What makes hypotheses of different lengths comparable.

use serde::{Deserialize, Serialize};

/// By what a sum of log-probabilities is divided. Lengths count the end of the sentence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LengthPenalty {
    /// Nothing: the most probable sentence, which tends to be short.
    None,
    /// length^α; α = 1 is the mean (fairseq's).
    Mean(f64),
    /// ((5 + length) / 6)^α (Wu et al. 2016, "Google's neural machine translation system", eq. 14).
    Gnmt(f64),
}

impl Default for LengthPenalty {
    fn default() -> Self {
        Self::Gnmt(1.0)
    }
}

impl LengthPenalty {
    /// The score of a hypothesis of `length` tokens, its end counted.
    pub fn score(self, log_prob: f64, length: usize) -> f64 {
        let length = length.max(1) as f64;
        match self {
            Self::None => log_prob,
            Self::Mean(alpha) => log_prob / length.powf(alpha),
            Self::Gnmt(alpha) => log_prob / ((5.0 + length) / 6.0).powf(alpha),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn penalties_are_the_papers() {
        assert_eq!(LengthPenalty::None.score(-3.0, 7), -3.0);
        assert_eq!(LengthPenalty::Mean(1.0).score(-3.0, 6), -0.5);
        assert_eq!(LengthPenalty::Gnmt(1.0).score(-3.0, 7), -1.5);
        assert_eq!(LengthPenalty::Gnmt(0.0).score(-3.0, 7), -3.0);
        assert!(LengthPenalty::Mean(1.0).score(-3.0, 0).is_finite());
    }
}
