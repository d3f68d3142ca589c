//! How sure attention is.

use std::iter::Sum;

use serde::{Deserialize, Serialize};

use super::Alignment;

/// The entropy of a row of weights in nats: 0 for a single place, ln S for S places alike. A row that does not sum to 1
/// (local-p's) is scaled to; one without any weight has none.
pub fn entropy(row: &[f32]) -> f64 {
    let sum: f64 = row.iter().map(|&weight| f64::from(weight)).sum();
    let positive = row.iter().map(|&weight| f64::from(weight) / sum).filter(|&p| p > 0.0);
    -positive.map(|p| p * p.ln()).sum::<f64>() + 0.0
}

/// The entropy of rows of weights, summed, so that sentences add up to a corpus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Entropy {
    /// The sum over rows in nats.
    pub sum: f64,
    /// How many rows; of several heads each head's (their mean would be spread even where every head is sure).
    pub rows: usize,
}

impl Entropy {
    /// Of the rows of an alignment.
    pub fn of(alignment: &Alignment) -> Self {
        let of_rows =
            |rows: &Vec<Vec<f32>>| Self { sum: rows.iter().map(|row| entropy(row)).sum(), rows: rows.len() };
        match alignment.heads.as_slice() {
            [] => of_rows(&alignment.weights),
            heads => heads.iter().map(of_rows).sum(),
        }
    }

    /// That of a row, in nats; nothing without rows.
    pub fn mean(self) -> Option<f64> {
        (self.rows > 0).then(|| self.sum / self.rows as f64)
    }
}

impl Sum for Entropy {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |all, part| Self { sum: all.sum + part.sum, rows: all.rows + part.rows })
    }
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
        assert!((Entropy::of(&alignment).mean().unwrap() - 2f64.ln() / 2.0).abs() < 1e-12);
        // Two heads that are sure of different places.
        let heads = vec![vec![vec![1.0, 0.0]], vec![vec![0.0, 1.0]]];
        let sure = Alignment { weights: vec![vec![0.5, 0.5]], heads, ..Alignment::default() };
        assert_eq!(Entropy::of(&sure), Entropy { sum: 0.0, rows: 2 });
        assert_eq!(Entropy::of(&Alignment::default()).mean(), None);
        let both: Entropy = [Entropy { sum: 3.0, rows: 2 }, Entropy { sum: 1.0, rows: 2 }].into_iter().sum();
        assert_eq!(both.mean(), Some(1.0));
    }
}
