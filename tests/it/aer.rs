//! Alignment error rates of other systems' links, to every printed digit.

use std::path::Path;

use serde_json::Value;
use zhuyi::alignment::links::parse_lines;
use zhuyi::alignment::{AlignmentErrorRate, SentenceLinks};
use zhuyi::corpus::read;

use super::support::{data, json};

fn links(path: &Path) -> Vec<SentenceLinks> {
    parse_lines(path, read::lines(&read::text(path).unwrap()), 0).unwrap()
}

#[test]
fn error_rates_are_the_published_ones() {
    let Some(data) = data() else { return };
    let mut compared = 0;
    for set in ["align-hansards-en-fr", "align-kftt-ja-en", "align-roen-wpt03", "align-tsinghua-zh-en"] {
        let gold = links(&data.join(set).join("gold.0.txt"));
        for case in json(&format!("{set}/expected-aer.json")).unwrap().as_array().unwrap() {
            let system = links(&data.join(set).join(case["hyp"].as_str().unwrap()));
            assert_eq!(system.len(), gold.len());
            let reversed = case["orientation"].as_str().unwrap().starts_with("tgt-src");
            let counts: AlignmentErrorRate = system
                .iter()
                .zip(&gold)
                .map(|(system, gold)| match reversed {
                    true => AlignmentErrorRate::of(&system.reversed(), gold),
                    false => AlignmentErrorRate::of(system, gold),
                })
                .sum();
            let printed = |value: f64| (value * 1e6).round() / 1e6;
            let expected = |key: &str| case[key].as_f64().unwrap();
            assert_eq!(Value::from(counts.links), case["links"], "{set} {}", case["hyp"]);
            for (key, ours) in
                [("aer", counts.aer()), ("precision", counts.precision()), ("recall", counts.recall())]
            {
                assert_eq!(printed(ours), expected(key), "{set} {} {key}", case["hyp"]);
            }
            compared += 1;
        }
    }
    assert_eq!(compared, 28);
}
