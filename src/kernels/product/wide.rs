//! One large product over all cores, by the `gemm` crate.

use std::time::Instant;

use gemm::Parallelism;
use rayon::prelude::*;

use super::{Matrix, Write};

/// Pieces that a wide product is cut into for each core: cores are never equally fast for long, least of all
/// shared ones, and who is done takes another piece.
const PIECES: usize = 2;

/// Rows or columns of a piece come in multiples of this, and are at least four times as many.
const GRAIN: usize = 16;

/// left · right over all cores into rows one after the other.
pub fn wide(left: Matrix<'_>, right: Matrix<'_>, out: &mut [f32], write: Write) {
    let (m, k, n) = (left.rows, left.columns, right.columns);
    assert!(right.rows == k && out.len() == m * n, "sizes fit: {m} × {k} · {} × {n} → {}", right.rows, out.len());
    let out = Out(out.as_mut_ptr());
    let longer = m.max(n);
    let pieces = PIECES * rayon::current_num_threads();
    let piece = longer.div_ceil(pieces).next_multiple_of(GRAIN).max(4 * GRAIN);
    (0..longer.div_ceil(piece)).into_par_iter().with_max_len(1).for_each(|i| {
        let range = i * piece..(i * piece + piece).min(longer);
        // SAFETY: every matrix lies inside its slice, as their constructor checked; pieces of `out`, which is
        // ours alone, do not overlap.
        unsafe {
            if n >= m {
                multiply(left, right.columns(range.clone()), out.at(range.start), n, write);
            } else {
                multiply(left.rows(range.clone()), right, out.at(range.start * n), n, write);
            }
        }
    });
}

/// Where a product is written, shared by cores that write different parts.
#[derive(Clone, Copy)]
struct Out(*mut f32);

// SAFETY: `wide` gives each core its own part.
unsafe impl Send for Out {}
// SAFETY: as above.
unsafe impl Sync for Out {}

impl Out {
    fn at(self, place: usize) -> *mut f32 {
        self.0.wrapping_add(place)
    }
}

/// left · right on this thread, into rows that are `out_row` apart.
///
/// # Safety
/// The result's places must lie inside what `out` points into, and be nobody else's.
unsafe fn multiply(left: Matrix<'_>, right: Matrix<'_>, out: *mut f32, out_row: usize, write: Write) {
    let add = write == Write::Add;
    // SAFETY: the caller's promise, and that matrices lie inside their slices.
    unsafe {
        gemm::gemm(
            left.rows,
            right.columns,
            left.columns,
            out,
            1,
            out_row as isize,
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
            Parallelism::None,
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
