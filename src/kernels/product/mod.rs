//! Matrix products on slices in 32 bits.
//!
//! Four ways, for four uses. [`wide()`] is one large product over all cores by the `gemm` crate (burn-flex's own).
//! [`packed`] is ours: the right side is laid out once and then multiplied many times with few rows, as a
//! recurrent step does; the crate lays it out anew at every call, which costs it half its speed there.
//! [`int8`] is the same in 8 bits, for translating. `plain` lays nothing out, for a first sentence.

mod columns;
pub mod int8;
mod micro;
pub mod packed;
mod plain;
mod wide;

use burn::backend::flex::FlexTensor;
use burn::tensor::Tensor;
pub use columns::by_columns;
pub use int8::{Int8, Rounded};
pub use packed::Packed;
use plain::Plain;
use serde::{Deserialize, Serialize};
pub use wide::{product_rate, wide};

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
