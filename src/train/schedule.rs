//! The learning rate over time: a linear rise, then a fall.

use serde::{Deserialize, Serialize};

use super::TrainConfig;

/// How the rate falls after the warm-up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decay {
    /// It does not.
    #[default]
    Constant,
    /// In a line to 0, which the update after the last would get.
    Linear,
    /// With the inverse square root of the step (Vaswani et al. 2017, section 5.3).
    InverseSqrt,
}

/// The rate of each update.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    peak: f64,
    warmup: usize,
    total: usize,
    decay: Decay,
}

impl Schedule {
    /// The schedule of a config whose training has at most `total` updates.
    pub fn new(config: &TrainConfig, total: usize) -> Self {
        Self { peak: config.learning_rate, warmup: config.warmup_steps, total, decay: config.decay }
    }

    /// The rate of an update; they count from 1.
    pub fn rate(&self, step: usize) -> f64 {
        if step < self.warmup {
            return self.peak * step as f64 / self.warmup as f64;
        }
        let fall = match self.decay {
            Decay::Constant => 1.0,
            Decay::Linear => {
                let left = (self.total + 1).saturating_sub(step) as f64;
                left / (self.total + 1).saturating_sub(self.warmup).max(1) as f64
            }
            Decay::InverseSqrt => (self.warmup.max(1) as f64 / step.max(1) as f64).sqrt(),
        };
        self.peak * fall.min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(decay: Decay) -> Schedule {
        let config = TrainConfig { learning_rate: 0.1, warmup_steps: 10, decay, ..TrainConfig::default() };
        Schedule::new(&config, 100)
    }

    #[test]
    fn rates_rise_and_fall() {
        for decay in [Decay::Constant, Decay::Linear, Decay::InverseSqrt] {
            assert!((schedule(decay).rate(5) - 0.05).abs() < 1e-12);
            assert!((schedule(decay).rate(10) - 0.1).abs() < 1e-12);
        }
        assert_eq!(schedule(Decay::Constant).rate(90), 0.1);
        assert!((schedule(Decay::InverseSqrt).rate(40) - 0.05).abs() < 1e-12);
        let linear = schedule(Decay::Linear);
        assert!(linear.rate(100) > 0.0 && linear.rate(100) < 0.002 && linear.rate(55) < 0.06);
    }

    #[test]
    fn no_warmup_and_no_steps_are_fine() {
        let config = TrainConfig { warmup_steps: 0, decay: Decay::Linear, ..TrainConfig::default() };
        assert!(Schedule::new(&config, 0).rate(1).is_finite());
        assert_eq!(Schedule::new(&config, 10).rate(1), 10.0 / 11.0 * config.learning_rate);
    }
}
