//! The map as one operation on flex: bias and activation in one visit of the product, and products with
//! transposed sides in the layout that is fast.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use rayon::prelude::*;

use super::Activation;
use crate::kernels::flex::{floats, tensor};
use crate::kernels::product::{Matrix, Write, wide};
use crate::kernels::simd::{self, PIECE};

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait LinearOps: Backend {
    /// Inputs `[N, I]`, weight `[I, O]`, bias `[O]` or empty → `[N, O]`.
    fn linear(
        inputs: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self>;
}

impl LinearOps for Flex {
    fn linear(inputs: FlexTensor, weight: FlexTensor, bias: FlexTensor, activation: Activation) -> FlexTensor {
        forward(&inputs.to_contiguous(), &weight.to_contiguous(), &bias.to_contiguous(), activation)
    }
}

impl<C: CheckpointStrategy> LinearOps for Autodiff<Flex, C> {
    fn linear(
        inputs: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        activation: Activation,
    ) -> FloatTensor<Self> {
        let nodes = [inputs.node(), weight.node(), bias.node()];
        let step = LinearBackward.prepare::<C>(nodes).compute_bound().stateful();
        let inputs = inputs.into_primitive().to_contiguous();
        let weight = weight.into_primitive().to_contiguous();
        let output = forward(&inputs, &weight, &bias.into_primitive().to_contiguous(), activation);
        match step {
            OpsKind::Tracked(step) => {
                let activated = (activation == Activation::Tanh).then(|| output.clone());
                step.finish(Saved { inputs, weight, activated }, output)
            }
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

#[derive(Debug)]
struct LinearBackward;

/// What backward needs of forward.
#[derive(Clone, Debug)]
struct Saved {
    inputs: FlexTensor,
    weight: FlexTensor,
    /// What tanh gave, if there was one.
    activated: Option<FlexTensor>,
}

impl Backward<Flex, 3> for LinearBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let Saved { inputs, weight, activated } = ops.state;
        let mut upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        if let Some(activated) = activated {
            before_tanh(upstream.storage_mut(), floats(&activated));
        }
        let [n, i] = inputs.layout().shape().dims();
        let o = weight.layout().shape()[1];
        let rows = Matrix::new(floats(&upstream), [n, o]);
        let [of_inputs, of_weight, of_bias] = ops.parents;
        if let Some(parent) = of_inputs {
            let mut gradient = vec![0.0; n * i];
            wide(rows, Matrix::new(floats(&weight), [i, o]).transposed(), &mut gradient, Write::Replace);
            gradients.register::<Flex>(parent.id, tensor(gradient, [n, i]));
        }
        if let Some(parent) = of_weight {
            let mut gradient = vec![0.0; i * o];
            wide(Matrix::new(floats(&inputs), [n, i]).transposed(), rows, &mut gradient, Write::Replace);
            gradients.register::<Flex>(parent.id, tensor(gradient, [i, o]));
        }
        if let Some(parent) = of_bias {
            let mut gradient = vec![0.0; o];
            for row in floats(&upstream).chunks(o.max(1)) {
                gradient.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
            gradients.register::<Flex>(parent.id, tensor(gradient, [o]));
        }
    }
}

fn forward(inputs: &FlexTensor, weight: &FlexTensor, bias: &FlexTensor, activation: Activation) -> FlexTensor {
    let ([n, i], o) = (inputs.layout().shape().dims(), weight.layout().shape()[1]);
    let mut output = vec![0.0; n * o];
    wide(Matrix::new(floats(inputs), [n, i]), Matrix::new(floats(weight), [i, o]), &mut output, Write::Replace);
    let bias = floats(bias);
    let share = (PIECE / o.max(1)).max(1) * o.max(1);
    if !bias.is_empty() || activation == Activation::Tanh {
        output.par_chunks_mut(share).for_each(|rows| {
            simd::run(
                #[inline(always)]
                || {
                    for row in rows.chunks_mut(o) {
                        for (x, bias) in row.iter_mut().zip(bias) {
                            *x += bias;
                        }
                        if activation == Activation::Tanh {
                            for x in row {
                                *x = simd::tanh(*x);
                            }
                        }
                    }
                },
            );
        });
    }
    tensor(output, [n, o])
}

/// Gradients of what tanh gave → of what it was given.
fn before_tanh(gradients: &mut [f32], activated: &[f32]) {
    gradients.par_chunks_mut(PIECE).zip(activated.par_chunks(PIECE)).for_each(|(gradients, activated)| {
        simd::run(
            #[inline(always)]
            || {
                for (gradient, y) in gradients.iter_mut().zip(activated) {
                    *gradient *= 1.0 - y * y;
                }
            },
        );
    });
}
