//! What makes hypotheses of different lengths comparable.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// By what a sum of log-probabilities is divided, or what is added to it. Lengths count the end of the sentence.
///
/// Written `none`, `mean:α`, `gnmt:α` or `reward:γ`, in configs and on the command line alike.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum LengthPenalty {
    /// Nothing: the most probable sentence, which tends to be short.
    None,
    /// length^α; α = 1 is the mean (fairseq's).
    Mean(f64),
    /// ((5 + length) / 6)^α (Wu et al. 2016, "Google's neural machine translation system", eq. 14).
    Gnmt(f64),
    /// γ nats for each token (He et al. 2016, "Improved neural machine translation with SMT features", section 3.3).
    Reward(f64),
}

impl Default for LengthPenalty {
    fn default() -> Self {
        Self::Gnmt(1.0)
    }
}

impl From<LengthPenalty> for String {
    fn from(penalty: LengthPenalty) -> Self {
        match penalty {
            LengthPenalty::None => "none".into(),
            LengthPenalty::Mean(alpha) => format!("mean:{alpha}"),
            LengthPenalty::Gnmt(alpha) => format!("gnmt:{alpha}"),
            LengthPenalty::Reward(gamma) => format!("reward:{gamma}"),
        }
    }
}

impl TryFrom<String> for LengthPenalty {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for LengthPenalty {
    type Err = String;

    /// `none`, `mean`, `gnmt`, `reward`, all but the first with `:α` (default 1).
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, alpha) = text.split_once(':').map_or((text, None), |(name, alpha)| (name, Some(alpha)));
        let number = alpha.unwrap_or("1").parse::<f64>().ok().filter(|alpha| NUMBERS.contains(alpha));
        match (name, number) {
            ("none", _) if alpha.is_none() => Ok(Self::None),
            ("mean", Some(alpha)) => Ok(Self::Mean(alpha)),
            ("gnmt", Some(alpha)) => Ok(Self::Gnmt(alpha)),
            ("reward", Some(gamma)) => Ok(Self::Reward(gamma)),
            _ => {
                let (least, most) = (NUMBERS.start(), NUMBERS.end());
                let message =
                    "write none, mean, mean:ALPHA, gnmt, gnmt:ALPHA, reward or reward:GAMMA, the number from";
                Err(format!("{message} {least} to {most}"))
            }
        }
    }
}

/// What α and γ may be.
const NUMBERS: std::ops::RangeInclusive<f64> = -10.0..=10.0;

impl LengthPenalty {
    /// The score of a hypothesis of `length` tokens, its end counted.
    pub fn score(self, log_prob: f64, length: usize) -> f64 {
        let length = length.max(1) as f64;
        match self {
            Self::None => log_prob,
            Self::Mean(alpha) => log_prob / length.powf(alpha),
            Self::Gnmt(alpha) => log_prob / ((5.0 + length) / 6.0).powf(alpha),
            Self::Reward(gamma) => log_prob + gamma * length,
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
        assert_eq!(LengthPenalty::Mean(0.5).score(-3.0, 4), -1.5);
        assert_eq!(LengthPenalty::Reward(0.25).score(-3.0, 4), -2.0);
        assert!(LengthPenalty::Mean(1.0).score(-3.0, 0).is_finite());
        assert_eq!(
            ["none", "mean", "gnmt:0.6", "reward:0.2"].map(|text| text.parse()),
            [
                Ok(LengthPenalty::None),
                Ok(LengthPenalty::Mean(1.0)),
                Ok(LengthPenalty::Gnmt(0.6)),
                Ok(LengthPenalty::Reward(0.2))
            ]
        );
        for bad in ["gnmt:x", "gnmt:11", "mean:NaN", "none:7", "reward:", "median"] {
            assert!(bad.parse::<LengthPenalty>().is_err(), "{bad}");
        }
    }
}
