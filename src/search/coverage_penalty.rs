//! Ranking by how much of the source was looked at: Wu et al. 2016, "Google's neural machine translation system",
//! section 7, eq. 14.

use super::Look;

/// A position that was never looked at counts as if it had had this weight: windows and sparse choices leave some at
/// exactly 0, whose logarithm would make all translations equally bad. (The paper has softmax only.)
const LEAST: f64 = 1e-6;

/// β Σ_s ln min(Σ_t a_ts, 1), at most 0: what a translation loses for the words of its source that it looked at less than
/// once in all. `looks` are the steps that wrote its tokens, `words` is how many positions the source has; the end of the
/// sentence is left out on both sides, for it says nothing about what was translated. Where the penalty is none (β = 0)
/// nothing is lost.
pub fn coverage_penalty<'a>(beta: f64, looks: impl Iterator<Item = &'a Look>, words: usize) -> f64 {
    if beta == 0.0 {
        return 0.0;
    }
    let mut covered = vec![0.0; words];
    for look in looks {
        covered.iter_mut().zip(&look.weights).for_each(|(sum, &weight)| *sum += f64::from(weight));
    }
    beta * covered.iter().map(|sum| sum.clamp(LEAST, 1.0).ln()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: position 0 had 1.5, which counts as 1; position 1 had 0.5; position 2 nothing; position 3 is padding.
    #[test]
    fn what_was_looked_at_less_than_once_costs() {
        let looks = [vec![1.0, 0.0, 0.0, 0.0], vec![0.5, 0.5, 0.0, 0.0]].map(Look::single);
        let right = 0.2 * (0.5f64.ln() + 1e-6f64.ln());
        assert!((coverage_penalty(0.2, looks.iter(), 3) - right).abs() < 1e-9);
        assert!((coverage_penalty(0.2, looks.iter(), 2) - 0.2 * 0.5f64.ln()).abs() < 1e-9);
        assert_eq!(coverage_penalty(0.0, looks.iter(), 3), 0.0);
    }
}
