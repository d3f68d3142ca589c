//! A right side in 8 bits: each column with its own scale, the left side in 7 bits with a scale a row, found
//! anew at every product, sums in 32 bits (Jacob et al. 2018, "Quantization and training of neural networks for
//! efficient integer-arithmetic-only inference", section 2, with a scale a channel).
//!
//! The instruction that multiplies bytes adds two products in 16 bits, and two such pairs are added before they are
//! widened to 32: the left side has 7 bits, and a column's scale leaves room for the sum of four products.

#[cfg(target_arch = "x86_64")]
mod avx2;

use burn::tensor::Tensor;

use super::{Matrix, Write};
use crate::kernels::flex;
use crate::kernels::simd;

/// Columns of a panel: two vectors of 32 bytes hold four rows of it.
const WIDTH: usize = 16;

/// Rows of the right side that one instruction takes.
const FOUR: usize = 4;

/// Rows that are multiplied before sums are widened.
const GROUP: usize = 2 * FOUR;

/// The most that four weights of a like sign may come to: times 127 they fit 16 bits, with half a unit each for
/// rounding.
const MOST_OF_FOUR: f32 = 256.0;

/// Rows of the left side that are kept in registers at a time.
const ROWS: usize = 4;

/// The largest number on the left, and where its 0 lies: they are unsigned.
const LARGEST: f32 = 63.0;
const ZERO: i32 = 64;

/// A right side `[k, n]` in 8 bits.
#[derive(Clone, Debug)]
pub struct Int8 {
    /// Panels one after the other; of each, fours of rows (an even number); of each, every column's four numbers.
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
        let scales = scales(right, n);
        let mut panels = vec![0i8; columns * groups * GROUP];
        let mut offsets = vec![0; columns];
        for (p, row) in right.chunks(n.max(1)).enumerate() {
            for (j, x) in row.iter().enumerate() {
                let rounded = if scales[j] > 0.0 { (x / scales[j]).round() as i8 } else { 0 };
                let (panel, inside) = (j / WIDTH, j % WIDTH);
                let four = panel * groups * (GROUP / FOUR) + p / FOUR;
                panels[(four * WIDTH + inside) * FOUR + p % FOUR] = rounded;
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
    pub fn multiply(&self, left: &Rounded, out: &mut [f32], out_row: usize, write: Write) {
        let Rounded { bytes, scales, k } = left;
        let (m, groups) = (scales.len(), k.div_ceil(GROUP));
        assert!(*k == self.k, "sizes fit: {k} = {}", self.k);
        if self.k == 0 && write == Write::Replace {
            out.chunks_mut(out_row.max(1)).take(m).for_each(|row| row[..self.n].fill(0.0));
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

/// A scale for each column, up to whole panels.
fn scales(right: &[f32], n: usize) -> Vec<f32> {
    let mut scales = vec![0.0f32; n.next_multiple_of(WIDTH)];
    for group in right.chunks((GROUP * n).max(1)) {
        for j in 0..n {
            let (mut above, mut below) = ([0.0f32; 2], [0.0f32; 2]);
            for (p, row) in group.chunks(n).enumerate() {
                let x = row[j];
                // Weights that are added in the same 16 bits: 0, 1, 4, 5 of a group, and the others.
                let sums = if x > 0.0 { &mut above } else { &mut below };
                sums[p / 2 % 2] += x.abs();
                // What is no number stays: the whole column then is none.
                let needed = x.abs() / 127.0;
                if needed > scales[j] || needed.is_nan() {
                    scales[j] = needed;
                }
            }
            let needed = above.into_iter().chain(below).fold(0.0, f32::max) / MOST_OF_FOUR;
            if needed > scales[j] {
                scales[j] = needed;
            }
        }
    }
    scales
}

/// A left side `[m, k]` in 7 bits.
#[derive(Clone, Debug)]
pub struct Rounded {
    /// Rows, each filled up to whole groups.
    bytes: Vec<u8>,
    /// What a row's numbers are multiplied by.
    scales: Vec<f32>,
    k: usize,
}

impl Rounded {
    /// Rounds each row.
    pub fn new(left: Matrix<'_>) -> Self {
        let (m, k) = (left.rows, left.columns);
        assert!(left.column == 1, "rows of the left side lie in one piece");
        let wide = k.next_multiple_of(GROUP);
        let mut bytes = vec![ZERO as u8; m * wide];
        let rows = bytes.chunks_mut(wide.max(1)).enumerate();
        let mut scales: Vec<f32> =
            rows.map(|(i, row)| round_row(&left.values[i * left.row..][..k], row)).collect();
        scales.resize(m, 0.0);
        Self { bytes, scales, k }
    }
}

/// Sums of rounded numbers → what they stand for.
#[inline(always)]
fn scaled(sums: &[i32; WIDTH], offsets: &[i32; WIDTH], columns: &[f32; WIDTH], row: f32) -> [f32; WIDTH] {
    let mut found = [0.0; WIDTH];
    for j in 0..WIDTH {
        // A checked subtraction would keep this loop from being vectorised; sums of bytes are far from the limits.
        found[j] = sums[j].wrapping_sub(offsets[j]) as f32 * (columns[j] * row);
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
        for (four, weights) in row.chunks(FOUR).zip(panel.chunks(WIDTH * FOUR)) {
            for (sum, weights) in sums.iter_mut().zip(weights.chunks(FOUR)) {
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

#[cfg(test)]
mod tests;
