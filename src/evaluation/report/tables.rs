//! The tables of a report: rows of cells, the first row and column heads.

use crate::evaluation::{Comparison, Evaluation, FrequencyBucket};
use crate::metrics::by_length::LengthBucket;

fn row<const N: usize>(cells: [&str; N]) -> Vec<String> {
    cells.iter().map(|&cell| cell.to_owned()).collect()
}

/// Every score, and how it was computed.
pub(super) fn scores(evaluation: &Evaluation) -> Vec<Vec<String>> {
    let it = &evaluation.scores;
    let scored = |name: &str, score: f64, signature: &str| {
        vec![name.to_owned(), format!("{score:.2}"), format!("`{signature}`")]
    };
    let mut rows = vec![
        row(["score", "", "signature"]),
        scored("BLEU", it.bleu.score, &it.bleu.signature),
        scored("chrF2", it.chrf.score, &it.chrf.signature),
        scored("chrF2++", it.chrf_words.score, &it.chrf_words.signature),
        scored("TER", it.ter.score, &it.ter.signature),
        vec!["exact match".into(), format!("{:.1} %", 100.0 * it.exact_match), String::new()],
        vec!["length ratio".into(), format!("{:.3}", it.length_ratio), String::new()],
    ];
    if let Some(linked) = &evaluation.linked {
        let told = format!("reference forced; a perfect aligner of one link a target word: {:.4}", linked.floor);
        rows.push(vec!["AER".into(), format!("{:.4}", linked.aer), told]);
        if let Some(entropy) = linked.entropy {
            rows.push(vec!["entropy".into(), format!("{entropy:.3}"), "nats a row of weights".into()]);
        }
    }
    rows
}

pub(super) fn against(against: &Comparison) -> Vec<Vec<String>> {
    let mut rows =
        vec![row(["score", "this system", "the other", "difference", "p (bootstrap)", "p (randomisation)"])];
    for compared in &against.scores {
        let told = |it: &crate::metrics::significance::Estimate| {
            format!("{:.2} ({:.2} ± {:.2})", it.score, it.mean, it.ci)
        };
        let (system, baseline) = (&compared.bootstrap.system, &compared.bootstrap.baseline);
        rows.push(vec![
            compared.score.to_owned(),
            told(system),
            told(baseline),
            format!("{:+.2}", system.score - baseline.score),
            format!("{:.4}", compared.bootstrap.p),
            format!("{:.4}", compared.randomisation.p),
        ]);
    }
    rows
}

pub(super) fn by_length(buckets: &[LengthBucket]) -> Vec<Vec<String>> {
    let told =
        |it: &LengthBucket| vec![range(it.from, it.to), it.sentences.to_string(), format!("{:.2}", it.bleu)];
    std::iter::once(row(["source words", "sentences", "BLEU"])).chain(buckets.iter().map(told)).collect()
}

pub(super) fn rare_words(buckets: &[FrequencyBucket]) -> Vec<Vec<String>> {
    let share = |right: usize, all: usize| match all {
        0 => "–".to_owned(),
        _ => format!("{:.1} %", 100.0 * right as f64 / all as f64),
    };
    let told = |it: &FrequencyBucket| {
        vec![
            range(it.from, it.to),
            it.references.to_string(),
            share(it.right, it.references),
            it.hypotheses.to_string(),
            share(it.right, it.hypotheses),
            it.f1.map_or("–".into(), |f1| format!("{:.1} %", 100.0 * f1)),
        ]
    };
    let head =
        row(["times in training", "in references", "of them written", "in hypotheses", "of them right", "F1"]);
    std::iter::once(head).chain(buckets.iter().map(told)).collect()
}

/// Numbers from one to another, or without an end.
pub fn range(from: usize, to: Option<usize>) -> String {
    match to {
        Some(to) if to == from => from.to_string(),
        Some(to) => format!("{from}–{to}"),
        None => format!("{from} or more"),
    }
}
