//! Translations by chance: each token is drawn by the model's probabilities.

use serde::{Deserialize, Serialize};

use super::ranking::Ranking;
use super::rules::{Next, Rules};
use super::{Hypothesis, Look, MOST_BEAM, Request, Stepper};
use crate::error::{Error, Result};
use crate::kernels::log_probs::LogProbs;
use crate::rng::Rng;

/// How translations are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SamplingConfig {
    /// What logits are divided by first: below 1 the likely tokens become more so, above 1 less.
    pub temperature: f64,
    /// Only so many of the likeliest tokens may be drawn (Fan et al. 2018); 0 for all.
    pub top_k: usize,
    /// … and of those only the likeliest ones that have this probability together (Holtzman et al. 2020); 1 for all.
    pub top_p: f64,
    /// Decides what is drawn, with the number of the sentence.
    pub seed: u64,
}

impl Default for SamplingConfig {
    fn default() -> Self {
        Self { temperature: 1.0, top_k: 0, top_p: 1.0, seed: 1 }
    }
}

impl SamplingConfig {
    /// Refuses what can't be drawn by.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        let rules = [
            (self.temperature > 0.0 && self.temperature <= 100.0, "temperature must be more than 0, at most 100"),
            (self.top_p > 0.0 && self.top_p <= 1.0, "top_p must be more than 0, at most 1"),
        ];
        match rules.into_iter().find(|(held, _)| !held) {
            Some((_, rule)) => Err(Error::Config(format!("search.sampling.{rule}"))),
            None => Ok(()),
        }
    }
}

/// One translation as it is drawn.
struct Drawn {
    /// Its sentence.
    task: usize,
    tokens: Vec<usize>,
    log_prob: f64,
    looks: Vec<Look>,
    rng: Rng,
    ended: bool,
}

impl Drawn {
    /// Takes one step, its row of the model's answer being `row`; whether it goes on.
    fn advance(
        &mut self,
        (row, end, most): (usize, usize, usize),
        choice: Option<usize>,
        said: &LogProbs,
    ) -> bool {
        let Some(token) = choice else {
            if !said.has_numbers(row) {
                self.log_prob = f64::NAN;
            }
            return false;
        };
        self.log_prob += f64::from(said.get(row, token));
        self.ended = token == end;
        if !self.ended {
            self.tokens.push(token);
        }
        !self.ended && self.tokens.len() < most
    }

    fn told(self, ranking: Ranking) -> Hypothesis {
        let words = self.tokens.len();
        let score = ranking.score(
            self.log_prob,
            words + usize::from(self.ended),
            &self.looks[..words.min(self.looks.len())],
        );
        let Self { tokens, log_prob, looks, ended, .. } = self;
        Hypothesis { tokens, log_prob, score, attention: looks, cut: !ended }
    }
}

/// As many translations of every sentence as are asked for, each drawn by itself, best first; the same may be drawn twice.
/// `state` has one row a sentence. What is drawn depends on the seed and the task's number, not on the batch. Log-probabilities
/// and scores are the model's, whatever the temperature.
pub fn sample<S: Stepper>(stepper: &mut S, state: S::State, request: &Request<'_>) -> Vec<Vec<Hypothesis>> {
    let (config, end) = (&request.config.sampling, stepper.end());
    let n = request.n_best.max(1);
    let new = |(task, i): (usize, usize)| {
        let rng = Rng::new(config.seed, (request.tasks[task].number * MOST_BEAM + i) as u64);
        Drawn { task, tokens: Vec::new(), log_prob: 0.0, looks: Vec::new(), rng, ended: false }
    };
    let mut drawn: Vec<Drawn> =
        (0..request.tasks.len()).flat_map(|task| (0..n).map(move |i| (task, i))).map(new).collect();
    let most = |task: usize| request.tasks[task].limit();
    let rules: Vec<Rules<'_>> = request
        .tasks
        .iter()
        .map(|task| Rules::new(*task, request.forbidden, end, request.config.no_repeat_ngram))
        .collect();
    let mut running: Vec<usize> = (0..drawn.len()).filter(|&i| most(drawn[i].task) > 0).collect();
    let first: Vec<usize> = running.iter().map(|&i| drawn[i].task).collect();
    let mut state = (!first.is_empty()).then(|| stepper.select(state, &first));
    while let Some(before) = state.take() {
        let begin = stepper.begin();
        let last: Vec<usize> = running.iter().map(|&i| drawn[i].tokens.last().copied().unwrap_or(begin)).collect();
        let step = stepper.step(before, &last);
        let goes_on = |(row, &i): (usize, &usize)| {
            let one = &mut drawn[i];
            one.looks.extend(step.attention.get(row).cloned());
            let next = rules[one.task].after(&one.tokens);
            let choice = next.forced.or_else(|| draw(&step.log_probs, row, &next, config, &mut one.rng));
            let goes_on = one.advance((row, end, most(one.task)), choice, &step.log_probs);
            goes_on.then_some((row, i))
        };
        let (rows, left): (Vec<usize>, Vec<usize>) = running.iter().enumerate().filter_map(goes_on).unzip();
        state = (!rows.is_empty()).then(|| stepper.select(step.state, &rows));
        running = left;
    }
    ranked(drawn, request)
}

