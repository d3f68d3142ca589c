//! Matrix products on slices in 32 bits.
//!
//! Two ways, for two uses. [`wide`] is one large product over all cores by the `gemm` crate (burn-flex's own).
//! [`packed`] is ours: the right side is laid out once and then multiplied many times with few rows, as a
//! recurrent step does; the crate lays it out anew at every call, which costs it half its speed there.

mod micro;
pub mod packed;

use std::time::Instant;

use gemm::Parallelism;

pub use packed::Packed;

/// A matrix in a slice: its rows are `row` apart, its columns `column`.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row: usize,
    column: usize,
}

impl<'a> Matrix<'a> {
    /// Rows one after the other.
    pub fn new(values: &'a [f32], [rows, columns]: [usize; 2]) -> Self {
        Self::with_rows_apart(values, [rows, columns], columns)
    }

    /// Rows that are `row` apart.
    pub fn with_rows_apart(values: &'a [f32], [rows, columns]: [usize; 2], row: usize) -> Self {
        assert!(rows == 0 || values.len() >= (rows - 1) * row + columns, "a matrix lies inside its slice");
        Self { values, rows, columns, row, column: 1 }
    }

    /// The same numbers, rows as columns.
    pub fn transposed(self) -> Self {
        let Self { values, rows, columns, row, column } = self;
        Self { values, rows: columns, columns: rows, row: column, column: row }
    }

    /// Some of the rows.
    pub fn rows(self, rows: std::ops::Range<usize>) -> Self {
        assert!(rows.start <= rows.end && rows.end <= self.rows);
        let from = (rows.start * self.row).min(self.values.len());
        Self { values: &self.values[from..], rows: rows.len(), ..self }
    }
}

/// Whether a product replaces what is there or adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// out = left · right.
    Replace,
    /// out += left · right.
    Add,
}

/// left · right over all cores into rows one after the other.
pub fn wide(left: Matrix<'_>, right: Matrix<'_>, out: &mut [f32], write: Write) {
    let (m, k, n) = (left.rows, left.columns, right.columns);
    assert!(right.rows == k && out.len() == m * n, "sizes fit: {m} × {k} · {} × {n} → {}", right.rows, out.len());
    let add = write == Write::Add;
    // SAFETY: every matrix lies inside its slice, as their constructor checked; `out` is ours alone.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr(),
            1,
            n as isize,
            add,
            left.values.as_ptr(),
            left.column as isize,
            left.row as isize,
            right.values.as_ptr(),
            right.column as isize,
            right.row as isize,
            if add { 1.0 } else { 0.0 },
            1.0,
            false,
            false,
            false,
            Parallelism::Rayon(0),
        );
    }
}

/// The best rate of a large product on this machine now, in GFLOP/s: `[960, 512] · [512, 8000]`, the shape of
/// an output layer, the best of ten.
pub fn product_rate() -> f64 {
    let (m, k, n) = (960, 512, 8000);
    let (left, right, mut out) = (vec![0.5; m * k], vec![0.5; k * n], vec![0.0; m * n]);
    let seconds = (0..10).map(|_| {
        let started = Instant::now();
        wide(Matrix::new(&left, [m, k]), Matrix::new(&right, [k, n]), &mut out, Write::Replace);
        started.elapsed().as_secs_f64()
    });
    2.0 * (m * k * n) as f64 / seconds.fold(f64::INFINITY, f64::min) / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_products_by_hand() {
        // [1 2; 3 4] with rows 3 apart, times [5 6; 7 8].
        let left = Matrix::with_rows_apart(&[1.0, 2.0, 9.0, 3.0, 4.0], [2, 2], 3);
        let values = [5.0, 6.0, 7.0, 8.0];
        let right = Matrix::new(&values, [2, 2]);
        let mut out = [1.0; 4];
        wide(left, right, &mut out, Write::Replace);
        assert_eq!(out, [19.0, 22.0, 43.0, 50.0]);
        wide(left, right, &mut out, Write::Add);
        assert_eq!(out, [38.0, 44.0, 86.0, 100.0]);
        wide(left.transposed(), right, &mut out, Write::Replace);
        assert_eq!(out, [26.0, 30.0, 38.0, 44.0]);
        wide(left, right.transposed(), &mut out, Write::Replace);
        assert_eq!(out, [17.0, 23.0, 39.0, 53.0]);
        wide(left.rows(1..2), right, &mut out[..2], Write::Replace);
        assert_eq!(out[..2], [43.0, 50.0]);
    }
}
