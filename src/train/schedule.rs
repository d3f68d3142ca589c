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
    /// Along half a cosine to 0 (Loshchilov & Hutter 2017, "SGDR", eq. 5, without restarts).
    Cosine,
    /// By a factor whenever validations bring nothing better for some time.
    Plateau,
}

impl Decay {
    /// Every decay.
    pub const ALL: [Self; 5] = [Self::Constant, Self::Linear, Self::InverseSqrt, Self::Cosine, Self::Plateau];

    /// The name in configs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Linear => "linear",
            Self::InverseSqrt => "inverse-sqrt",
            Self::Cosine => "cosine",
            Self::Plateau => "plateau",
        }
    }
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
            Decay::Constant | Decay::Plateau => 1.0,
            Decay::Linear => self.left(step),
            Decay::Cosine => 0.5 - 0.5 * (std::f64::consts::PI * self.left(step)).cos(),
            Decay::InverseSqrt => (self.warmup.max(1) as f64 / step.max(1) as f64).sqrt(),
        };
        self.peak * fall.min(1.0)
    }

    /// The share of the updates after the warm-up that is left, this one included.
    fn left(&self, step: usize) -> f64 {
        let end = self.total.saturating_add(1);
        end.saturating_sub(step) as f64 / end.saturating_sub(self.warmup).max(1) as f64
    }
}

/// By how much the rate has fallen because nothing got better.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plateau {
    /// What the schedule's rate is multiplied by.
    pub factor: f64,
    /// Validations since the last gain or fall.
    pub waited: usize,
}

impl Default for Plateau {
    fn default() -> Self {
        Self { factor: 1.0, waited: 0 }
    }
}

impl Plateau {
    /// After a validation.
    pub fn after(self, gain: bool, config: &TrainConfig) -> Self {
        let waited = if gain { 0 } else { self.waited + 1 };
        match config.decay == Decay::Plateau && waited >= config.plateau_patience.max(1) {
            true => Self { factor: self.factor * config.plateau_factor, waited: 0 },
            false => Self { factor: self.factor, waited },
        }
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
        for decay in Decay::ALL {
            assert!((schedule(decay).rate(5) - 0.05).abs() < 1e-12);
            assert!((schedule(decay).rate(10) - 0.1).abs() < 1e-12);
        }
        assert_eq!(schedule(Decay::Constant).rate(90), 0.1);
        assert!((schedule(Decay::InverseSqrt).rate(40) - 0.05).abs() < 1e-12);
        let linear = schedule(Decay::Linear);
        assert!(linear.rate(100) > 0.0 && linear.rate(100) < 0.002 && linear.rate(55) < 0.06);
        // By hand: of 91 updates from the peak to nothing 61 are left, 30 are done.
        let cosine = schedule(Decay::Cosine).rate(40);
        assert!((cosine - 0.05 * (1.0 + (std::f64::consts::PI * 30.0 / 91.0).cos())).abs() < 1e-12, "{cosine}");
        assert!(schedule(Decay::Cosine).rate(100) > 0.0 && schedule(Decay::Cosine).rate(101) < 1e-12);
    }

    /// Two validations without gain halve the rate, and the count begins anew.
    #[test]
    fn a_plateau_lowers_the_rate() {
        let config = TrainConfig {
            decay: Decay::Plateau,
            plateau_patience: 2,
            plateau_factor: 0.5,
            ..TrainConfig::default()
        };
        let gains = [true, false, true, false, false, false, false, true];
        let told = gains.iter().scan(Plateau::default(), |plateau, &gain| {
            *plateau = plateau.after(gain, &config);
            Some(plateau.factor)
        });
        assert_eq!(told.collect::<Vec<_>>(), [1.0, 1.0, 1.0, 1.0, 0.5, 0.5, 0.25, 0.25]);
        let constant = TrainConfig { decay: Decay::Constant, ..config };
        let stays = gains.iter().fold(Plateau::default(), |plateau, &gain| plateau.after(gain, &constant));
        assert_eq!(stays.factor, 1.0);
    }

    #[test]
    fn no_warmup_and_no_steps_are_fine() {
        let config = TrainConfig { warmup_steps: 0, decay: Decay::Linear, ..TrainConfig::default() };
        assert!(Schedule::new(&config, 0).rate(1).is_finite());
        assert_eq!(Schedule::new(&config, 10).rate(1), 10.0 / 11.0 * config.learning_rate);
    }
}
