//! TER, chrF++ and tests of significance against sacreBLEU 2.6.0: its own tests, and what it says of real outputs
//! (`tests/oracles/sacrebleu.json`, written by `scripts/sacrebleu_oracle.py`).

use std::fmt::Display;
use std::iter::Sum;

use serde_json::{Map, Value};
use zhuyi::corpus::read;
use zhuyi::metrics::significance::{self, SAMPLES, SEED, TRIALS};
use zhuyi::metrics::{BleuConfig, ChrfConfig, TerConfig};

use super::support::{data, json};

/// sacreBLEU's digits.
const EXACT: f64 = 1e-9;
/// The digits that are left of its single precision, from sums of some thousand sentences.
const SINGLE: f64 = 1e-4;

fn oracle() -> Value {
    serde_json::from_str(include_str!("../oracles/sacrebleu.json")).unwrap()
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn assert_number(ours: f64, expected: &Value, tolerance: f64, what: &dyn Display) {
    let expected = expected.as_f64().unwrap();
    assert!((ours - expected).abs() <= tolerance, "{what}: {ours} ≠ {expected}");
}

/// Real outputs and their references.
struct Set {
    hypotheses: Vec<String>,
    references: Vec<String>,
}

impl Set {
    fn read(name: &str) -> Option<Self> {
        let folder = data()?.join("metrics-real");
        let lines = |end: &str| {
            read::lines(&read::text(&folder.join(format!("{name}-{end}.txt"))).unwrap())
                .map(str::to_owned)
                .collect()
        };
        Some(Self { hypotheses: lines("hyp"), references: lines("ref") })
    }

    /// The oracle's other streams of references: those of the next line, and the hypotheses of the one before.
    fn others(&self) -> [Vec<String>; 2] {
        let (mut second, mut third) = (self.references.clone(), self.hypotheses.clone());
        second.rotate_left(1);
        third.rotate_right(1);
        [second, third]
    }

    /// A second system, as the oracle makes it.
    fn system(&self, rule: &str) -> Vec<String> {
        let made = |(i, line): (usize, &String)| {
            let mut words: Vec<&str> = line.split(' ').collect();
            match rule {
                "close" if i % 400 == 1 => return self.references[i].clone(),
                "close" if i % 25 == 0 => {
                    words.pop();
                }
                "dropped" if i % 3 == 0 => {
                    words.pop();
                }
                "swapped" => {
                    if i % 5 == 0 && words.len() > 1 {
                        words.remove(1);
                    }
                    if i % 7 == 0 && words.len() > 1 {
                        words.swap(0, 1);
                    }
                }
                _ => {}
            }
            words.join(" ")
        };
        self.hypotheses.iter().enumerate().map(made).collect()
    }

    /// The counts of our hypotheses and of another system's.
    fn counts<C>(&self, system: &[String], count: impl Fn(&str, &str) -> C) -> [Vec<C>; 2] {
        [&self.hypotheses, system].map(|hypotheses| {
            hypotheses.iter().zip(&self.references).map(|(one, reference)| count(one, reference)).collect()
        })
    }
}

fn ter(name: &str) -> TerConfig {
    let has = |option: &str| name == "all" || name.split(' ').any(|word| word == option);
    TerConfig {
        normalized: has("normalized"),
        no_punctuation: has("no_punctuation"),
        asian: has("asian"),
        case_sensitive: has("case_sensitive"),
    }
}

fn chrf(name: &str) -> ChrfConfig {
    ChrfConfig {
        word_order: name.matches('+').count(),
        lowercase: name.ends_with("lowercase"),
        whitespace: name.ends_with("whitespace"),
        epsilon: name.ends_with("epsilon"),
        ..ChrfConfig::default()
    }
}

fn assert_ter(config: &TerConfig, hypotheses: &[String], references: &[&[String]], told: &Value, what: &str) {
    let ours = config.corpus(hypotheses, references);
    assert_number(ours.score, &told["score"], EXACT, &what);
    assert_eq!(ours.edits as u64, told["edits"].as_u64().unwrap(), "{what}");
    assert_number(ours.ref_len, &told["ref_len"], 1e-6, &what);
    assert_eq!(ours.signature, told["signature"], "{what}");
}

fn assert_chrf(config: &ChrfConfig, hypotheses: &[String], references: &[&[String]], told: &Value, what: &str) {
    let ours = config.corpus(hypotheses, references);
    assert_number(ours.score, &told["score"], EXACT, &what);
    assert_eq!(ours.signature, told["signature"], "{what}");
}

#[test]
fn sacrebleus_own_ter_tests_pass() {
    let Some(suite) = json("vectors/sacrebleu-suite.json") else { return };
    let cases = suite["corpus_ter"].as_array().unwrap();
    for case in cases {
        let (hypotheses, references) = (strings(&case["hyp"]), strings(&case["ref"]));
        let ours = TerConfig::default().corpus(&hypotheses, &[&references]);
        assert_number(ours.score, &case["sacrebleu_2_6_0"], EXACT, case);
    }
    assert_eq!(cases.len(), 7);
}

#[test]
fn published_chrf_with_words_is_ours() {
    let Some(expected) = json("metrics-real/expected.json") else { return };
    for name in ["zh", "en", "newstest-deen"] {
        let Some(set) = Set::read(name) else { return };
        let ours = chrf("chrF2++").corpus(&set.hypotheses, &[&set.references]);
        assert_number(ours.score, &expected[name]["scores"]["chrF2++ (word 2)"], EXACT, &name);
    }
}

#[test]
fn every_option_scores_as_with_sacrebleu() {
    for (name, told) in object(&oracle()["sets"]) {
        let Some(set) = Set::read(name) else { return };
        for (option, told) in object(&told["ter"]) {
            assert_ter(&ter(option), &set.hypotheses, &[&set.references], told, &format!("{name} {option}"));
        }
        for (option, told) in object(&told["chrf"]) {
            assert_chrf(&chrf(option), &set.hypotheses, &[&set.references], told, &format!("{name} {option}"));
        }
        assert_eq!((object(&told["ter"]).len(), object(&told["chrf"]).len()), (7, 5));
    }
}

#[test]
fn several_references_score_as_with_sacrebleu() {
    for (name, told) in object(&oracle()["sets"]) {
        let Some(set) = Set::read(name) else { return };
        let [second, third] = set.others();
        for (key, told) in object(&told["several"]) {
            let what = format!("{name} {key}");
            let (metric, rule) = key.split_once(' ').unwrap_or((key, ""));
            let hypotheses = set.system(rule);
            // The other systems are scored with two streams.
            let streams: &[&[String]] =
                if rule.is_empty() { &[&set.references, &second, &third] } else { &[&set.references, &second] };
            match metric {
                "ter" => assert_ter(&TerConfig::default(), &hypotheses, streams, told, &what),
                _ => assert_chrf(&chrf("chrF2++"), &hypotheses, streams, told, &what),
            }
        }
        assert_eq!(object(&told["several"]).len(), 6);
    }
}

#[test]
fn single_sentences_score_as_with_sacrebleu() {
    let mut compared = 0;
    for (name, told) in object(&oracle()["sets"]) {
        let Some(set) = Set::read(name) else { return };
        let told = &told["sentences"];
        let step = told["step"].as_u64().unwrap() as usize;
        for (place, i) in (0..set.hypotheses.len()).step_by(step).enumerate() {
            let what = format!("{name} {i}");
            let (hypothesis, reference) = (&set.hypotheses[i..=i], &set.references[i..=i]);
            let ours = TerConfig::default().corpus(hypothesis, &[reference]).score;
            assert_number(ours, &told["ter"][place], EXACT, &what);
            let ours = chrf("chrF2++").corpus(hypothesis, &[reference]).score;
            assert_number(ours, &told["chrF2++"][place], EXACT, &what);
            compared += 1;
        }
    }
    assert_eq!(compared, 750);
}

/// Both tests of two systems by one score, against what sacreBLEU says.
fn assert_tests<C>(told: &Value, metric: &str, [baseline, system]: &[Vec<C>; 2], score: impl Fn(&C) -> f64 + Sync)
where
    C: Send + Sync + for<'a> Sum<&'a C>,
{
    let ours = significance::bootstrap(baseline, system, SAMPLES, SEED, &score);
    for (key, tolerance) in [("bs double", EXACT), ("bs", SINGLE)] {
        let (told, what) = (&told[key][metric], format!("{metric} {key}"));
        for (who, ours) in [("baseline", ours.baseline), ("system", ours.system)] {
            assert_number(ours.score, &told[who]["score"], EXACT, &what);
            assert_number(ours.mean, &told[who]["mean"], tolerance, &what);
            assert_number(ours.ci, &told[who]["ci"], tolerance, &what);
        }
        assert_number(ours.p, &told["system"]["p_value"], EXACT, &what);
    }
    let told = &told["ar"][metric];
    let ours = significance::randomisation(baseline, system, TRIALS, SEED, &score);
    assert_number(ours.baseline, &told["baseline"]["score"], EXACT, &metric);
    assert_number(ours.system, &told["system"]["score"], EXACT, &metric);
    assert_number(ours.p, &told["system"]["p_value"], EXACT, &metric);
}

#[test]
fn significance_is_sacrebleus() {
    let (bleu, chrf, ter) = (BleuConfig::default(), ChrfConfig::default(), TerConfig::default());
    for (name, told) in object(&oracle()["significance"]) {
        let Some(set) = Set::read(name) else { return };
        assert_eq!(told.as_object().map(Map::len), Some(2));
        for (rule, told) in object(told) {
            let system = set.system(rule);
            let counts = set.counts(&system, |one, reference| bleu.count(one, &[reference]));
            assert_tests(told, "BLEU", &counts, |sum| bleu.score(sum, 1).score);
            let counts = set.counts(&system, |one, reference| chrf.count(one, &[reference]));
            assert_tests(told, "chrF2", &counts, |sum| chrf.score(sum, 1).score);
            let counts = set.counts(&system, |one, reference| ter.count(one, &[reference]));
            assert_tests(told, "TER", &counts, |sum| ter.score(sum, 1).score);
            for (test, times) in [("bs", SAMPLES), ("ar", TRIALS)] {
                let told = &told[test]["signatures"];
                assert_eq!(told["BLEU"], significance::signature(&bleu.signature(1), test, times, SEED));
                assert_eq!(told["chrF2"], significance::signature(&chrf.signature(1), test, times, SEED));
                assert_eq!(told["TER"], significance::signature(&ter.signature(1), test, times, SEED));
            }
        }
    }
}
