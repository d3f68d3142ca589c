//! Gradients of several batches as one.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

use crate::kernels::added::added;

/// The sum of gradients of one model.
pub fn sum<M: Module>(parts: impl IntoIterator<Item = GradientsParams>, model: &M) -> GradientsParams {
    let mut parts = parts.into_iter();
    let first = parts.next().unwrap_or_default();
    parts.fold(first, |sum, part| {
        let mut pass = Add { sum, part };
        model.visit(&mut pass);
        pass.sum
    })
}

struct Add {
    sum: GradientsParams,
    part: GradientsParams,
}

impl ModuleVisitor for Add {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = match (self.sum.remove::<D>(param.id), self.part.remove::<D>(param.id)) {
            (Some(sum), Some(part)) => added(sum, part),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return,
        };
        self.sum.register(param.id, gradient);
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[derive(Module, Debug)]
    struct Three {
        both: Param<Tensor<1>>,
        one: Param<Tensor<1>>,
        none: Param<Tensor<1>>,
    }

    #[test]
    fn adds_what_either_has() {
        let device = Device::flex().autodiff();
        let one = || Param::from_tensor(Tensor::from_floats([1.0, 2.0], &device));
        let three = Three { both: one(), one: one(), none: one() };
        let first = three.both.val().mul_scalar(3.0).sum().backward();
        let second = (three.both.val().mul_scalar(4.0) + three.one.val().mul_scalar(5.0)).sum().backward();
        let parts = [first, second].map(|gradients| GradientsParams::from_grads(gradients, &three));
        let sum = sum(parts, &three);
        let of = |param: &Param<Tensor<1>>| -> Option<Vec<f32>> {
            sum.get::<1>(param.id).map(|gradient| gradient.into_data().try_to_vec().unwrap())
        };
        assert_eq!(of(&three.both), Some(vec![7.0, 7.0]));
        assert_eq!(of(&three.one), Some(vec![5.0, 5.0]));
        assert_eq!(of(&three.none), None);
    }
}
