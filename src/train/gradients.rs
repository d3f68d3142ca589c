//! Gradients of several batches as one: of the cores of this process, then of all processes.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};

use crate::error::Result;
use crate::kernels::added::added;
use crate::ranks::Ranks;

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

/// The sum of the gradients of all processes, which is the same on all of them. They travel in one piece: a message for
/// each tensor costs its latency each time (docs/distributed.md has both measured).
///
/// # Errors
/// The other processes do not answer.
pub fn across<M: Module>(ranks: &Ranks, gradients: GradientsParams, model: &M) -> Result<GradientsParams> {
    if ranks.size() == 1 {
        return Ok(gradients);
    }
    let mut pack = Pack { gradients, present: Vec::new(), values: Vec::new() };
    model.visit(&mut pack);
    let Pack { present, mut values, .. } = pack;
    let tensors = present.len();
    values.extend(present);
    let mut values = ranks.sum(values)?;
    let present = values.split_off(values.len() - tensors);
    let mut unpack = Unpack { gradients: GradientsParams::new(), present: present.into_iter(), values, at: 0 };
    model.visit(&mut unpack);
    Ok(unpack.gradients)
}

/// Lays gradients one after the other.
struct Pack {
    gradients: GradientsParams,
    /// 1 for a tensor that has one.
    present: Vec<f32>,
    values: Vec<f32>,
}

impl ModuleVisitor for Pack {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let n = param.shape().num_elements();
        let values = self.gradients.remove::<D>(param.id).and_then(|gradient| host(gradient));
        self.present.push(f32::from(u8::from(values.is_some())));
        match values {
            Some(values) => self.values.extend(values),
            None => self.values.resize(self.values.len() + n, 0.0),
        }
    }
}

/// Takes them apart again. What no process had a gradient of stays without.
struct Unpack {
    gradients: GradientsParams,
    present: std::vec::IntoIter<f32>,
    values: Vec<f32>,
    at: usize,
}

impl ModuleVisitor for Unpack {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let n = param.shape().num_elements();
        let values = self.values[self.at..][..n].to_vec();
        self.at += n;
        if self.present.next().is_some_and(|processes| processes > 0.0) {
            let device = param.val().device().without_autodiff();
            let gradient = Tensor::<D>::from_data(TensorData::new(values, param.shape()), &device);
            self.gradients.register(param.id, gradient);
        }
    }
}

/// A model's weights as rank 0 has them. All begin with the same and are moved alike, but processors that round
/// differently would drift apart.
///
/// # Errors
/// The other processes do not answer.
pub fn follow<M: Module>(ranks: &Ranks, model: M) -> Result<M> {
    if ranks.size() == 1 {
        return Ok(model);
    }
    let mut weights = Weights::default();
    model.visit(&mut weights);
    let values = ranks.follow(weights.values)?;
    Ok(model.map(&mut Replace { values, at: 0 }))
}

/// Weights one after the other.
#[derive(Default)]
struct Weights {
    values: Vec<f32>,
}

impl ModuleVisitor for Weights {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        self.values.extend(host(param.val().inner()).unwrap_or_default());
    }
}

struct Replace {
    values: Vec<f32>,
    at: usize,
}

impl ModuleMapper for Replace {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let n = tensor.shape().num_elements();
        let values = self.values[self.at..][..n].to_vec();
        self.at += n;
        let data = TensorData::new(values, tensor.shape());
        let tensor = Tensor::from_data(data, &tensor.device()).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

fn host<const D: usize>(tensor: Tensor<D>) -> Option<Vec<f32>> {
    tensor.into_data().try_to_vec().ok()
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
