//! How good translations are. Scores are sacreBLEU's, digit for digit, with its signatures.

pub mod bleu;
pub mod by_length;
pub mod chrf;
mod numpy;
pub mod resample;
pub mod significance;
pub mod ter;
pub mod token_accuracy;
pub mod tokenize;

pub use bleu::{Bleu, BleuConfig, Smoothing};
pub use chrf::{Chrf, ChrfConfig};
pub use ter::{Ter, TerConfig};
pub use token_accuracy::Hits;
pub use tokenize::Tokenization;

/// The share of hypotheses that are exactly their reference, or one of several; 0 without hypotheses.
pub fn exact_match<S: AsRef<str>>(hypotheses: &[S], references: &[&[S]]) -> f64 {
    let hits = hypotheses
        .iter()
        .enumerate()
        .filter(|(i, hypothesis)| references.iter().any(|stream| stream[*i].as_ref() == hypothesis.as_ref()));
    if hypotheses.is_empty() { 0.0 } else { hits.count() as f64 / hypotheses.len() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_several_references_is_enough() {
        let (hypotheses, first, second) = (["a", "b", "c"], ["a", "x", "y"], ["z", "b", "C"]);
        assert!((exact_match(&hypotheses, &[&first, &second]) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(exact_match::<&str>(&[], &[]), 0.0);
    }
}
