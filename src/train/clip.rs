//! Clipping by the norm of all gradients together (Pascanu, Mikolov & Bengio 2013, algorithm 1).
//! burn's own clips each tensor by itself, which turns the update.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

use crate::kernels::square_sum::square_sum;

/// The norm of all gradients of a model together.
pub fn global_norm<M: Module>(gradients: &GradientsParams, model: &M) -> f64 {
    let mut squares = Squares { gradients, sum: None };
    model.visit(&mut squares);
    squares.sum.map_or(0.0, |sum| sum.into_scalar::<f64>().sqrt())
}

/// Whether all weights of a model are numbers.
pub fn is_sound<M: Module>(model: &M) -> bool {
    let mut weights = Weights::default();
    model.visit(&mut weights);
    weights.sum.is_none_or(|sum| sum.into_scalar::<f64>().is_finite())
}

#[derive(Default)]
struct Weights {
    /// On the device, as above.
    sum: Option<Tensor<1>>,
}

impl ModuleVisitor for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let square = square_sum(param.val().inner());
        self.sum = Some(self.sum.take().map_or(square.clone(), |sum| sum + square));
    }
}

/// What gradients with this norm are multiplied by, so that it is at most `limit` (0: no limit).
pub fn scale(norm: f64, limit: f64) -> f64 {
    if limit > 0.0 && norm > limit { limit / norm } else { 1.0 }
}

struct Squares<'a> {
    gradients: &'a GradientsParams,
    /// On the device: asking for each tensor's number would wait for each.
    sum: Option<Tensor<1>>,
}

impl ModuleVisitor for Squares<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.get::<D>(param.id) {
            let square = square_sum(gradient);
            self.sum = Some(match self.sum.take() {
                Some(sum) => sum + square,
                None => square,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[derive(Module, Debug)]
    struct Two {
        a: Param<Tensor<1>>,
        b: Param<Tensor<1>>,
    }

    fn norm(a: f32, b: f32) -> f64 {
        let device = Device::flex().autodiff();
        let one = || Param::from_tensor(Tensor::from_floats([1.0], &device));
        let two = Two { a: one(), b: one() };
        let loss = two.a.val().mul_scalar(a) + two.b.val().mul_scalar(b);
        global_norm(&GradientsParams::from_grads(loss.sum().backward(), &two), &two)
    }

    /// Known fault T4: both are scaled by the joint norm.
    #[test]
    fn the_joint_norm_is_clipped() {
        assert!((norm(3.0, 4.0) - 5.0).abs() < 1e-6);
        assert!((scale(5.0, 1.0) - 0.2).abs() < 1e-12);
        assert_eq!((scale(5.0, 6.0), scale(5.0, 0.0)), (1.0, 1.0));
        assert!(!norm(f32::NAN, 4.0).is_finite());
        let device = Device::flex().autodiff();
        let with = |b: f32| {
            let one = |x: f32| Param::from_tensor(Tensor::from_floats([x], &device));
            is_sound(&Two { a: one(1.0), b: one(b) })
        };
        assert!(with(-3.0) && !with(f32::NAN) && !with(f32::INFINITY));
    }
}
