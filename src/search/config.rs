//! How translations are searched for: everything that a run's config and the command line may choose.

use serde::{Deserialize, Serialize};

use super::LengthPenalty;
use super::sample::SamplingConfig;
use crate::error::{Error, Result};
use crate::kernels::Precision;

/// How translations are searched for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Whether the best translations are looked for, or some are drawn.
    pub method: Method,
    /// k, hypotheses that live at a time; 1 is greedy.
    pub beam: usize,
    /// Sentences in a batch.
    pub batch: usize,
    /// What makes lengths comparable.
    pub length_penalty: LengthPenalty,
    /// β, what it costs to leave source words unseen; 0 for nothing. Needs attention.
    pub coverage_penalty: f64,
    /// Groups that the beam is dealt to, each kept from writing what those before it write; 1 for plain beam search.
    pub groups: usize,
    /// What a token costs a group for each earlier group's hypothesis that writes it in the same step, in nats.
    pub diversity: f64,
    /// No translation holds the same so many tokens twice; 0 for no such rule.
    pub no_repeat_ngram: usize,
    /// The fewest tokens of a translation: this many for each source token.
    pub min_ratio: f64,
    /// The most tokens of a translation: this many for each source token …
    pub max_ratio: f64,
    /// … and this many more, the end of the sentence among them.
    pub max_extra: usize,
    /// The most tokens of a source, its end among them.
    pub max_source: usize,
    /// What becomes of longer ones.
    pub long: Long,
    /// Whether a translation may hold words that the model has no vector for.
    pub unknown: Unknown,
    /// In how many bits weights are multiplied with. 8 is for what the stepper on slices takes: one decoder layer with the
    /// reset after, on flex, and a single head that looks everywhere, softly, by a product or an additive score (or
    /// nothing); others take 32.
    pub precision: Precision,
    /// How translations are drawn.
    pub sampling: SamplingConfig,
}

/// Where translations come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Beam search: the best that is found.
    #[default]
    Beam,
    /// Chance, by the model's probabilities.
    Sample,
}

/// What becomes of a source that is too long for the model or the config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Long {
    /// Its beginning is translated, and it is told.
    #[default]
    Cut,
    /// Its translation is empty, and it is told.
    Skip,
    /// It is an error.
    Refuse,
}

/// What a model may say where it knows no word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unknown {
    /// It must find a known one.
    #[default]
    Never,
    /// "Unknown", in place of which stands what a lexicon has for the source word that was looked at most, or that word itself
    /// (Luong et al. 2015, "Addressing the rare word problem in neural machine translation"; by attention as in Jean et al. 2015).
    Copy,
}

impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            method: Method::default(),
            beam: 5,
            batch: 64,
            length_penalty: LengthPenalty::default(),
            coverage_penalty: 0.0,
            groups: 1,
            diversity: 0.5,
            no_repeat_ngram: 0,
            min_ratio: 0.0,
            max_ratio: 2.0,
            max_extra: 12,
            max_source: 1000,
            long: Long::default(),
            unknown: Unknown::default(),
            precision: Precision::F32,
            sampling: SamplingConfig::default(),
        }
    }
}

/// What β may be.
pub const COVERAGE_PENALTIES: std::ops::RangeInclusive<f64> = 0.0..=100.0;

/// The most hypotheses of a sentence that may live at a time.
pub const MOST_BEAM: usize = 1000;

/// The same with phrases that it must hold, which need a beam for each number of their tokens.
pub const MOST_LIVE: usize = 10 * MOST_BEAM;

impl SearchConfig {
    /// The most tokens for a source of `tokens`: the translation's end counts, the source's does not.
    pub fn limit(&self, tokens: usize) -> usize {
        ((tokens as f64 * self.max_ratio) as usize).saturating_add(self.max_extra)
    }

    /// The fewest tokens for a source of `tokens`, ends not counted; always so few that an end has its place after them.
    pub fn least(&self, tokens: usize) -> usize {
        ((tokens as f64 * self.min_ratio) as usize).min(self.limit(tokens).saturating_sub(1))
    }

    /// Refuses what can't be searched with.
    ///
    /// # Errors
    /// Names the key and what it may be.
    pub fn check(&self) -> Result<()> {
        let shared_out = self.groups > 0 && self.beam.is_multiple_of(self.groups);
        let rules = [
            ((1..=MOST_BEAM).contains(&self.beam), format!("beam must be 1 to {MOST_BEAM}")),
            (self.batch > 0, "batch must be at least 1".into()),
            (COVERAGE_PENALTIES.contains(&self.coverage_penalty), "coverage_penalty must be 0 to 100".into()),
            (shared_out, format!("groups must divide search.beam = {}", self.beam)),
            ((0.0..=100.0).contains(&self.diversity), "diversity must be 0 to 100".into()),
            ((0.0..=100.0).contains(&self.max_ratio), "max_ratio must be 0 to 100".into()),
            (
                (0.0..=self.max_ratio).contains(&self.min_ratio),
                format!("min_ratio must be 0 to search.max_ratio = {}", self.max_ratio),
            ),
            (self.max_source > 1, "max_source must be at least 2: a word and the end of the sentence".into()),
        ];
        match rules.into_iter().find(|(held, _)| !held) {
            Some((_, rule)) => Err(Error::Config(format!("search.{rule}"))),
            None => self.sampling.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_follow_the_source() {
        let config = SearchConfig { min_ratio: 0.5, max_ratio: 1.5, max_extra: 1, ..SearchConfig::default() };
        assert_eq!((config.least(5), config.limit(5)), (2, 8));
        // Never more than there may be.
        let tight = SearchConfig { min_ratio: 1.5, max_extra: 0, ..config };
        assert_eq!((tight.least(3), tight.limit(3)), (3, 4));
        assert_eq!(SearchConfig::default().least(100), 0);
    }

    #[test]
    fn nonsense_is_named() {
        let told = |config: SearchConfig| config.check().unwrap_err().to_string();
        let plain = SearchConfig::default;
        assert!(told(SearchConfig { groups: 2, ..plain() }).contains("search.groups must divide search.beam = 5"));
        assert!(told(SearchConfig { groups: 0, ..plain() }).contains("search.groups"));
        assert!(told(SearchConfig { min_ratio: 3.0, ..plain() }).contains("search.max_ratio = 2"));
        assert!(told(SearchConfig { diversity: f64::NAN, ..plain() }).contains("search.diversity"));
        assert!(plain().check().is_ok());
    }
}
