//! Stochastic gradient descent with momentum, in PyTorch's form: v ← μ v + g, p ← p − α v (Sutskever et al. 2013, "On the
//! importance of initialization and momentum in deep learning", section 2, eq. 1 and 2, where α stands inside v).

use burn::tensor::Tensor;

use super::Move;

pub(super) fn apply(
    parameter: Tensor<1>,
    gradient: Tensor<1>,
    mut slots: Vec<Tensor<1>>,
    momentum: f64,
    Move { rate, scale }: Move,
) -> (Tensor<1>, Vec<Tensor<1>>) {
    let gradient = gradient.mul_scalar(scale);
    let Some(velocity) = slots.pop() else { return (parameter - gradient.mul_scalar(rate), slots) };
    let velocity = velocity.mul_scalar(momentum) + gradient;
    (parameter - velocity.clone().mul_scalar(rate), vec![velocity])
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    /// By hand: gradients 2 and 1, scaled by a half, momentum 0.9, rate 0.1.
    #[test]
    fn moves_by_hand() {
        let one = |x: f32| Tensor::<1>::from_floats([x], &Device::flex());
        let how = Move { rate: 0.1, scale: 0.5 };
        let (p, slots) = apply(one(1.0), one(2.0), vec![one(0.0)], 0.9, how);
        let (p, slots) = apply(p, one(1.0), slots, 0.9, how);
        // v: 1, then 0.9 + 0.5; p: 0.9, then 0.9 − 0.14.
        for (found, expected) in [(&slots[0], 1.4), (&p, 0.76)] {
            assert!((found.to_data().iter::<f32>().next().unwrap() - expected).abs() < 1e-6);
        }
        let (p, slots) = apply(one(1.0), one(2.0), vec![], 0.0, how);
        assert!((p.into_scalar::<f32>() - 0.9).abs() < 1e-6 && slots.is_empty());
    }
}
