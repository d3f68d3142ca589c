//! A right side multiplied with where it lies, in whichever layout: nothing is laid out first, which only many
//! products pay back. What a first sentence is translated with.

use burn::backend::flex::FlexTensor;
use burn::tensor::Tensor;

use super::{Matrix, Write};
use crate::kernels::flex;
use crate::kernels::simd;

/// Columns that are worked on at a time, where rows lie one after the other: enough that memory is read in long runs
/// (with 512 a step takes 1.4 times as long), few enough that results for some rows stay in a core's second cache.
const BLOCK: usize = 4096;

/// Rows of the right side that are added in one visit of the result.
const STRIPE: usize = 4;

/// A right side, not copied.
#[derive(Clone, Debug)]
pub struct Plain(FlexTensor);

impl Plain {
    /// Takes a tensor on flex in 32 bits; copies it only if neither rows nor columns lie in one piece each.
    pub fn of(right: Tensor<2>) -> Self {
        let right = flex::primitive(right);
        if Matrix::of(&right).is_some() { Self(right) } else { Self(right.to_contiguous()) }
    }

    fn matrix(&self) -> Matrix<'_> {
        Matrix::of(&self.0).unwrap_or_else(|| unreachable!("`of` saw to it"))
    }

    /// Columns of the result.
    pub fn columns(&self) -> usize {
        self.matrix().columns
    }

    /// left · this on this thread, into rows that are `out_row` apart.
    pub fn multiply(&self, left: Matrix<'_>, out: &mut [f32], out_row: usize, write: Write) {
        let right = self.matrix();
        let (m, n) = (left.rows, right.columns);
        assert!(left.columns == right.rows && left.column == 1, "sizes fit: {} = {}", left.columns, right.rows);
        assert!(
            m == 0 || (out_row >= n && out.len() >= (m - 1) * out_row + n),
            "the result lies inside its slice"
        );
        if write == Write::Replace {
            out.chunks_mut(out_row.max(1)).take(m).for_each(|row| row[..n].fill(0.0));
        }
        simd::run(
            #[inline(always)]
            || match right.column {
                1 => by_rows(left, right, out, out_row),
                _ => column_by_column(left, right, out, out_row),
            },
        );
    }
}

/// Some rows of the right side after the other, each added to every result.
#[inline(always)]
fn by_rows(left: Matrix<'_>, right: Matrix<'_>, out: &mut [f32], out_row: usize) {
    let whole = right.rows - right.rows % STRIPE;
    for first in (0..right.columns).step_by(BLOCK) {
        let width = BLOCK.min(right.columns - first);
        for p in (0..whole).step_by(STRIPE) {
            let [a, b, c, d]: [&[f32]; STRIPE] =
                std::array::from_fn(|i| &right.values[(p + i) * right.row + first..][..width]);
            for i in 0..left.rows {
                let x = &left.values[i * left.row + p..][..STRIPE];
                let (x0, x1, x2, x3) = (x[0], x[1], x[2], x[3]);
                let out = &mut out[i * out_row + first..][..width];
                for j in 0..width {
                    out[j] += (x0 * a[j] + x1 * b[j]) + (x2 * c[j] + x3 * d[j]);
                }
            }
        }
        for p in whole..right.rows {
            let row = &right.values[p * right.row + first..][..width];
            for i in 0..left.rows {
                let x = left.values[i * left.row + p];
                simd::add_scaled(&mut out[i * out_row + first..][..width], x, row);
            }
        }
    }
}

/// One column of the right side after the other, with every row of the left.
#[inline(always)]
fn column_by_column(left: Matrix<'_>, right: Matrix<'_>, out: &mut [f32], out_row: usize) {
    for j in 0..right.columns {
        let column = &right.values[j * right.column..][..right.rows];
        for i in 0..left.rows {
            out[i * out_row + j] += simd::dot(&left.values[i * left.row..][..left.columns], column);
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    /// Rows and columns in one piece, a part of either, and neither; written and added.
    #[test]
    fn agrees_with_the_tensors_product() {
        let device = Device::flex();
        let values = |n: usize| (0..n).map(|i| ((i * 31) % 23) as f32 / 23.0 - 0.5).collect::<Vec<_>>();
        for (m, k, n) in [(1, 1, 1), (3, 7, 1030), (5, 40, 16), (2, 6, 3), (0, 3, 4)] {
            let of = |rows: usize, columns: usize| {
                Tensor::<1>::from_floats(values(rows * columns).as_slice(), &device)
                    .reshape::<2, _>([rows, columns])
            };
            let rights = [
                of(k, n),
                of(n, k).transpose(),
                of(k + 2, n).narrow(0, 1, k),
                of(k, n + 2).narrow(1, 1, n),
                of(n, 2 * k).slice(burn::tensor::s![.., 0..;2]).transpose(),
            ];
            for right in rights {
                let left = of(m, k);
                let expected: Vec<f32> = left.clone().matmul(right.clone()).into_data().try_to_vec().unwrap();
                let left = values(m * k);
                let (apart, mut out) = (n + 3, vec![9.0; m * (n + 3)]);
                let plain = Plain::of(right);
                plain.multiply(Matrix::new(&left, [m, k]), &mut out, apart, Write::Replace);
                plain.multiply(Matrix::new(&left, [m, k]), &mut out, apart, Write::Add);
                for (at, out) in out.iter().enumerate() {
                    let (i, j) = (at / apart, at % apart);
                    let expected = if j < n { 2.0 * expected[i * n + j] } else { 9.0 };
                    assert!((out - expected).abs() < 1e-4, "{m} {k} {n}: {out} {expected}");
                }
            }
        }
    }
}
