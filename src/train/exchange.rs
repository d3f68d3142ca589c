//! What processes that train together hand each other: gradients after every update, weights now and then.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Tensor, TensorData};

use crate::error::Result;
use crate::ranks::Ranks;

/// The sum of the gradients of all processes, which is the same on all of them. They travel in one buffer: a message for
/// each tensor costs its latency each time (docs/distributed.md has both measured).
///
/// # Errors
/// The other processes do not answer.
pub fn sum<M: Module>(ranks: &Ranks, gradients: GradientsParams, model: &M) -> Result<GradientsParams> {
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
        let values = self.gradients.remove::<D>(param.id).map(host);
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
        let values = param.val();
        self.values.extend(host(if values.is_autodiff() { values.inner() } else { values }));
    }
}

struct Replace {
    values: Vec<f32>,
    at: usize,
}

impl ModuleMapper for Replace {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let (n, learns) = (tensor.shape().num_elements(), tensor.is_require_grad());
        let values = self.values[self.at..][..n].to_vec();
        self.at += n;
        let data = TensorData::new(values, tensor.shape());
        let tensor = Tensor::from_data(data, &tensor.device()).set_require_grad(learns);
        Param::from_mapped_value(id, tensor, mapper)
    }
}

/// Values in 32 bits, whatever the tensor's are.
fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    let data = tensor.into_data();
    data.try_to_vec().unwrap_or_else(|_| data.iter().collect())
}
