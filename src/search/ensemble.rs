//! Several models that write one translation together.

use serde::{Deserialize, Serialize};

use super::{Look, Step, Stepper};
use crate::kernels::log_probs::{LogProbs, Part};

/// How the probabilities of several models become one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mix {
    /// The mean of their log-probabilities, scaled to a sum of 1: what one of them thinks impossible is.
    #[default]
    LogLinear,
    /// The mean of their probabilities.
    Linear,
}

/// Models with the same vocabulary, at least one, asked together.
#[derive(Clone, Debug)]
pub struct Ensemble<S> {
    members: Vec<S>,
    mix: Mix,
}

impl<S: Stepper> Ensemble<S> {
    /// Of some models.
    pub fn new(members: Vec<S>, mix: Mix) -> Self {
        Self { members, mix }
    }
}

impl<S: Stepper> Stepper for Ensemble<S> {
    /// Each member's.
    type State = Vec<S::State>;

    fn step(&mut self, states: Self::State, last: &[usize]) -> Step<Self::State> {
        let steps = self.members.iter_mut().zip(states).map(|(member, state)| member.step(state, last));
        let (mut said, mut looks, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for step in steps {
            said.push(step.log_probs);
            looks.push(step.attention);
            after.push(step.state);
        }
        let log_probs = match said.len() {
            1 => said.remove(0),
            _ => mixed(&said, last.len(), self.mix),
        };
        Step { log_probs, attention: mean(looks, last.len()), state: after }
    }

    fn select(&self, states: Self::State, rows: &[usize]) -> Self::State {
        self.members.iter().zip(states).map(|(member, state)| member.select(state, rows)).collect()
    }

    fn begin(&self) -> usize {
        self.members[0].begin()
    }

    fn end(&self) -> usize {
        self.members[0].end()
    }
}

/// What several models say about the same rows.
fn mixed(said: &[LogProbs], rows: usize, mix: Mix) -> LogProbs {
    let n = said.len() as f32;
    let mut all = Vec::new();
    for row in 0..rows {
        let mut members = said.iter().map(|log_probs| log_probs.blocks(row).flat_map(|block| block.tokens()));
        let mut sum: Vec<f32> = members.next().into_iter().flatten().map(|(_, x)| x).collect();
        for member in members {
            sum.iter_mut().zip(member).for_each(|(sum, (_, x))| {
                *sum = match mix {
                    Mix::LogLinear => *sum + x,
                    Mix::Linear => log_add(*sum, x),
                }
            });
        }
        // What all rows share, such as the logarithm of n, says nothing: the whole is scaled to a sum of 1.
        all.extend(sum.into_iter().map(|sum| if mix == Mix::LogLinear { sum / n } else { sum }));
    }
    let width = all.len() / rows.max(1);
    LogProbs::of_logits(vec![Part::new(all, width)], rows)
}

/// ln(eᵃ + eᵇ), also where both are too small to be numbers.
fn log_add(a: f32, b: f32) -> f32 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    if less == f32::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}

/// Where the members that look anywhere looked, on average; each one's heads are told if it alone looks.
fn mean(looks: Vec<Vec<Look>>, rows: usize) -> Vec<Look> {
    let mut looking: Vec<Vec<Look>> = looks.into_iter().filter(|looks| looks.len() == rows).collect();
    if looking.len() < 2 {
        return looking.pop().unwrap_or_default();
    }
    let n = looking.len() as f32;
    let of_row = |row: usize| {
        let mut weights = vec![0.0; looking[0][row].weights.len()];
        for member in &looking {
            weights.iter_mut().zip(&member[row].weights).for_each(|(sum, weight)| *sum += weight / n);
        }
        Look::single(weights)
    };
    (0..rows).map(of_row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A model that always says the same and looks at one place.
    #[derive(Clone)]
    struct Always([f32; 3], usize);

    impl Stepper for Always {
        type State = ();
        fn step(&mut self, (): (), last: &[usize]) -> Step<()> {
            let rows = last.len();
            let log_probs = LogProbs::given(self.0.map(f32::ln).repeat(rows), 3);
            let look = Look::single((0..2).map(|place| f32::from(u8::from(place == self.1))).collect());
            Step { log_probs, attention: vec![look; rows], state: () }
        }
        fn select(&self, (): (), _: &[usize]) {}
    }

    fn said(mix: Mix) -> Vec<f32> {
        let members = vec![Always([0.5, 0.25, 0.25], 0), Always([0.125, 0.75, 0.125], 1)];
        let step = Ensemble::new(members, mix).step(vec![(), ()], &[0, 0]);
        assert_eq!(step.attention[1], Look::single(vec![0.5, 0.5]));
        (0..3).map(|token| step.log_probs.get(1, token).exp()).collect()
    }

    #[test]
    fn probabilities_are_mixed_by_hand() {
        let close = |ours: &[f32], right: [f32; 3]| {
            assert!(ours.iter().zip(right).all(|(a, b)| (a - b).abs() < 1e-6), "{ours:?}, not {right:?}");
        };
        close(&said(Mix::Linear), [0.3125, 0.5, 0.1875]);
        // √(0.5 · 0.125), √(0.25 · 0.75), √(0.25 · 0.125) over their sum.
        let roots = [0.0625f32.sqrt(), 0.1875f32.sqrt(), 0.03125f32.sqrt()];
        let sum: f32 = roots.iter().sum();
        close(&said(Mix::LogLinear), roots.map(|root| root / sum));
    }

    /// e⁻²⁰⁰ is no number of 32 bits, and yet one of two such tokens is the likelier.
    #[test]
    fn unlikely_tokens_keep_their_order() {
        assert!((log_add(-200.0, -201.0) - (-200.0 + (-1.0f32).exp().ln_1p())).abs() < 1e-4);
        assert_eq!(log_add(f32::NEG_INFINITY, f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert!(log_add(f32::NAN, 0.0).is_nan() && log_add(0.0, f32::NAN).is_nan());
    }

    #[test]
    fn a_single_member_is_itself() {
        let step = Ensemble::new(vec![Always([0.5, 0.25, 0.25], 1)], Mix::Linear).step(vec![()], &[0]);
        assert_eq!(step.log_probs.get(0, 0), 0.5f32.ln());
        assert_eq!(step.attention, [Look::single(vec![0.0, 1.0])]);
    }
}
