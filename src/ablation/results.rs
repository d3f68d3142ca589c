//! From judgements to figures: a row for each trial, and how far variants are ahead of each other.

use std::path::Path;

use super::row::{Bin, Comparison, Failure, Measure, Row, Times, Trained, points};
use super::{Judgement, TestSet, Trial};
use crate::alignment::{Alignment, AlignmentErrorRate, Entropy, aer};
use crate::error::{Error, Result};
use crate::metrics::bleu::Counts;
use crate::metrics::resample::{self, Difference};
use crate::metrics::{BleuConfig, ChrfConfig, Hits, by_length, exact_match};
use crate::run::RunDir;
use crate::text::normalize::is_blank;

/// All that came of an ablation.
#[derive(Clone, Debug)]
pub struct Results {
    /// Figures, a row a trial, in the order of the plan.
    pub rows: Vec<Row>,
    /// How long it took, in the same order.
    pub times: Vec<Times>,
    /// Every two variants, over all lengths and in the bin of the longest sentences.
    pub comparisons: Vec<Comparison>,
    /// Each trial's translations, in the same order as the rows.
    pub translations: Vec<Vec<String>>,
    /// Where each looks in the sentences that are shown, by their places.
    pub shown: Vec<Vec<(usize, Alignment)>>,
    /// Trials without figures.
    pub failed: Vec<Failure>,
}

impl Results {
    pub(super) fn new(
        judged: &[(Trial, Judgement)],
        failed: Vec<Failure>,
        test: &TestSet,
        runs: &Path,
    ) -> Result<Self> {
        if judged.is_empty() {
            let why = failed.first().map(|failure| failure.why.clone()).unwrap_or_default();
            return Err(Error::Model(format!("nothing came of any variant; of the first: {why}")));
        }
        let scored: Vec<Scored<'_>> = judged.iter().map(|judged| Scored::new(judged, test)).collect();
        let mut rows = Vec::with_capacity(judged.len());
        let mut times = Vec::with_capacity(judged.len());
        for scored in &scored {
            let run = RunDir::find(Some(&scored.trial.path(runs)), runs)?;
            rows.push(row(scored, &run)?);
            times.push(time(scored, &run));
        }
        Ok(Self {
            comparisons: comparisons(&scored, test),
            rows,
            times,
            translations: judged.iter().map(|(_, judgement)| judgement.translations.clone()).collect(),
            shown: judged.iter().map(|(_, judgement)| judgement.shown.clone()).collect(),
            failed,
        })
    }
}

fn time(scored: &Scored<'_>, run: &RunDir) -> Times {
    let summary = run.summary().unwrap_or_default();
    Times {
        variant: scored.trial.variant.clone(),
        seed: scored.trial.seed,
        train_seconds: summary["seconds"].as_f64().unwrap_or_default(),
        tokens_per_second: summary["tokens_per_second"].as_f64().unwrap_or_default(),
        judge_seconds: scored.judgement.seconds,
    }
}

fn row(scored: &Scored<'_>, run: &RunDir) -> Result<Row> {
    let trial = scored.trial;
    let (_, manifest) = run.read_manifest()?;
    let events = run.events();
    let named = |name: &str| events.iter().filter(|event| event["event"] == name).cloned().collect::<Vec<_>>();
    let count = |events: &[serde_json::Value], key: &str| {
        events.last().and_then(|event| event[key].as_u64()).unwrap_or_default()
    };
    let finished = named("finished");
    Ok(Row {
        variant: trial.variant.clone(),
        seed: trial.seed,
        attention: trial.config.attention.told(),
        context: trial.config.encoder.memory_size(),
        parameters: manifest.parameters,
        measure: scored.test.measure,
        all: scored.all(),
        by_length: scored.test.bins.iter().map(|bin| scored.bin(bin)).collect(),
        train: Trained {
            pairs: count(&named("started"), "pairs"),
            steps: count(&finished, "steps"),
            best_step: count(&finished, "best_step"),
            curve: points(run)?,
        },
        run: format!("{}/{}", super::RUNS, trial.run),
    })
}

/// A judgement with what is counted in each sentence.
struct Scored<'a> {
    trial: &'a Trial,
    judgement: &'a Judgement,
    test: &'a TestSet,
    bleu: Vec<Counts>,
    hits: Vec<Hits>,
}

