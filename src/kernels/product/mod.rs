//! Matrix products on slices in 32 bits.
//!
//! Four ways, for four uses. [`wide`] is one large product over all cores by the `gemm` crate (burn-flex's own).
//! [`packed`] is ours: the right side is laid out once and then multiplied many times with few rows, as a
//! recurrent step does; the crate lays it out anew at every call, which costs it half its speed there.
//! [`int8`] is the same in 8 bits, for translating. [`plain`] lays nothing out, for a first sentence.

pub mod int8;
mod micro;
pub mod packed;
mod plain;

use std::time::Instant;

use gemm::Parallelism;
use rayon::prelude::*;

use burn::backend::flex::FlexTensor;
use burn::tensor::Tensor;
pub use int8::{Int8, Rounded};
pub use packed::Packed;
use plain::Plain;
use serde::{Deserialize, Serialize};

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

    /// A tensor on flex in 32 bits, if its rows or its columns lie in one piece each.
    fn of(tensor: &'a FlexTensor) -> Option<Self> {
        let [rows, columns] = tensor.layout().shape().dims();
        let values = &tensor.storage()[tensor.layout().start_offset()..];
        match *tensor.layout().strides() {
            [row, 1] => Some(Self::with_rows_apart(values, [rows, columns], usize::try_from(row).ok()?)),
            [1, column] => {
                Some(Self::with_rows_apart(values, [columns, rows], usize::try_from(column).ok()?).transposed())
            }
            _ => None,
        }
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

    /// Some of the columns.
    pub fn columns(self, columns: std::ops::Range<usize>) -> Self {
        self.transposed().rows(columns).transposed()
    }
}

/// In how many bits weights are multiplied with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precision {
    /// 32, as they were trained.
    #[default]
    F32,
    /// 8: faster, and a little off.
    Int8,
}

impl Precision {
    /// Both.
    pub const ALL: [Self; 2] = [Self::F32, Self::Int8];

    /// The name in configs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::Int8 => "int8",
        }
    }
}

/// How right sides are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In 32 bits as they lie: ready at once.
    Plain,
    /// In 32 bits, laid out.
    Packed,
    /// In 8 bits, laid out.
    Int8,
}

/// A right side for products with few rows.
#[derive(Clone, Debug)]
pub enum Right {
    /// In 32 bits as it lies.
    Plain(Plain),
    /// In 32 bits, laid out.
    Packed(Packed),
    /// In 8 bits, laid out.
    Int8(Int8),
}

impl Right {
    /// Takes a tensor on flex in 32 bits.
    pub fn of(right: Tensor<2>, form: Form) -> Self {
        match form {
            Form::Plain => Self::Plain(Plain::of(right)),
            Form::Packed => Self::Packed(Packed::of(right)),
            Form::Int8 => Self::Int8(Int8::of(right)),
        }
    }

    /// Columns of the result.
    pub fn columns(&self) -> usize {
        match self {
            Self::Plain(right) => right.columns(),
            Self::Packed(right) => right.columns(),
            Self::Int8(right) => right.columns(),
        }
    }

    /// left · this on this thread, into rows that are `out_row` apart.
    pub fn multiply(&self, left: Matrix<'_>, out: &mut [f32], out_row: usize, write: Write) {
        match self {
            Self::Plain(right) => right.multiply(left, out, out_row, write),
            Self::Packed(right) => right.multiply(left, out, out_row, write),
            Self::Int8(right) => right.multiply(&Rounded::new(left), out, out_row, write),
        }
    }
}

/// left · rights, each right's columns `[m, columns]` handed to `visit` by themselves, over so many `cores`: for a
/// product with many columns of which each is wanted once, while it is in the cache. The rights have the same form.
pub fn by_columns<T: Send>(
    left: Matrix<'_>,
    rights: &[Right],
    cores: usize,
    visit: impl Fn(Vec<f32>, usize) -> T + Sync,
) -> Vec<T> {
    // In 8 bits the left side is rounded once for all.
    let rounded = matches!(rights.first(), Some(Right::Int8(_))).then(|| Rounded::new(left));
    let multiply = |right: &Right| {
        let columns = right.columns();
        let mut out = vec![0.0; left.rows * columns];
        match (right, &rounded) {
            (Right::Int8(right), Some(left)) => right.multiply(left, &mut out, columns, Write::Replace),
            _ => right.multiply(left, &mut out, columns, Write::Replace),
        }
        visit(out, columns)
    };
    if cores == 1 { rights.iter().map(multiply).collect() } else { rights.par_iter().map(multiply).collect() }
}

/// Rows of a left side that are worth a core of their own in a recurrence, where the right side is read anew at
/// every step.
pub const FEWEST_ROWS: usize = 32;

/// Whether a product replaces what is there or adds to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Write {
    /// out = left · right.
    Replace,
    /// out += left · right.
    Add,
}

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
