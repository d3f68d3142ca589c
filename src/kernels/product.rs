//! Matrix products on row-major slices, by the `gemm` crate (burn-flex's own).

use gemm::Parallelism;

/// A matrix in a slice: rows are `row` apart, columns `column`.
#[derive(Clone, Copy)]
struct Matrix<'a> {
    values: &'a [f32],
    row: usize,
    column: usize,
}

/// Sizes of a product: `[m, k] · [k, n]`.
#[derive(Clone, Copy)]
pub struct Sizes {
    pub m: usize,
    pub k: usize,
    pub n: usize,
}

/// Whether a product replaces what is there or adds to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Write {
    Replace,
    Add,
}

/// out = left · right on this thread, or added to it; rows of `left` are `left_row` apart.
pub fn rows(sizes: Sizes, left: &[f32], left_row: usize, right: &[f32], out: &mut [f32], write: Write) {
    let Sizes { m, k, n } = sizes;
    assert!(left.len() >= m.saturating_sub(1) * left_row + k && right.len() == k * n && out.len() == m * n);
    let left = Matrix { values: left, row: left_row, column: 1 };
    // SAFETY: the lengths were just checked against all that the strides reach.
    unsafe { product(sizes, left, Matrix { values: right, row: n, column: 1 }, out, write, Parallelism::None) }
}

/// out = leftᵀ · right over all cores; `left` is stored `[k, m]`.
pub fn transposed_left(sizes: Sizes, left: &[f32], right: &[f32], out: &mut [f32]) {
    let Sizes { m, k, n } = sizes;
    assert!(left.len() == k * m && right.len() == k * n && out.len() == m * n);
    let left = Matrix { values: left, row: 1, column: m };
    let right = Matrix { values: right, row: n, column: 1 };
    // SAFETY: the lengths were just checked against all that the strides reach.
    unsafe { product(sizes, left, right, out, Write::Replace, Parallelism::Rayon(0)) }
}

/// # Safety
/// Every place that sizes and strides reach must lie inside the slices.
unsafe fn product(
    Sizes { m, k, n }: Sizes,
    left: Matrix<'_>,
    right: Matrix<'_>,
    out: &mut [f32],
    write: Write,
    threads: Parallelism,
) {
    let add = write == Write::Add;
    // SAFETY: the caller's promise; `out` is row-major and borrowed for us alone.
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
            threads,
        );
    }
}

/// `[rows, columns]` → `[columns, rows]`, in tiles that stay in the cache.
///
/// A product with a transposed right side runs at half the speed of one with a plain one, so the copy pays
/// for itself.
pub fn transposed(matrix: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    const TILE: usize = 16;
    let mut out = vec![0.0; matrix.len()];
    for top in (0..rows).step_by(TILE) {
        for left in (0..columns).step_by(TILE) {
            for i in top..(top + TILE).min(rows) {
                for j in left..(left + TILE).min(columns) {
                    out[j * rows + i] = matrix[i * columns + j];
                }
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_by_hand() {
        // [1 2; 3 4] with rows 3 apart, times [5 6; 7 8].
        let (left, right) = ([1.0, 2.0, 9.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]);
        let sizes = Sizes { m: 2, k: 2, n: 2 };
        let mut out = [1.0; 4];
        rows(sizes, &left, 3, &right, &mut out, Write::Replace);
        assert_eq!(out, [19.0, 22.0, 43.0, 50.0]);
        rows(sizes, &left, 3, &right, &mut out, Write::Add);
        assert_eq!(out, [38.0, 44.0, 86.0, 100.0]);
        transposed_left(sizes, &[1.0, 3.0, 2.0, 4.0], &right, &mut out);
        assert_eq!(out, [19.0, 22.0, 43.0, 50.0]);
        assert_eq!(transposed(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2, 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    }
}
