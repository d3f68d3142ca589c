//! A right side laid out for many products with few rows: panels of columns, each from the first row to the
//! last in one piece, as Goto & van de Geijn 2008, "Anatomy of high-performance matrix multiplication",
//! section 4, lay out B.

use std::sync::LazyLock;

use burn::tensor::Tensor;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::micro::{ROWS, Tile, VECTORS};
use super::{Matrix, Write};
use crate::kernels::flex;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Columns of a panel on this machine.
static WIDTH: LazyLock<usize> = LazyLock::new(|| ARCH.dispatch(Width));

/// Rows of the right side that are worked through at a time: with a panel's width they fill half to all of
/// a core's nearest cache.
const DEPTH: usize = 512;

/// Rows of the left side that stay in a core's second cache while all panels pass.
const BLOCK: usize = 10 * ROWS;

/// A right side `[k, n]`, ready to be multiplied with.
#[derive(Clone, Debug)]
pub struct Packed {
    /// Panels one after the other, the last filled up with zeros.
    panels: Vec<f32>,
    k: usize,
    n: usize,
}

impl Packed {
    /// Lays out a matrix, over all cores.
    pub fn new(right: Matrix<'_>) -> Self {
        let (k, n, width) = (right.rows, right.columns, *WIDTH);
        let mut panels = vec![0.0; n.div_ceil(width) * width * k];
        panels.par_chunks_mut((width * k).max(1)).enumerate().for_each(|(j, panel)| {
            let first = j * width;
            let columns = (n - first).min(width);
            for (p, row) in panel.chunks_mut(width).enumerate() {
                let from = p * right.row + first * right.column;
                if right.column == 1 {
                    row[..columns].copy_from_slice(&right.values[from..from + columns]);
                } else {
                    let values = right.values[from..].iter().step_by(right.column);
                    row[..columns].iter_mut().zip(values).for_each(|(slot, &value)| *slot = value);
                }
            }
        });
        Self { panels, k, n }
    }

    /// Lays out a tensor on flex in 32 bits, whatever its strides.
    pub fn of(right: Tensor<2>) -> Self {
        let right = flex::primitive(right);
        match Matrix::of(&right) {
            Some(matrix) => Self::new(matrix),
            None => Self::new(Matrix::new(flex::floats(&right.to_contiguous()), right.layout().shape().dims())),
        }
    }

    /// Columns of the result.
    pub fn columns(&self) -> usize {
        self.n
    }

    /// left · this on this thread, into rows that are `out_row` apart.
    pub fn multiply(&self, left: Matrix<'_>, out: &mut [f32], out_row: usize, write: Write) {
        let (m, n) = (left.rows, self.n);
        assert!(left.columns == self.k, "sizes fit: {} = {}", left.columns, self.k);
        assert!(
            m == 0 || (out_row >= n && out.len() >= (m - 1) * out_row + n),
            "the result lies inside its slice"
        );
        if self.k == 0 && write == Write::Replace {
            out.chunks_mut(out_row).take(m).for_each(|row| row[..n].fill(0.0));
        }
        ARCH.dispatch(Product { left, right: self, out, out_row, write });
    }
}

struct Product<'a> {
    left: Matrix<'a>,
    right: &'a Packed,
    out: &'a mut [f32],
    out_row: usize,
    write: Write,
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { left, right: &Packed { ref panels, k, n }, out, out_row, write } = self;
        let (m, width) = (left.rows, VECTORS * S::F32_LANES);
        for depth in (0..k).step_by(DEPTH) {
            let deep = DEPTH.min(k - depth);
            for block in (0..m).step_by(BLOCK) {
                let rows_in_block = BLOCK.min(m - block);
                let pace = rows_in_block.div_ceil(ROWS);
                for column in (0..n).step_by(width) {
                    let panel = panels[column * k + depth * width..].as_ptr();
                    // Past the last it is only a hint.
                    let mut next = panel.wrapping_add(k * width);
                    for row in (block..block + rows_in_block).step_by(ROWS) {
                        let tile = Tile {
                            k: deep,
                            left: left.values[row * left.row + depth * left.column..].as_ptr(),
                            left_row: left.row,
                            left_column: left.column,
                            panel,
                            out: out[row * out_row + column..].as_mut_ptr(),
                            out_row,
                            columns: width.min(n - column),
                            add: write == Write::Add || depth > 0,
                            next,
                            pace,
                        };
                        // SAFETY: `multiply` checked that rows and columns of all three lie in their slices.
                        unsafe { tile.run(simd, ROWS.min(block + rows_in_block - row)) };
                        next = next.wrapping_add(deep.div_ceil(pace) * width);
                    }
                }
            }
        }
    }
}

struct Width;

impl WithSimd for Width {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        VECTORS * S::F32_LANES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| ((i * 31 + seed * 17) % 23) as f32 / 23.0 - 0.5).collect()
    }

    /// Every remainder of rows, columns and depth; both layouts of both sides; written and added.
    #[test]
    fn agrees_with_the_sum_of_products() {
        for (m, k, n) in [(1, 1, 1), (5, 7, 15), (6, 40, 16), (13, 600, 37), (64, 33, 65), (2, 0, 3), (0, 3, 4)] {
            let (left, right) = (values(m * k, 1), values(k * n, 2));
            let expected: Vec<f64> = (0..m * n)
                .map(|at| {
                    let (i, j) = (at / n, at % n);
                    (0..k).map(|p| f64::from(left[i * k + p]) * f64::from(right[p * n + j])).sum()
                })
                .collect();
            let turned: Vec<f32> = (0..k * n).map(|at| right[at % k * n + at / k]).collect();
            let plain = Packed::new(Matrix::new(&right, [k, n]));
            let transposed = Packed::new(Matrix::new(&turned, [n, k]).transposed());
            for packed in [plain, transposed] {
                let matrix = Matrix::new(&left, [m, k]);
                let mut out = vec![7.0; m * n];
                packed.multiply(matrix, &mut out, n, Write::Replace);
                packed.multiply(matrix, &mut out, n, Write::Add);
                for (out, expected) in out.iter().zip(&expected) {
                    assert!((f64::from(*out) - 2.0 * expected).abs() < 1e-4, "{m} {k} {n}: {out} {expected}");
                }
                let apart = n + 3;
                let mut out = vec![9.0; m * apart];
                packed.multiply(matrix, &mut out, apart, Write::Replace);
                for (at, out) in out.iter().enumerate() {
                    let expected = if at % apart < n { expected[at / apart * n + at % apart] } else { 9.0 };
                    assert!((f64::from(*out) - expected).abs() < 1e-4, "what lies between rows is left alone");
                }
            }
        }
    }
}
