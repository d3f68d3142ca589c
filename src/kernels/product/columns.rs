//! A product with so many columns that each is looked at while it is in the cache, and not again.

use rayon::prelude::*;

use super::{Matrix, Right, Rounded, Write};

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
