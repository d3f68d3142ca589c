//! A right side in 8 bits: each column with its own scale, the left side in 7 bits with a scale a row, found
//! anew at every product, sums in 32 bits (Jacob et al. 2018, "Quantization and training of neural networks for
//! efficient integer-arithmetic-only inference", section 2, with a scale a channel).
//!
//! 7 bits on the left because the instruction that multiplies bytes adds two products in 16 bits.

use burn::tensor::Tensor;

use super::{Matrix, Write};
use crate::kernels::flex;
use crate::kernels::simd;

/// Columns of a panel: two vectors of 32 bytes hold four rows of it.
const WIDTH: usize = 16;

/// Rows of the right side that one instruction takes.
const GROUP: usize = 4;

/// Rows of the left side that are kept in registers at a time.
const ROWS: usize = 4;

/// The largest number on the left, and where its 0 lies: they are unsigned.
const LARGEST: f32 = 63.0;
const ZERO: i32 = 64;

/// A right side `[k, n]` in 8 bits.
#[derive(Clone, Debug)]
pub struct Int8 {
    /// Panels one after the other; of each, groups of four rows; of each, every column's four numbers.
    panels: Vec<i8>,
    /// What a column's numbers are multiplied by.
    scales: Vec<f32>,
    /// The sum of a column, times the left side's 0.
    offsets: Vec<i32>,
    k: usize,
    n: usize,
}

impl Int8 {
    /// Rounds a tensor on flex in 32 bits.
    pub fn of(right: Tensor<2>) -> Self {
        let [k, n] = right.dims();
        let right = flex::primitive(right).to_contiguous();
        Self::new(flex::floats(&right), [k, n])
    }

    fn new(right: &[f32], [k, n]: [usize; 2]) -> Self {
        let (columns, groups) = (n.next_multiple_of(WIDTH), k.div_ceil(GROUP));
        let mut largest = vec![0.0f32; columns];
        for row in right.chunks(n.max(1)) {
            // Unlike `max`, keeps what is no number: the whole column then is none.
            largest
                .iter_mut()
                .zip(row)
                .for_each(|(most, x)| *most = if x.abs() <= *most { *most } else { x.abs() });
        }
        let scales: Vec<f32> = largest.iter().map(|most| most / 127.0).collect();
        let mut panels = vec![0i8; columns * groups * GROUP];
        let mut offsets = vec![0; columns];
        for (p, row) in right.chunks(n.max(1)).enumerate() {
            for (j, x) in row.iter().enumerate() {
                let rounded = if scales[j] > 0.0 { (x / scales[j]).round() as i8 } else { 0 };
                let (panel, inside) = (j / WIDTH, j % WIDTH);
                panels[((panel * groups + p / GROUP) * WIDTH + inside) * GROUP + p % GROUP] = rounded;
                offsets[j] += ZERO * i32::from(rounded);
            }
        }
        Self { panels, scales, offsets, k, n }
    }

    /// Columns of the result.
    pub fn columns(&self) -> usize {
        self.n
    }

    /// left · this on this thread, into rows that are `out_row` apart.
    pub fn multiply(&self, left: Matrix<'_>, out: &mut [f32], out_row: usize, write: Write) {
        let (m, groups) = (left.rows, self.k.div_ceil(GROUP));
        assert!(left.columns == self.k, "sizes fit: {} = {}", left.columns, self.k);
        assert!(left.column == 1, "rows of the left side lie in one piece");
        if self.k == 0 && write == Write::Replace {
            out.chunks_mut(out_row.max(1)).take(m).for_each(|row| row[..self.n].fill(0.0));
        }
        let mut bytes = vec![ZERO as u8; m * groups * GROUP];
        let mut scales = vec![0.0; m];
        for (i, row) in bytes.chunks_mut((groups * GROUP).max(1)).enumerate() {
            scales[i] = round_row(&left.values[i * left.row..][..self.k], row);
        }
        let wide = is_wide();
        simd::run(
            #[inline(always)]
            || {
                let panels = self.panels.chunks((WIDTH * groups * GROUP).max(1));
                let (scales_of, offsets) =
                    (self.scales.as_chunks::<WIDTH>().0, self.offsets.as_chunks::<WIDTH>().0);
                for (at, (panel, (by, offsets))) in panels.zip(scales_of.iter().zip(offsets)).enumerate() {
                    let columns = at * WIDTH..(at * WIDTH + WIDTH).min(self.n);
                    for row in (0..m).step_by(ROWS) {
                        let rows = ROWS.min(m - row);
                        let left = &bytes[row * groups * GROUP..][..rows * groups * GROUP];
                        let mut sums = [[0i32; WIDTH]; ROWS];
                        multiply_tile(wide, left, panel, rows, &mut sums);
                        for (i, sums) in sums.iter().enumerate().take(rows) {
                            let found = scaled(sums, offsets, by, scales[row + i]);
                            put(&found, &mut out[(row + i) * out_row..][columns.clone()], write);
                        }
                    }
                }
            },
        );
    }
}

/// Sums of rounded numbers → what they stand for.
#[inline(always)]
fn scaled(sums: &[i32; WIDTH], offsets: &[i32; WIDTH], columns: &[f32; WIDTH], row: f32) -> [f32; WIDTH] {
    let mut found = [0.0; WIDTH];
    for j in 0..WIDTH {
        found[j] = (sums[j] - offsets[j]) as f32 * (columns[j] * row);
    }
    found
}

#[inline(always)]
fn put(found: &[f32; WIDTH], out: &mut [f32], write: Write) {
    if let Ok(out) = <&mut [f32; WIDTH]>::try_from(&mut *out) {
        for j in 0..WIDTH {
            out[j] = if write == Write::Add { out[j] + found[j] } else { found[j] };
        }
    } else {
        for (out, found) in out.iter_mut().zip(found) {
            *out = if write == Write::Add { *out + found } else { *found };
        }
    }
}

