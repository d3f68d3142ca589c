//! A product with so many columns that each is looked at while it is in the cache, and not again.

use rayon::prelude::*;

use super::{Matrix, Right, Rounded, Write};

/// left · rights over so many `cores`, each right's columns `[m, columns]` handed to `visit` by themselves. The
/// rights have the same form.
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
    let share = rights.len().div_ceil(cores.max(1)).max(1);
    rights.par_iter().with_min_len(share).map(multiply).collect()
}

#[cfg(test)]
mod tests {
    use burn::tensor::{Device, Tensor};

    use super::*;
    use crate::kernels::product::Form;

    #[test]
    fn parts_are_those_of_the_whole() {
        let (m, k, n, width) = (7, 40, 344, 256);
        let values = |n: usize, by: usize| (0..n).map(|i| (i * by % 41) as f32 / 20.0 - 1.0).collect::<Vec<_>>();
        let (left, right) = (values(m * k, 7), values(k * n, 13));
        let right = Tensor::<1>::from_floats(right.as_slice(), &Device::flex()).reshape([k, n]);
        let left = Matrix::new(&left, [m, k]);
        for form in [Form::Plain, Form::Packed, Form::Int8] {
            let mut whole = vec![0.0; m * n];
            Right::of(right.clone(), form).multiply(left, &mut whole, n, Write::Replace);
            let rights = [(0, width), (width, n - width)]
                .map(|(first, columns)| Right::of(right.clone().narrow(1, first, columns), form));
            for cores in [1, 2] {
                let found = by_columns(left, &rights, cores, |part, columns| (part, columns));
                for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                    let (part, columns) = &found[j / width];
                    let apart = (part[i * columns + j % width] - whole[i * n + j]).abs();
                    assert!(apart < 1e-4, "{form:?} {cores} {i} {j}: {apart}");
                }
            }
        }
    }
}
