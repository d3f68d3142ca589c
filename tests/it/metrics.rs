//! BLEU and chrF against sacreBLEU 2.6.0: real outputs, and sacreBLEU's own tests.

use serde_json::Value;
use zhuyi::corpus::read;
use zhuyi::metrics::bleu::Counts;
use zhuyi::metrics::{BleuConfig, ChrfConfig, Smoothing, Tokenization};

use super::support::{data, json};

fn strings(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        list => list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect(),
    }
}

fn counts(value: &Value) -> Vec<usize> {
    value.as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
}

fn tokenization(name: &str) -> Tokenization {
    Tokenization::ALL.into_iter().find(|tokenization| tokenization.name() == name).unwrap()
}

fn smoothing(case: &Value) -> Smoothing {
    let value = |default| case["smooth_value"].as_f64().unwrap_or(default);
    match case["smooth"].as_str().unwrap() {
        "exp" => Smoothing::Exponential,
        "floor" => Smoothing::Floor(value(0.1)),
        "add-k" => Smoothing::AddK(value(1.0)),
        "none" => Smoothing::None,
        other => panic!("{other}"),
    }
}

fn assert_score(ours: f64, expected: f64, tolerance: f64, what: &dyn std::fmt::Display) {
    assert!((ours - expected).abs() <= tolerance, "{what}: {ours} ≠ {expected}");
}

