//! Adam (the arithmetic is in [`crate::kernels::adam`]).

use burn::tensor::Tensor;

use super::Move;
use crate::kernels::adam::{Moments, Step, step};

pub(super) fn apply(
    parameter: Tensor<1>,
    gradient: Tensor<1>,
    slots: Vec<Tensor<1>>,
    time: usize,
    Move { rate, scale }: Move,
) -> (Tensor<1>, Vec<Tensor<1>>) {
    let Ok([first, second]) = <[Tensor<1>; 2]>::try_from(slots) else { unreachable!("adam has two slots") };
    let (parameter, moments) = step(parameter, gradient, Moments { first, second }, Step { rate, time, scale });
    (parameter, vec![moments.first, moments.second])
}

#[cfg(test)]
mod tests {
    use burn::module::{Module, Param};
    use burn::optim::{AdamConfig, AdamWConfig, GradientsParams};
    use burn::tensor::{Device, Tensor};

    use super::super::{Move, Optimizer, OptimizerKind, Rule};

    #[derive(Module, Debug)]
    struct Two {
        a: Param<Tensor<2>>,
        b: Param<Tensor<1>>,
    }

    fn host(two: &Two) -> Vec<f32> {
        let all = Tensor::cat(vec![two.a.val().inner().flatten(0, 1), two.b.val().inner()], 0);
        all.into_data().try_to_vec().unwrap()
    }

    /// Against burn's own over some steps, one parameter being left out of every second; the vector has nothing to decay.
    #[test]
    fn moves_as_burns_does() {
        let device = Device::flex().autodiff();
        let two = Two {
            a: Param::from_tensor(Tensor::from_floats([[1.0, -2.0], [0.5, 3.0]], &device)),
            b: Param::from_tensor(Tensor::from_floats([0.1], &device)),
        };
        let gradients = |two: &Two, step: usize, both: bool| {
            let loss = two.a.val().square().sum();
            let loss = if both && step.is_multiple_of(2) { loss + two.b.val().exp().sum() } else { loss };
            GradientsParams::from_grads(loss.backward(), two)
        };
        for (kind, weight_decay) in [(OptimizerKind::Adam, 0.0), (OptimizerKind::Adamw, 0.1)] {
            let mut optimizer = Optimizer::new(Rule { kind, weight_decay, momentum: 0.0 });
            let (mut ours, mut theirs) = (two.clone(), two.clone());
            let mut plain = AdamConfig::new().with_epsilon(1e-8).init();
            let mut decayed = AdamWConfig::new().with_epsilon(1e-8).with_weight_decay(weight_decay as f32).init();
            let with_vector = kind == OptimizerKind::Adam;
            for step in 0..6 {
                let gradient = gradients(&ours, step, with_vector);
                ours = optimizer.step(ours, gradient, Move { rate: 0.05, scale: 1.0 });
                let gradient = gradients(&theirs, step, with_vector);
                theirs = match kind {
                    OptimizerKind::Adam => plain.step(0.05, theirs, gradient),
                    _ => decayed.step(0.05, theirs, gradient),
                };
                for (ours, theirs) in host(&ours).iter().zip(host(&theirs)) {
                    assert!((ours - theirs).abs() < 1e-5, "{kind:?}, step {step}: {ours} {theirs}");
                }
            }
        }
    }
}
