//! The optimizer: Adam over all parameters of a model (the arithmetic is in [`crate::kernels::adam`]).

use std::collections::HashMap;

use burn::module::{Module, ModuleMapper, Param, ParamId};
use burn::optim::GradientsParams;
use burn::tensor::Tensor;

use crate::kernels::adam::{self, Moments, Step};

/// What Adam remembers of each parameter.
#[derive(Clone, Debug, Default)]
pub struct Adam {
    states: HashMap<ParamId, State>,
}

#[derive(Clone, Debug)]
struct State {
    moments: Moments,
    /// Steps that this parameter has taken.
    time: usize,
}

impl Adam {
    /// Moves every parameter that has a gradient; gradients are multiplied by `scale` first.
    pub fn step<M: Module>(&mut self, model: M, gradients: GradientsParams, rate: f64, scale: f64) -> M {
        model.map(&mut Pass { states: &mut self.states, gradients, rate, scale })
    }
}

struct Pass<'a> {
    states: &'a mut HashMap<ParamId, State>,
    gradients: GradientsParams,
    rate: f64,
    scale: f64,
}

impl ModuleMapper for Pass<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        let Some(gradient) = self.gradients.remove::<D>(id) else {
            return Param::from_mapped_value(id, tensor, mapper);
        };
        let (shape, device) = (tensor.dims(), tensor.device());
        let n: usize = shape.iter().product();
        let zeros = || Tensor::zeros([n], &device.clone().without_autodiff());
        let State { moments, time } = self
            .states
            .remove(&id)
            .unwrap_or_else(|| State { moments: Moments { first: zeros(), second: zeros() }, time: 0 });
        let step = Step { rate: self.rate, time: time + 1, scale: self.scale };
        let parameter = tensor.inner().reshape([n]);
        let (parameter, moments) = adam::step(parameter, gradient.reshape([n]), moments, step);
        self.states.insert(id, State { moments, time: step.time });
        let tensor = Tensor::from_inner(parameter.reshape(shape)).require_grad();
        Param::from_mapped_value(id, tensor, mapper)
    }
}

#[cfg(test)]
mod tests {
    use burn::optim::{AdamConfig, GradientsParams};
    use burn::tensor::Device;

    use super::*;

    #[derive(Module, Debug)]
    struct Two {
        a: Param<Tensor<2>>,
        b: Param<Tensor<1>>,
    }

    /// Against burn's own over some steps, one parameter being left out of every second.
    #[test]
    fn moves_as_burns_does() {
        let device = Device::flex().autodiff();
        let two = Two {
            a: Param::from_tensor(Tensor::from_floats([[1.0, -2.0], [0.5, 3.0]], &device)),
            b: Param::from_tensor(Tensor::from_floats([0.1], &device)),
        };
        let gradients = |two: &Two, step: usize| {
            let loss = two.a.val().square().sum();
            let loss = if step.is_multiple_of(2) { loss + two.b.val().exp().sum() } else { loss };
            GradientsParams::from_grads(loss.backward(), two)
        };
        let (mut ours, mut theirs) = (two.clone(), two);
        let (mut adam, mut burns) = (Adam::default(), AdamConfig::new().with_epsilon(1e-8).init());
        for step in 0..6 {
            let gradient = gradients(&ours, step);
            ours = adam.step(ours, gradient, 0.05, 1.0);
            let gradient = gradients(&theirs, step);
            theirs = burns.step(0.05, theirs, gradient);
            let host = |two: &Two| -> Vec<f32> {
                Tensor::cat(vec![two.a.val().inner().flatten(0, 1), two.b.val().inner()], 0)
                    .into_data()
                    .try_to_vec()
                    .unwrap()
            };
            for (ours, theirs) in host(&ours).iter().zip(host(&theirs)) {
                assert!((ours - theirs).abs() < 1e-5, "step {step}: {ours} {theirs}");
            }
        }
    }
}
