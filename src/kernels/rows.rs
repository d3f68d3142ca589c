//! Rows of a matrix in another order.

/// Some rows, one after the other.
pub(crate) fn gather(values: &[f32], width: usize, rows: &[usize]) -> Vec<f32> {
    let mut out = Vec::with_capacity(rows.len() * width);
    for &row in rows {
        out.extend_from_slice(&values[row * width..][..width]);
    }
    out
}

/// Puts rows where they belong.
pub(super) fn scatter(values: &[f32], width: usize, rows: &[usize], out: &mut [f32]) {
    for (&row, values) in rows.iter().zip(values.chunks(width.max(1))) {
        out[row * width..][..width].copy_from_slice(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_and_come_back() {
        let values = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5];
        let gathered = gather(&values, 2, &[2, 0]);
        assert_eq!(gathered, [2.0, 2.5, 0.0, 0.5]);
        let mut out = [9.0; 6];
        scatter(&gathered, 2, &[2, 0], &mut out);
        assert_eq!(out, [0.0, 0.5, 9.0, 9.0, 2.0, 2.5]);
    }
}
