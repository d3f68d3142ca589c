//! Products in 8 bits against exact ones.

use super::*;

fn values(n: usize, by: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * by) % 41) as f32 / 20.0 - 1.0).collect()
}

/// Against exact products: the error is that of rounding, half a step of 1/63 of the largest on the left, of about
/// 1/127 on the right.
#[test]
fn is_near_the_exact_product_and_the_same_with_and_without_vectors() {
    for (m, k, n) in [(1, 5, 3), (4, 64, 16), (7, 130, 37)] {
        let (left, right) = (values(m * k, 7), values(k * n, 13));
        let int8 = Int8::new(&right, [k, n]);
        let mut out = vec![1.0; m * n];
        let rounded = Rounded::new(Matrix::new(&left, [m, k]));
        int8.multiply(&rounded, &mut out, n, Write::Replace);
        let exact = |i: usize, j: usize| (0..k).map(|p| left[i * k + p] * right[p * n + j]).sum::<f32>();
        for i in 0..m {
            for j in 0..n {
                let apart = (out[i * n + j] - exact(i, j)).abs();
                assert!(apart < 0.02 * (k as f32).sqrt(), "{m} {k} {n}: {} {}", out[i * n + j], exact(i, j));
            }
        }
        let once = out.clone();
        int8.multiply(&rounded, &mut out, n, Write::Add);
        assert!(once.iter().zip(&out).all(|(once, twice)| (2.0 * once - twice).abs() < 1e-5));
    }
    let (left, panel): (Vec<u8>, Vec<i8>) = (
        (0..4 * 16).map(|i: usize| (i * 5 % 128) as u8).collect(),
        (0..WIDTH * 16).map(|i: usize| (i * 7 % 127) as i8 - 63).collect(),
    );
    for rows in 1..=ROWS {
        let (mut plain, mut wide) = ([[0; WIDTH]; ROWS], [[0; WIDTH]; ROWS]);
        multiply_tile(false, &left[..rows * 16], &panel, rows, &mut plain);
        multiply_tile(is_wide(), &left[..rows * 16], &panel, rows, &mut wide);
        assert_eq!(plain, wide);
    }
}

/// The largest numbers there are, all of one sign: nothing overflows on the way.
#[test]
fn the_largest_sums_fit() {
    for sign in [1.0, -1.0] {
        let (left, right) = ([1.0; 64], [sign; 64 * 16]);
        let mut out = [0.0; 16];
        let rounded = Rounded::new(Matrix::new(&left, [1, 64]));
        Int8::new(&right, [64, 16]).multiply(&rounded, &mut out, 16, Write::Replace);
        assert!(out.iter().all(|x| (x - sign * 64.0).abs() < 0.5), "{out:?}");
    }
}

/// Four weights that all round up: 258 · 127 is the most that 16 bits are given, of either sign.
#[test]
fn rounding_up_has_room() {
    for sign in [1.0, -1.0] {
        let column = [63.5, 64.5, 0.0, 0.0, 63.5, 64.5, 0.0, 0.0].map(|x| sign * x);
        let right: Vec<f32> = column.iter().flat_map(|&x| [x; 16]).collect();
        let mut out = [0.0; 16];
        let rounded = Rounded::new(Matrix::new(&[1.0; 8], [1, 8]));
        Int8::new(&right, [8, 16]).multiply(&rounded, &mut out, 16, Write::Replace);
        assert!(out.iter().all(|x| (x - sign * 258.0).abs() < 1e-3), "{out:?}");
    }
}

#[test]
fn what_is_no_number_stays_none() {
    let mut right = [1.0; 16 * 16];
    right[16 + 3] = f32::NAN;
    let mut out = [0.0; 16];
    let rounded = Rounded::new(Matrix::new(&[1.0; 16], [1, 16]));
    Int8::new(&right, [16, 16]).multiply(&rounded, &mut out, 16, Write::Replace);
    assert!(out.iter().enumerate().all(|(j, x)| x.is_nan() == (j == 3)), "{out:?}");
}