impl<'a> Scored<'a> {
    fn new((trial, judgement): &'a (Trial, Judgement), test: &'a TestSet) -> Self {
        let pairs = || judgement.translations.iter().zip(&test.pairs);
        Self {
            bleu: pairs().map(|(ours, pair)| test.bleu.count(ours, &[&pair.target])).collect(),
            hits: pairs().map(|(ours, pair)| Hits::of(ours, &pair.target)).collect(),
            trial,
            judgement,
            test,
        }
    }

    fn all(&self) -> Bin {
        let (from, to) = (self.test.bins.first(), self.test.bins.last());
        self.bin(&by_length::Bin {
            from: from.map_or(0, |bin| bin.from),
            to: to.and_then(|bin| bin.to),
            places: (0..self.test.pairs.len()).collect(),
        })
    }

    fn bin(&self, bin: &by_length::Bin) -> Bin {
        let places = &bin.places;
        let pick = |texts: &dyn Fn(usize) -> String| places.iter().map(|&i| texts(i)).collect::<Vec<_>>();
        let ours = pick(&|i| self.judgement.translations[i].clone());
        let references = pick(&|i| self.test.pairs[i].target.clone());
        let (log_prob, tokens) = places.iter().fold((0.0, 0), |(sum, n), &i| {
            let (log_prob, tokens) = self.judgement.log_probs[i];
            (sum + log_prob, n + tokens)
        });
        let loss = -log_prob / tokens.max(1) as f64;
        let [links, floor] = aer::sum(places.iter().filter_map(|&i| self.judgement.links.get(i)).copied());
        let linked = |rate: AlignmentErrorRate| (!self.judgement.links.is_empty()).then(|| rate.aer());
        let entropy: Entropy = places.iter().filter_map(|&i| self.judgement.entropies.get(i)).copied().sum();
        Bin {
            from: bin.from,
            to: bin.to.unwrap_or(bin.from),
            sentences: places.len(),
            loss,
            perplexity: loss.exp(),
            bleu: self.bleu(places),
            chrf: ChrfConfig::default().corpus(&ours, &[&references]).score,
            exact_match: exact_match(&ours, &[&references]),
            token_accuracy: (self.test.measure == Measure::TokenAccuracy).then(|| self.accuracy(places)),
            aer: linked(links),
            aer_floor: linked(floor),
            entropy: entropy.mean(),
            cut: places.iter().filter(|&&i| self.judgement.cut[i]).count(),
            empty: ours.iter().filter(|ours| is_blank(ours)).count(),
            band: resample::band(places.len(), |sample| self.measure(&at(places, sample))),
        }
    }

    /// The score that variants are compared by.
    fn measure(&self, places: &[usize]) -> f64 {
        match self.test.measure {
            Measure::Bleu => self.bleu(places),
            Measure::TokenAccuracy => 100.0 * self.accuracy(places),
        }
    }

    fn bleu(&self, places: &[usize]) -> f64 {
        let BleuConfig { max_order, .. } = self.test.bleu;
        let mut sum = Counts { correct: vec![0; max_order], total: vec![0; max_order], ..Counts::default() };
        places.iter().for_each(|&i| sum.add(&self.bleu[i]));
        self.test.bleu.score(&sum, 1).score
    }

    fn accuracy(&self, places: &[usize]) -> f64 {
        places.iter().map(|&i| self.hits[i]).sum::<Hits>().accuracy()
    }
}

/// The sentences that a sample of some places draws.
fn at(places: &[usize], sample: &[usize]) -> Vec<usize> {
    sample.iter().map(|&i| places[i]).collect()
}

