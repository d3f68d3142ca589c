//! Adafactor: Shazeer & Stern 2018, "Adafactor: adaptive learning rates with sublinear memory cost", algorithms 4 and 5
//! with the values of section 9: no momentum, β̂₂ₜ = 1 − t^−0.8, updates clipped to a root mean square of 1, steps relative to
//! the parameter's. Where the paper's relative step size has a schedule of its own, ours is the learning rate.

use burn::tensor::Tensor;

use super::Move;

/// ε₁: keeps squares from being 0.
const LEAST_SQUARE: f64 = 1e-30;
/// ε₂: how small a parameter's root mean square counts at least.
const LEAST_SCALE: f64 = 1e-3;
/// d: the largest root mean square of an update.
const CLIP: f64 = 1.0;

/// Of a matrix the means of rows and columns, of a vector every number.
pub(super) fn slots(shape: &[usize]) -> Vec<(&'static str, usize)> {
    match *shape {
        [rows, columns] => vec![("rows", rows), ("columns", columns)],
        _ => vec![("second", shape.iter().product())],
    }
}

pub(super) fn apply(
    parameter: Tensor<1>,
    shape: &[usize],
    gradient: Tensor<1>,
    slots: Vec<Tensor<1>>,
    time: usize,
    Move { rate, scale }: Move,
) -> (Tensor<1>, Vec<Tensor<1>>) {
    let decay = 1.0 - (time as f64).powf(-0.8);
    let gradient = gradient.mul_scalar(scale);
    let squares = gradient.clone().square().add_scalar(LEAST_SQUARE);
    let mixed = |old: Tensor<1>, new: Tensor<1>| old.mul_scalar(decay) + new.mul_scalar(1.0 - decay);
    let (second, slots) = match (shape, <[Tensor<1>; 2]>::try_from(slots)) {
        (&[r, c], Ok([rows, columns])) => {
            let squares = squares.reshape([r, c]);
            let rows = mixed(rows, squares.clone().mean_dim(1).squeeze_dim(1));
            let columns = mixed(columns, squares.mean_dim(0).squeeze_dim(0));
            // Eq. 4 of section 3, in means in place of sums.
            let second = rows.clone().div(rows.clone().mean()).unsqueeze_dim::<2>(1)
                * columns.clone().unsqueeze_dim::<2>(0);
            (second.reshape([r * c]), vec![rows, columns])
        }
        (_, Err(mut slots)) if slots.len() == 1 => {
            let second = mixed(slots.remove(0), squares);
            (second.clone(), vec![second])
        }
        _ => unreachable!("a matrix has two slots, all else one"),
    };
    let update = gradient / second.sqrt();
    let update = update.clone() / root_mean_square(update).div_scalar(CLIP).clamp_min(1.0);
    let step = root_mean_square(parameter.clone()).clamp_min(LEAST_SCALE).mul_scalar(rate);
    (parameter - update * step, slots)
}

fn root_mean_square(x: Tensor<1>) -> Tensor<1> {
    x.square().mean().sqrt()
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    /// Two steps worked out in double precision from the paper's algorithm, of a matrix and of a vector.
    #[test]
    fn moves_by_hand() {
        let tensor = |x: &[f32]| Tensor::<1>::from_floats(x, &Device::flex());
        let how = Move { rate: 0.1, scale: 1.0 };
        let (start, gradients) = ([1.0, -2.0, 0.5, 3.0], [[0.1, -0.2, 0.3, 0.4], [0.5, 0.1, -0.1, 0.2]]);
        for shape in [&[2, 2][..], &[4]] {
            let zeros = slots(shape).into_iter().map(|(_, n)| Tensor::zeros([n], &Device::flex())).collect();
            let (mut p, mut slots): (_, Vec<Tensor<1>>) = (tensor(&start), zeros);
            let (mut x, mut rows, mut columns) = (start.map(f64::from), [0.0; 2], [0.0; 2]);
            let mut second = [0.0; 4];
            for (t, gradient) in (1..).zip(gradients) {
                (p, slots) = apply(p, shape, tensor(&gradient), slots, t, how);
                let g = gradient.map(f64::from);
                let beta = 1.0 - (t as f64).powf(-0.8);
                let v: [f64; 4] = std::array::from_fn(|i| {
                    second[i] = beta * second[i] + (1.0 - beta) * g[i] * g[i];
                    second[i]
                });
                let v = if shape.len() == 1 {
                    v
                } else {
                    for k in 0..2 {
                        let (row, column) =
                            (g[2 * k].powi(2) + g[2 * k + 1].powi(2), g[k].powi(2) + g[k + 2].powi(2));
                        rows[k] = beta * rows[k] + (1.0 - beta) * row;
                        columns[k] = beta * columns[k] + (1.0 - beta) * column;
                    }
                    std::array::from_fn(|i| rows[i / 2] * columns[i % 2] / (rows[0] + rows[1]))
                };
                let u: [f64; 4] = std::array::from_fn(|i| g[i] / v[i].sqrt());
                let rms = |x: &[f64; 4]| (x.iter().map(|x| x * x).sum::<f64>() / 4.0).sqrt();
                let (clip, scale) = (rms(&u).max(1.0), rms(&x).max(1e-3));
                x = std::array::from_fn(|i| x[i] - 0.1 * scale * u[i] / clip);
                for (found, expected) in p.to_data().iter::<f64>().zip(x) {
                    assert!((found - expected).abs() < 1e-5, "{shape:?} {t}: {found} {expected}");
                }
            }
        }
    }
}
