//! What looks wrong with a test set, before anybody believes a number.

use super::Test;
use crate::metrics::tokenize::words;
use crate::text::is_unspaced;

/// The share of lines that must look so, and the fewest, before it is told.
const SHARE: f64 = 0.3;
const LEAST: usize = 5;

/// What looks wrong.
pub(super) fn of(test: &Test) -> Vec<String> {
    let (hypotheses, references) = (&test.hypotheses, &test.references[0]);
    let mut warnings = Vec::new();
    let (ours, theirs) = (tokenised(hypotheses), tokenised(references));
    if is_many(ours, hypotheses.len()) && ours >= 2 * theirs {
        warnings.push(format!(
            "{ours} of {} hypotheses have a space before their last punctuation, {theirs} references have: they look tokenised; \
             scores are of plain text",
            hypotheses.len()
        ));
    }
    let scripts = [unspaced(hypotheses), unspaced(references)];
    if let [Some(ours), Some(theirs)] = scripts
        && ours != theirs
    {
        warnings.push("hypotheses and references are in different scripts: are the sides swapped?".into());
    } else if test.sources.as_ref().is_some_and(|sources| is_nearer(hypotheses, sources, references)) {
        warnings.push(
            "hypotheses share more words with their sources than with the references: are the sides swapped?"
                .into(),
        );
    }
    if test.against.as_ref() == Some(hypotheses) {
        warnings.push("the other system's translations are the same, line by line: is it the same file?".into());
    }
    warnings
}

fn is_many(lines: usize, all: usize) -> bool {
    lines >= LEAST && lines as f64 > SHARE * all as f64
}

/// Lines that end in a space and punctuation.
fn tokenised(lines: &[String]) -> usize {
    let ends =
        |line: &&String| [" .", " ?", " !", " 。", " ？", " ！"].iter().any(|end| line.trim_end().ends_with(end));
    lines.iter().filter(ends).count()
}

/// Whether most letters belong to a script without spaces; nothing without letters.
fn unspaced(lines: &[String]) -> Option<bool> {
    let letters = || lines.iter().flat_map(|line| line.chars()).filter(|c| c.is_alphabetic());
    let all = letters().count();
    (all > 0).then(|| 2 * letters().filter(|&c| is_unspaced(c)).count() > all)
}

/// Whether most hypotheses share more words with their sources than with the references.
fn is_nearer(hypotheses: &[String], sources: &[String], references: &[String]) -> bool {
    let shared = |a: &str, b: &str| {
        let b: Vec<&str> = words(b).collect();
        words(a).filter(|word| b.contains(word)).count()
    };
    let mut nearer = 0;
    for ((hypothesis, source), reference) in hypotheses.iter().zip(sources).zip(references) {
        let (source, reference) = (shared(hypothesis, source), shared(hypothesis, reference));
        nearer += usize::from(source > reference);
    }
    nearer >= LEAST && 2 * nearer > hypotheses.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn warned(hypothesis: &str, reference: &str, source: Option<&str>) -> Vec<String> {
        let lines = |line: &str| vec![line.to_owned(); 10];
        of(&Test {
            hypotheses: lines(hypothesis),
            references: vec![lines(reference)],
            sources: source.map(lines),
            ..Test::default()
        })
    }

    #[test]
    fn tokenised_text_and_swapped_sides_are_noticed() {
        assert!(warned("the cat .", "the cat.", None)[0].contains("10 of 10 hypotheses have a space"));
        assert!(warned("the cat .", "the cat .", None).is_empty());
        assert!(warned("the cat sleeps", "猫睡觉", None)[0].contains("different scripts"));
        let swapped = warned("der Hund schläft", "the dog sleeps", Some("der Hund schläft"));
        assert!(swapped[0].contains("share more words with their sources"));
        assert!(warned("the dog sleeps", "the dog sleeps", Some("der Hund schläft")).is_empty());
        assert!(warned("", "猫睡觉", None).is_empty() && warned("12 .", "猫睡觉 .", None).is_empty());
    }

    /// A few lines of many prove nothing.
    #[test]
    fn a_few_lines_are_not_warned_of() {
        let lines = |some: &str, n: usize, others: &str| {
            [vec![some.to_owned(); n], vec![others.to_owned(); 40 - n]].concat()
        };
        // Ten lines are nearer to their sources, and the other thirty to neither.
        let test = Test {
            hypotheses: lines("Berlin Hamburg", 10, "the cat"),
            references: vec![lines("Berlin", 10, "a dog")],
            sources: Some(lines("Berlin Hamburg", 10, "ein Hund")),
            ..Test::default()
        };
        assert!(of(&test).is_empty());
        // References are often tokenised themselves.
        let (hypotheses, references) = (lines("a .", 14, "a."), vec![lines("a .", 10, "a.")]);
        assert!(of(&Test { hypotheses: hypotheses.clone(), references, ..Test::default() }).is_empty());
        let references = vec![lines("a .", 7, "a.")];
        assert_eq!(
            of(&Test { hypotheses: hypotheses.clone(), references: references.clone(), ..Test::default() }).len(),
            1
        );
        let against = Some(hypotheses.clone());
        let told = of(&Test { hypotheses, references, against, ..Test::default() });
        assert!(told[1].contains("the same, line by line"), "{told:?}");
    }
}