#[test]
fn real_outputs_score_as_with_sacrebleu() {
    let Some(expected) = json("metrics-real/expected.json") else { return };
    let folder = data().unwrap().join("metrics-real");
    let lines = |name: String| -> Vec<String> {
        read::lines(&read::text(&folder.join(name)).unwrap()).map(str::to_owned).collect()
    };
    let mut compared = 0;
    for set in ["zh", "en", "newstest-deen"] {
        let (hypotheses, references) = (lines(format!("{set}-hyp.txt")), lines(format!("{set}-ref.txt")));
        for (key, score) in expected[set]["scores"].as_object().unwrap() {
            let what = format!("{set} {key}");
            if key.starts_with("chrF2 ") {
                let ours = ChrfConfig::default().corpus(&hypotheses, &[&references]).score;
                assert_score(ours, score.as_f64().unwrap(), 1e-9, &what);
            } else if let Some(options) = key.strip_prefix("bleu tok:") {
                let (tok, lowercase) = options.split_once(" lc:").unwrap();
                let config = BleuConfig {
                    tokenization: tokenization(tok),
                    lowercase: lowercase == "True",
                    ..BleuConfig::default()
                };
                let ours = config.corpus(&hypotheses, &[&references]);
                assert_eq!(ours.counts, counts(&score["counts"]), "{what}");
                assert_eq!(ours.totals, counts(&score["totals"]), "{what}");
                assert_eq!(
                    (ours.sys_len as u64, ours.ref_len as u64),
                    (score["sys_len"].as_u64().unwrap(), score["ref_len"].as_u64().unwrap())
                );
                assert_score(ours.score, score["score"].as_f64().unwrap(), 1e-9, &what);
                assert_score(ours.bp, score["bp"].as_f64().unwrap(), 1e-9, &what);
            } else {
                // chrF++ comes with word n-grams.
                continue;
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 17);
}

#[test]
fn real_sentences_are_cut_as_by_sacrebleu() {
    let Some(file) = json("metrics-real/tokenizers.json") else { return };
    let cases = file["cases"].as_array().unwrap();
    for case in cases {
        for (name, tokens) in case["tokens"].as_object().unwrap() {
            let ours = tokenization(name).apply(case["text"].as_str().unwrap());
            let words = |text: &str| zhuyi::metrics::tokenize::words(text).collect::<Vec<_>>().join(" ");
            assert_eq!(words(&ours), words(tokens.as_str().unwrap()), "{name}");
        }
    }
    assert_eq!(cases.len(), 360);
}

#[test]
fn sacrebleus_own_bleu_tests_pass() {
    let Some(suite) = json("vectors/sacrebleu-suite.json") else { return };
    let list = |name: &str| suite[name].as_array().unwrap().clone();
    let streams =
        |case: &Value| -> Vec<Vec<String>> { case["refs"].as_array().unwrap().iter().map(strings).collect() };
    let corpus = |config: &BleuConfig, case: &Value| {
        let references = streams(case);
        let references: Vec<&[String]> = references.iter().map(Vec::as_slice).collect();
        config.corpus(&strings(&case["hyp"]), &references)
    };
    for case in list("corpus_bleu_raw") {
        // sacreBLEU's raw_corpus_bleu leaves out orders that the text is too short for.
        let config = BleuConfig {
            tokenization: Tokenization::None,
            smoothing: smoothing(&case),
            effective_order: true,
            ..BleuConfig::default()
        };
        assert_score(corpus(&config, &case).score / 100.0, case["sacrebleu_2_6_0"].as_f64().unwrap(), 1e-9, &case);
    }
    for case in list("corpus_bleu") {
        let options = &case["options"];
        let config = BleuConfig {
            tokenization: options["tokenize"].as_str().map_or(Tokenization::V13a, tokenization),
            smoothing: if options["smooth_method"] == "none" { Smoothing::None } else { Smoothing::Exponential },
            max_order: options["max_ngram_order"].as_u64().unwrap_or(4) as usize,
            ..BleuConfig::default()
        };
        assert_score(corpus(&config, &case).score, case["sacrebleu_2_6_0"].as_f64().unwrap(), 1e-9, &case);
    }
    for case in list("statistics") {
        let config = BleuConfig { tokenization: Tokenization::None, ..BleuConfig::default() };
        let ours = corpus(&config, &case);
        assert_eq!((ours.counts, ours.totals), (counts(&case["counts"]), counts(&case["totals"])));
    }
    for case in list("score_from_statistics") {
        let smoothing = if case["smooth"] == "floor" { smoothing(&case) } else { Smoothing::Exponential };
        let config = BleuConfig { smoothing, ..BleuConfig::default() };
        let counted = Counts {
            correct: counts(&case["counts"]),
            total: counts(&case["totals"]),
            hypothesis: case["hyp_len"].as_u64().unwrap() as usize,
            reference: case["ref_len"].as_u64().unwrap() as usize,
        };
        let expected = case["expected_fraction"].as_f64().unwrap();
        assert_score(config.score(&counted, 1).score / 100.0, expected, 1e-9, &case);
    }
    for case in list("sentence_bleu") {
        let config = BleuConfig {
            tokenization: tokenization(case["tokenize"].as_str().unwrap()),
            lowercase: case["lowercase"] == true,
            smoothing: smoothing(&case),
            effective_order: case["effective_order"] == true,
            max_order: 4,
        };
        let ours = config.corpus(&strings(&case["hyp"]), &[&strings(&case["ref"])]);
        assert_score(ours.score, case["sacrebleu_2_6_0"].as_f64().unwrap(), 1e-9, &case);
    }
}

#[test]
fn sacrebleus_own_chrf_tests_pass() {
    let Some(suite) = json("vectors/sacrebleu-suite.json") else { return };
    let mut compared = 0;
    for name in ["corpus_chrf", "sentence_chrf"] {
        for case in suite[name].as_array().unwrap() {
            assert_eq!(case["word_order"], 0);
            let config = ChrfConfig {
                max_order: case["char_order"].as_u64().unwrap() as usize,
                word_order: case["word_order"].as_u64().unwrap() as usize,
                beta: case["beta"].as_f64().unwrap(),
                epsilon: case["eps_smoothing"] == true,
                whitespace: case["remove_whitespace"] == false,
                lowercase: false,
            };
            let references: Vec<Vec<String>> = match case.get("refs") {
                Some(refs) => strings(refs).into_iter().map(|one| vec![one]).collect(),
                None => vec![strings(&case["ref"])],
            };
            let references: Vec<&[String]> = references.iter().map(Vec::as_slice).collect();
            let ours = config.corpus(&strings(&case["hyp"]), &references);
            assert_score(ours.score, case["sacrebleu_2_6_0"].as_f64().unwrap(), 1e-9, case);
            compared += 1;
        }
    }
    assert_eq!(compared, 25);
}
