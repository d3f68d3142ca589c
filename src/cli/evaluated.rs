//! How an evaluation is told: in a report, and to people.

use std::path::Path;

use serde_json::Value;

use super::output::note;
use zhuyi::evaluation::Evaluation;
use zhuyi::evaluation::report::{About, markdown, page, range};
use zhuyi::plot::terminal;
use zhuyi::run::write_whole;

/// Writes a report in the form that its name ends in.
pub(super) fn report(path: &Path, evaluation: &Evaluation, answer: &Value, name: &str) -> anyhow::Result<()> {
    // What is no text is told as well as it can be.
    let command = std::env::args_os()
        .skip(1)
        .map(|argument| quoted(&argument.to_string_lossy()))
        .collect::<Vec<_>>()
        .join(" ");
    let about = About { title: format!("Evaluation of {name}"), command: format!("zhuyi {command}") };
    let text = match path.extension().and_then(|extension| extension.to_str()) {
        Some("md") => markdown(evaluation, &about),
        Some("html") => page(evaluation, &about)?,
        _ => format!("{}\n", serde_json::to_string_pretty(answer)?),
    };
    write_whole(path, text.as_bytes())?;
    note(&format!("report written to {}", path.display()));
    Ok(())
}

/// An argument as a shell takes it.
fn quoted(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// Scores as people read them.
pub(super) fn told(evaluation: &Evaluation) -> String {
    let it = &evaluation.scores;
    let mut told = format!(
        "{} sentences\nBLEU    {:.2}  {}\nchrF2   {:.2}  {}\nchrF2++ {:.2}  {}\nTER     {:.2}  {}\nexact   {:.1} %\nlength  {:.3} of \
         the references'",
        it.sentences,
        it.bleu.score,
        it.bleu.signature,
        it.chrf.score,
        it.chrf.signature,
        it.chrf_words.score,
        it.chrf_words.signature,
        it.ter.score,
        it.ter.signature,
        100.0 * it.exact_match,
        it.length_ratio
    );
    if let Some(linked) = &evaluation.linked {
        told += &format!(
            "\nAER     {:.4}  reference forced; a perfect aligner of one link a target word: {:.4}",
            linked.aer, linked.floor
        );
        if let Some(entropy) = linked.entropy {
            told += &format!("\nentropy {entropy:.3} nats a row of weights");
        }
    }
    for bucket in &evaluation.by_length {
        let words = range(bucket.from, bucket.to);
        told +=
            &format!("\n  {words:<10} source words: {:>5} sentences, BLEU {:.2}", bucket.sentences, bucket.bleu);
    }
    for bucket in &evaluation.rare_words {
        let times = range(bucket.from, bucket.to);
        let f1 = bucket.f1.map_or("–".into(), |f1| format!("{:.1} %", 100.0 * f1));
        told += &format!(
            "\n  {times:<12} times in training: {:>6} words in the references, {:>6} written, {:>6} right, F1 {f1}",
            bucket.references, bucket.hypotheses, bucket.right
        );
    }
    told + &told_against(evaluation) + &told_worst(evaluation)
}

/// Beside the other system.
fn told_against(evaluation: &Evaluation) -> String {
    let Some(against) = &evaluation.against else { return String::new() };
    let mut told = format!(
        "\nbeside the other system: score (mean ± 95 %) of this, of the other; p by {} samples, by {} shuffles",
        against.samples, against.trials
    );
    for compared in &against.scores {
        let (ours, theirs) = (&compared.bootstrap.system, &compared.bootstrap.baseline);
        told += &format!(
            "\n  {:7} {:.2} ({:.2} ± {:.2})  {:.2} ({:.2} ± {:.2})  p {:.4}  {:.4}",
            compared.score,
            ours.score,
            ours.mean,
            ours.ci,
            theirs.score,
            theirs.mean,
            theirs.ci,
            compared.bootstrap.p,
            compared.randomisation.p
        );
    }
    told
}

/// The worst sentences.
fn told_worst(evaluation: &Evaluation) -> String {
    let mut told = String::new();
    for sentence in &evaluation.worst {
        told += &format!("\n\n{}  BLEU {:.2}, chrF2 {:.2}", sentence.id + 1, sentence.bleu, sentence.chrf);
        for (name, text) in sentence.texts() {
            told += &format!("\n  {name:11} {text}");
        }
        if let Some(alignment) = &sentence.alignment {
            told += &format!("\n{}", terminal::draw(alignment).trim_end());
        }
    }
    told
}