/// Puts each sentence's translations together.
fn ranked(drawn: Vec<Drawn>, request: &Request<'_>) -> Vec<Vec<Hypothesis>> {
    let mut found: Vec<Vec<Hypothesis>> = request.tasks.iter().map(|_| Vec::new()).collect();
    for one in drawn {
        let (task, ranking) = (one.task, Ranking::new(request.config, request.tasks[one.task].words));
        found[task].push(one.told(ranking));
    }
    found.iter_mut().for_each(|hypotheses| hypotheses.sort_by(|a, b| b.score.total_cmp(&a.score)));
    found
}

/// A token of a row by its probability; nothing where there is no number to go by.
fn draw(said: &LogProbs, row: usize, next: &Next<'_>, config: &SamplingConfig, rng: &mut Rng) -> Option<usize> {
    let tempered = |(token, log_prob): (usize, f32)| (token, f64::from(log_prob) / config.temperature);
    let mut likely: Vec<(usize, f64)> = said
        .blocks(row)
        .flat_map(|block| block.tokens())
        .filter(|&(token, log_prob)| next.allows(token) && log_prob.is_finite())
        .map(tempered)
        .collect();
    if config.top_k > 0 || config.top_p < 1.0 {
        // Stable: of equals the lower token is the likelier.
        likely.sort_by(|a, b| b.1.total_cmp(&a.1));
    }
    if config.top_k > 0 {
        likely.truncate(config.top_k);
    }
    let most = likely.iter().map(|&(_, tempered)| tempered).fold(f64::NEG_INFINITY, f64::max);
    let mut weights: Vec<f64> = likely.iter().map(|&(_, tempered)| (tempered - most).exp()).collect();
    if config.top_p < 1.0 {
        let enough = config.top_p * weights.iter().sum::<f64>();
        let (mut sum, mut kept) = (0.0, 0);
        while kept < weights.len() && sum < enough {
            sum += weights[kept];
            kept += 1;
        }
        weights.truncate(kept);
    }
    let mut left = rng.unit() * weights.iter().sum::<f64>();
    let place = weights.iter().position(|&weight| {
        left -= weight;
        left < 0.0
    });
    // Rounding may leave a little after the last.
    likely.get(place.unwrap_or(weights.len().saturating_sub(1))).map(|&(token, _)| token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Task;

    fn counts(config: &SamplingConfig) -> [usize; 4] {
        let said = LogProbs::given([0.4f32, 0.3, 0.2, 0.1].map(f32::ln).to_vec(), 4);
        let rules = Rules::new(Task::of(3, 9), &[], 9, 0);
        let next = rules.after(&[]);
        let mut rng = Rng::new(1, 0);
        let mut counts = [0; 4];
        (0..4000).for_each(|_| counts[draw(&said, 0, &next, config, &mut rng).unwrap()] += 1);
        counts
    }

    /// Against the probabilities themselves, within four standard errors.
    fn assert_shares(config: &SamplingConfig, shares: [f64; 4]) {
        for (count, share) in counts(config).into_iter().zip(shares) {
            let error = (4000.0 * share * (1.0 - share)).sqrt();
            assert!(
                (count as f64 - 4000.0 * share).abs() <= 4.0 * error,
                "{config:?}: {count} of 4000, not {share}"
            );
        }
    }

    #[test]
    fn tokens_come_as_often_as_they_are_likely() {
        let plain = SamplingConfig::default();
        assert_shares(&plain, [0.4, 0.3, 0.2, 0.1]);
        // Squares of the probabilities, over their sum of 0.3.
        let cold = SamplingConfig { temperature: 0.5, ..plain.clone() };
        assert_shares(&cold, [16.0 / 30.0, 9.0 / 30.0, 4.0 / 30.0, 1.0 / 30.0]);
        assert_shares(&SamplingConfig { top_k: 2, ..plain.clone() }, [4.0 / 7.0, 3.0 / 7.0, 0.0, 0.0]);
        // 0.4 + 0.3 is enough for 0.65, and 0.4 for 0.4.
        assert_shares(&SamplingConfig { top_p: 0.65, ..plain.clone() }, [4.0 / 7.0, 3.0 / 7.0, 0.0, 0.0]);
        assert_shares(&SamplingConfig { top_p: 0.1, ..plain.clone() }, [1.0, 0.0, 0.0, 0.0]);
        assert_shares(&SamplingConfig { top_k: 1, ..plain }, [1.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn where_there_is_no_number_nothing_is_drawn() {
        let said = LogProbs::given(vec![f32::NAN; 4], 4);
        let rules = Rules::new(Task::of(3, 9), &[], 9, 0);
        let next = rules.after(&[]);
        assert_eq!(draw(&said, 0, &next, &SamplingConfig::default(), &mut Rng::new(1, 0)), None);
    }

    #[test]
    fn nonsense_is_named() {
        for (config, key) in [
            (SamplingConfig { temperature: 0.0, ..SamplingConfig::default() }, "search.sampling.temperature"),
            (SamplingConfig { top_p: 1.5, ..SamplingConfig::default() }, "search.sampling.top_p"),
            (SamplingConfig { top_p: f64::NAN, ..SamplingConfig::default() }, "search.sampling.top_p"),
        ] {
            assert!(config.check().unwrap_err().to_string().contains(key));
        }
    }
}