/// Every two variants, over all lengths and in the bin of the longest sentences.
fn comparisons(scored: &[Scored<'_>], test: &TestSet) -> Vec<Comparison> {
    let mut variants: Vec<Vec<&Scored<'_>>> = Vec::new();
    for scored in scored {
        match variants.iter_mut().find(|seeds| seeds[0].trial.variant == scored.trial.variant) {
            Some(seeds) => seeds.push(scored),
            None => variants.push(vec![scored]),
        }
    }
    let everything: Vec<usize> = (0..test.pairs.len()).collect();
    let (Some(first), Some(last)) = (test.bins.first(), test.bins.last()) else { return Vec::new() };
    let to = last.to.unwrap_or(last.from);
    let stretches = [(first.from, everything.as_slice()), (last.from, last.places.as_slice())];
    let mut found = Vec::new();
    for (i, a) in variants.iter().enumerate() {
        for b in &variants[..i] {
            for (from, places) in stretches {
                let difference = ahead(a, b, places);
                let [a, b] = [a, b].map(|seeds| seeds[0].trial.variant.clone());
                found.push(Comparison { a, b, from, to, difference });
            }
        }
    }
    found
}

/// How far the one is ahead of the other at some places, as means over their seeds.
fn ahead(a: &[&Scored<'_>], b: &[&Scored<'_>], places: &[usize]) -> Difference {
    let mean = |seeds: &[&Scored<'_>], places: &[usize]| {
        seeds.iter().map(|scored| scored.measure(places)).sum::<f64>() / seeds.len() as f64
    };
    resample::paired(places.len(), |sample| {
        let places = at(places, sample);
        mean(a, &places) - mean(b, &places)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, TOY};
    use crate::corpus::Pair;

    /// Thirty short sentences and thirty long ones, each one word again and again.
    fn test_set() -> TestSet {
        let pair = |i: usize| {
            let text = vec![format!("w{i}"); if i < 30 { 3 } else { 13 }].join(" ");
            Pair { source: text.clone(), target: text, ..Pair::default() }
        };
        let pairs: Vec<Pair> = (0..60).map(pair).collect();
        let sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        TestSet {
            gold: None,
            bins: by_length::even(&by_length::lengths(&sources)),
            shown: vec![],
            measure: Measure::TokenAccuracy,
            bleu: BleuConfig::default(),
            digest: String::new(),
            pairs,
        }
    }

    /// A trial whose translations are what `right` makes of each pair.
    fn judged(variant: &str, seed: u64, right: impl Fn(&Pair) -> String, test: &TestSet) -> (Trial, Judgement) {
        let config = Config::parse("toy.toml".as_ref(), TOY, &[]).unwrap();
        let trial = Trial { variant: variant.into(), seed, config, run: String::new() };
        let judgement = Judgement {
            translations: test.pairs.iter().map(right).collect(),
            cut: vec![false; test.pairs.len()],
            log_probs: vec![(-2.0, 4); test.pairs.len()],
            links: vec![],
            entropies: vec![],
            shown: vec![],
            seconds: 0.0,
        };
        (trial, judgement)
    }

    fn is_long(pair: &Pair) -> bool {
        pair.source.len() > 20
    }

    #[test]
    fn bins_and_differences_by_hand() {
        let test = test_set();
        let all = [
            judged("weak", 1, |pair| if is_long(pair) { String::new() } else { pair.target.clone() }, &test),
            judged("strong", 1, |pair| pair.target.clone(), &test),
            judged("strong", 2, |pair| if is_long(pair) { String::new() } else { pair.target.clone() }, &test),
        ];
        let scored: Vec<Scored<'_>> = all.iter().map(|judged| Scored::new(judged, &test)).collect();
        let bins: Vec<Bin> = test.bins.iter().map(|bin| scored[0].bin(bin)).collect();
        let told = |bin: &Bin| (bin.from, bin.to, bin.sentences, bin.token_accuracy, bin.exact_match, bin.empty);
        assert_eq!(told(&bins[0]), (1, 5, 30, Some(1.0), 1.0, 0));
        assert_eq!(told(&bins[1]), (11, 15, 30, Some(0.0), 0.0, 30));
        assert_eq!((bins[0].band, bins[1].band), ([100.0; 2], [0.0; 2]));
        assert!((bins[0].loss - 0.5).abs() < 1e-12 && bins[0].aer.is_none());
        let whole = scored[0].all();
        assert_eq!((whole.from, whole.to, whole.sentences), (1, 15, 60));
        assert!((whole.token_accuracy.unwrap() - 30.0 * 3.0 / (30.0 * 16.0)).abs() < 1e-12);
        // The mean of the two seeds is 50 ahead where sentences are long.
        let found = comparisons(&scored, &test);
        let told: Vec<_> = found.iter().map(|it| (it.a.as_str(), it.b.as_str(), it.from, it.to)).collect();
        assert_eq!(told, [("strong", "weak", 1, 15), ("strong", "weak", 11, 15)]);
        let Difference { difference, low, high, .. } = found[1].difference;
        assert_eq!((difference, low, high), (50.0, 50.0, 50.0));
    }
}
