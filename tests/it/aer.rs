//! Alignment error rates of other systems' links, to every printed digit.

use std::path::Path;

use serde_json::Value;
use zhuyi::alignment::links::parse_lines;
use zhuyi::alignment::{AlignmentErrorRate, Grow, SentenceLinks, Symmetry};
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

/// Each line's links of a system, source–target whatever its direction.
fn hypothesis(set: &str, name: &str) -> Vec<SentenceLinks> {
    let path = data().unwrap().join(set).join(format!("hyp/{name}.0.txt"));
    let links = links(&path);
    if name.ends_with(".reverse") { links.iter().map(SentenceLinks::reversed).collect() } else { links }
}

/// The published symmetrisations of the published directions: union and intersection on every line, the grow-diag family (whose
/// order of neighbours is that of a Python set, and which adds a link only between words that both have none) on nearly all.
#[test]
fn symmetrisations_are_the_published_ones() {
    if data().is_none() {
        return;
    }
    for set in ["align-hansards-en-fr", "align-roen-wpt03"] {
        for system in ["fastalign", "giza"] {
            let [forward, backward] =
                ["forward", "reverse"].map(|name| hypothesis(set, &format!("{system}.{name}")));
            let agreeing = |symmetry: Symmetry, published: &str| {
                let published = hypothesis(set, &format!("{system}.{published}"));
                let ours = forward.iter().zip(&backward).map(|(a, b)| symmetry.apply(a, b, Grow::Both));
                ours.zip(&published).filter(|(ours, theirs)| ours == *theirs).count()
            };
            let lines = forward.len();
            assert_eq!(agreeing(Symmetry::Union, "union"), lines, "{set} {system}");
            assert_eq!(agreeing(Symmetry::Intersection, "intersection"), lines, "{set} {system}");
            for (symmetry, published) in
                [(Symmetry::GrowDiag, "grow-diagonal"), (Symmetry::GrowDiagFinalAnd, "grow-diagonal-final")]
            {
                let same = agreeing(symmetry, published);
                let share = same as f64 / lines as f64;
                eprintln!("{set} {system} {published}: {same} of {lines} lines, {:.1} %", 100.0 * share);
                assert!(share >= 0.97, "{set} {system} {published}: {same} of {lines}");
            }
        }
    }
}
