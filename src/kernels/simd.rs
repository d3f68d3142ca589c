//! exp, tanh and sigmoid as polynomials in plain Rust: loops over them become AVX2 or AVX-512 inside
//! [`run`], which chooses the instruction set once at run time.

use std::sync::LazyLock;

use pulp::Arch;

static ARCH: LazyLock<Arch> = LazyLock::new(Arch::new);

/// Numbers that a core takes at a time where one visit is all there is to do. Fixed, so that sums are the same
/// whatever the number of cores.
pub const PIECE: usize = 1 << 14;

/// Runs work with the best instruction set of this machine; `for` loops in it are vectorised. (Not the closures
/// of `for_each` and its like, which are functions of their own and know nothing of the instruction set.)
pub fn run<R>(work: impl FnOnce() -> R) -> R {
    ARCH.dispatch(work)
}

/// eˣ to about one unit in the last place (Cephes' expf). Below −87 it stays at about 1e−38.
#[inline(always)]
#[allow(clippy::excessive_precision)]
pub fn exp(x: f32) -> f32 {
    const LN2_HIGH: f32 = 0.693_359_375;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    // Adding and taking away 1.5·2²³ rounds to a whole number, which stays in the low bits.
    const ROUND: f32 = 12_582_912.0;
    const COEFFICIENTS: [f32; 6] =
        [1.987_569_15e-4, 1.398_199_95e-3, 8.333_451_9e-3, 4.166_579_6e-2, 1.666_666_55e-1, 5.000_000_1e-1];

    let x = x.clamp(-87.0, 88.0);
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN2_HIGH - n * LN2_LOW;
    let mut p = 0.0;
    for c in COEFFICIENTS {
        p = p * r + c;
    }
    let power = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    (p * r * r + r + 1.0) * power
}

/// 1 / (1 + e⁻ˣ).
#[inline(always)]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// tanh by Eigen's rational approximation, a few units in the last place.
#[inline(always)]
#[allow(clippy::excessive_precision)]
pub fn tanh(x: f32) -> f32 {
    const ABOVE: [f32; 7] = [
        -2.760_768_47e-16,
        2.000_187_9e-13,
        -8.604_671_5e-11,
        5.122_297_1e-8,
        1.485_722_4e-5,
        6.372_619_3e-4,
        4.893_524_6e-3,
    ];
    const BELOW: [f32; 4] = [1.198_258_4e-6, 1.185_347_1e-4, 2.268_434_6e-3, 4.893_525e-3];

    let x = x.clamp(-7.905_311, 7.905_311);
    let square = x * x;
    let (mut p, mut q) = (0.0, 0.0);
    for c in ABOVE {
        p = p * square + c;
    }
    for c in BELOW {
        q = q * square + c;
    }
    x * p / q
}

/// Numbers that a vectorised sum keeps apart until the end.
const LANES: usize = 32;

/// ln Σ eˣ of a row, shifted by its maximum so that nothing overflows.
pub fn log_sum_exp(row: &[f32]) -> f32 {
    run(
        #[inline(always)]
        || {
            let (most, sum) = largest_and_exp_sum(row);
            most + sum.ln()
        },
    )
}

/// The largest of some numbers, and Σ e^(x − largest). What is no number is passed over in the first and makes the
/// second none. Inlined, so that [`run`] around a loop of them is enough.
#[inline(always)]
pub fn largest_and_exp_sum(values: &[f32]) -> (f32, f32) {
    let (blocks, rest) = values.as_chunks::<LANES>();
    let mut most = [f32::NEG_INFINITY; LANES];
    for block in blocks {
        for (most, x) in most.iter_mut().zip(block) {
            *most = if *x > *most { *x } else { *most };
        }
    }
    let most = most.iter().chain(rest).copied().fold(f32::NEG_INFINITY, f32::max);
    // −∞ − (−∞) would be no number.
    let finite = most.max(f32::MIN);
    let mut sums = [0.0; LANES];
    for block in blocks {
        for (sum, x) in sums.iter_mut().zip(block) {
            *sum += exp(x - finite);
        }
    }
    let mut sum: f32 = sums.iter().sum();
    for x in rest {
        sum += exp(x - finite);
    }
    (most, sum)
}

/// Σ x².
pub fn square_sum(values: &[f32]) -> f32 {
    run(
        #[inline(always)]
        || {
            let (blocks, rest) = values.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for block in blocks {
                for (sum, x) in sums.iter_mut().zip(block) {
                    *sum += x * x;
                }
            }
            sums.iter().sum::<f32>() + rest.iter().map(|x| x * x).sum::<f32>()
        },
    )
}

/// Σ a b. Inlined, so that [`run`] around a loop of them is enough.
#[inline(always)]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((left, rest_left), (right, rest_right)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (left, right) in left.iter().zip(right) {
        for i in 0..LANES {
            sums[i] += left[i] * right[i];
        }
    }
    let rest: f32 = rest_left.iter().zip(rest_right).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// out += factor · row. Inlined as [`dot`].
#[inline(always)]
pub fn add_scaled(out: &mut [f32], factor: f32, row: &[f32]) {
    for (out, x) in out.iter_mut().zip(row) {
        *out += factor * x;
    }
}

/// The sum of a row.
pub fn sum(row: &[f32]) -> f32 {
    run(
        #[inline(always)]
        || {
            let (blocks, rest) = row.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for block in blocks {
                for (sum, x) in sums.iter_mut().zip(block) {
                    *sum += x;
                }
            }
            sums.iter().sum::<f32>() + rest.iter().sum::<f32>()
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error of `ours` against double precision over a dense grid, relative to max(|y|, 1e-30).
    fn worst(ours: impl Fn(f32) -> f32, right: impl Fn(f64) -> f64, range: std::ops::Range<f32>) -> f64 {
        let steps = 100_000;
        (0..steps)
            .map(|i| range.start + (range.end - range.start) * i as f32 / steps as f32)
            .map(|x| {
                let right = right(f64::from(x));
                (f64::from(ours(x)) - right).abs() / right.abs().max(1e-30)
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn approximations_are_as_good_as_their_floats() {
        assert!(worst(exp, f64::exp, -86.0..87.0) < 2e-7);
        assert!(worst(sigmoid, |x| 1.0 / (1.0 + (-x).exp()), -80.0..80.0) < 4e-7);
        assert!(worst(tanh, f64::tanh, 1e-4..20.0) < 5e-7);
        assert_eq!((exp(0.0), tanh(0.0), sigmoid(0.0)), (1.0, 0.0, 0.5));
        assert!(exp(-1e30) < 1e-37 && exp(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn sums_over_rows_of_any_length() {
        for length in [1, 31, 32, 33, 100] {
            let row: Vec<f32> = (0..length).map(|i| (i % 7) as f32 - 3.0).collect();
            let right = row.iter().map(|&x| f64::from(x).exp()).sum::<f64>().ln();
            assert!((f64::from(log_sum_exp(&row)) - right).abs() < 1e-5);
            assert_eq!(sum(&row), row.iter().sum::<f32>());
        }
    }
}
