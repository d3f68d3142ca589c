//! How sure attention is.

use super::Alignment;

/// The entropy of a row of weights in nats: 0 for a single place, ln S for S places alike. A row that does not sum to 1
/// (local-p's) is scaled to; one without any weight has none.
pub fn entropy(row: &[f32]) -> f64 {
    let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
    let positive = row.iter().map(|&weight| f64::from(weight) / sum).filter(|&p| p > 0.0);
    -positive.map(|p| p * p.ln()).sum::<f64>() + 0.0
}

/// The mean entropy of all rows of some alignments in nats, of several heads each head's (their mean would be spread
/// even where every head is sure); nothing without rows.
pub fn mean_entropy<'a>(alignments: impl IntoIterator<Item = &'a Alignment>) -> Option<f64> {
    let rows = alignments.into_iter().flat_map(|alignment| match alignment.heads.as_slice() {
        [] => alignment.weights.iter().collect::<Vec<_>>(),
        heads => heads.iter().flatten().collect(),
    });
    let (sum, n) = rows.fold((0.0, 0usize), |(sum, n), row| (sum + entropy(row), n + 1));
    (n > 0).then(|| sum / n as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn worked_by_hand() {
        assert_eq!(entropy(&[0.0, 1.0, 0.0]), 0.0);
        assert!((entropy(&[0.25; 4]) - 4f64.ln()).abs() < 1e-12);
        // Scaled to a sum of 1: the same as (1/2, 1/2).
        assert!((entropy(&[0.2, 0.2, 0.0]) - 2f64.ln()).abs() < 1e-12);
        assert_eq!(entropy(&[0.0, 0.0]), 0.0);
        let alignment = Alignment { weights: vec![vec![1.0, 0.0], vec![0.5, 0.5]], ..Alignment::default() };
        assert!((mean_entropy([&alignment]).unwrap() - 2f64.ln() / 2.0).abs() < 1e-12);
        // Two heads that are sure of different places.
        let heads = vec![vec![vec![1.0, 0.0]], vec![vec![0.0, 1.0]]];
        let sure = Alignment { weights: vec![vec![0.5, 0.5]], heads, ..Alignment::default() };
        assert_eq!(mean_entropy([&sure]), Some(0.0));
        assert_eq!(mean_entropy([&Alignment::default()]), None);
    }
}