/// Rounds a row to 7 bits; returns what its numbers are to be multiplied by.
fn round_row(row: &[f32], bytes: &mut [u8]) -> f32 {
    simd::run(
        #[inline(always)]
        || {
            let (mut largest, mut finite) = (0.0f32, true);
            for x in row {
                largest = if x.abs() > largest { x.abs() } else { largest };
                finite &= x.is_finite();
            }
            // What is no number must not look like one.
            if !finite {
                return f32::NAN;
            }
            let by = if largest > 0.0 { LARGEST / largest } else { 0.0 };
            for (byte, x) in bytes.iter_mut().zip(row) {
                // Half a step up, then down to the next: rounds to the nearest.
                *byte = (x * by + (ZERO as f32 + 0.5)) as u8;
            }
            largest / LARGEST
        },
    )
}

/// At most [`ROWS`] rows of bytes times one panel, as sums.
fn multiply_tile(wide: bool, left: &[u8], panel: &[i8], rows: usize, sums: &mut [[i32; WIDTH]; ROWS]) {
    #[cfg(target_arch = "x86_64")]
    if wide {
        // SAFETY: `is_wide` has found the instructions; each row has as many groups as the panel.
        unsafe {
            match rows {
                1 => avx2::tile::<1>(left, panel, sums),
                2 => avx2::tile::<2>(left, panel, sums),
                3 => avx2::tile::<3>(left, panel, sums),
                _ => avx2::tile::<ROWS>(left, panel, sums),
            }
        }
        return;
    }
    let _ = wide;
    let depth = left.len() / rows;
    for (row, sums) in left.chunks(depth).zip(sums) {
        for (four, weights) in row.chunks(GROUP).zip(panel.chunks(WIDTH * GROUP)) {
            for (sum, weights) in sums.iter_mut().zip(weights.chunks(GROUP)) {
                *sum += four.iter().zip(weights).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum::<i32>();
            }
        }
    }
}

/// Whether this machine multiplies bytes in vectors of 32.
fn is_wide() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
mod avx2 {
    use std::arch::x86_64::{
        __m256i, _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_set1_epi16,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256,
    };

    use super::{GROUP, ROWS, WIDTH};

    /// R rows times one panel.
    ///
    /// # Safety
    /// AVX2 must be there; `left` must hold R rows as deep as the panel.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn tile<const R: usize>(left: &[u8], panel: &[i8], sums: &mut [[i32; WIDTH]; ROWS]) {
        let groups = panel.len() / (WIDTH * GROUP);
        let ones = _mm256_set1_epi16(1);
        let mut found = [[_mm256_setzero_si256(); 2]; R];
        // SAFETY: the caller's promise; reads need no alignment.
        unsafe {
            for g in 0..groups {
                let weights = panel.as_ptr().add(g * WIDTH * GROUP).cast::<__m256i>();
                let weights = [_mm256_loadu_si256(weights), _mm256_loadu_si256(weights.add(1))];
                for (i, found) in found.iter_mut().enumerate() {
                    let four = left.as_ptr().add((i * groups + g) * GROUP).cast::<i32>().read_unaligned();
                    let four = _mm256_set1_epi32(four);
                    for (found, weights) in found.iter_mut().zip(weights) {
                        let pairs = _mm256_maddubs_epi16(four, weights);
                        *found = _mm256_add_epi32(*found, _mm256_madd_epi16(pairs, ones));
                    }
                }
            }
            for (sums, found) in sums.iter_mut().zip(found) {
                for (sums, found) in sums.chunks_mut(WIDTH / 2).zip(found) {
                    _mm256_storeu_si256(sums.as_mut_ptr().cast::<__m256i>(), found);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize, by: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * by) % 41) as f32 / 20.0 - 1.0).collect()
    }

    /// Against exact products: the error is that of rounding, about 1/127 of a step on each side.
    #[test]
    fn is_near_the_exact_product_and_the_same_with_and_without_vectors() {
        for (m, k, n) in [(1, 5, 3), (4, 64, 16), (7, 130, 37)] {
            let (left, right) = (values(m * k, 7), values(k * n, 13));
            let int8 = Int8::new(&right, [k, n]);
            let mut out = vec![1.0; m * n];
            int8.multiply(Matrix::new(&left, [m, k]), &mut out, n, Write::Replace);
            let exact = |i: usize, j: usize| (0..k).map(|p| left[i * k + p] * right[p * n + j]).sum::<f32>();
            for i in 0..m {
                for j in 0..n {
                    let apart = (out[i * n + j] - exact(i, j)).abs();
                    assert!(apart < 0.02 * (k as f32).sqrt(), "{m} {k} {n}: {} {}", out[i * n + j], exact(i, j));
                }
            }
            let once = out.clone();
            int8.multiply(Matrix::new(&left, [m, k]), &mut out, n, Write::Add);
            assert!(once.iter().zip(&out).all(|(once, twice)| (2.0 * once - twice).abs() < 1e-5));
        }
        let (left, panel): (Vec<u8>, Vec<i8>) = (
            (0..4 * 12).map(|i| i * 5 % 128).collect(),
            (0..WIDTH * 12).map(|i| (i * 7 % 255) as u8 as i8).collect(),
        );
        for rows in 1..=ROWS {
            let (mut plain, mut wide) = ([[0; WIDTH]; ROWS], [[0; WIDTH]; ROWS]);
            multiply_tile(false, &left[..rows * 12], &panel, rows, &mut plain);
            multiply_tile(is_wide(), &left[..rows * 12], &panel, rows, &mut wide);
            assert_eq!(plain, wide);
        }
    }
}
