//! The sequence as an operation of flex, with its place in the graph.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};

use super::cell::Plan;
use super::tensors::Tensors;
use super::{backward, forward};
use crate::kernels::flex::floats;

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait AttentiveOps: Backend {
    /// The shapes are [`super::sequence`]'s; what a plan does not need is empty. Lengths are those of sources and of
    /// targets.
    #[allow(clippy::too_many_arguments)]
    fn attentive(
        gates: FloatTensor<Self>,
        start: FloatTensor<Self>,
        recurrent: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        extra: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        values: FloatTensor<Self>,
        query: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        readout: FloatTensor<Self>,
        given: FloatTensor<Self>,
        plan: Plan,
        lengths: [Vec<usize>; 2],
    ) -> FloatTensor<Self>;
}

impl AttentiveOps for Flex {
    fn attentive(
        gates: FlexTensor,
        start: FlexTensor,
        recurrent: FlexTensor,
        bias: FlexTensor,
        extra: FlexTensor,
        keys: FlexTensor,
        values: FlexTensor,
        query: FlexTensor,
        energy: FlexTensor,
        readout: FlexTensor,
        given: FlexTensor,
        plan: Plan,
        lengths: [Vec<usize>; 2],
    ) -> FlexTensor {
        let tensors =
            Tensors::new([gates, start, recurrent, bias, extra, keys, values, query, energy, readout, given]);
        forward::run(tensors, plan, lengths).output()
    }
}

impl<C: CheckpointStrategy> AttentiveOps for Autodiff<Flex, C> {
    fn attentive(
        gates: FloatTensor<Self>,
        start: FloatTensor<Self>,
        recurrent: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        extra: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        values: FloatTensor<Self>,
        query: FloatTensor<Self>,
        energy: FloatTensor<Self>,
        readout: FloatTensor<Self>,
        given: FloatTensor<Self>,
        plan: Plan,
        lengths: [Vec<usize>; 2],
    ) -> FloatTensor<Self> {
        let all = [gates, start, recurrent, bias, extra, keys, values, query, energy, readout, given];
        let nodes = all.each_ref().map(|tensor| tensor.node());
        let step = AttentiveBackward.prepare::<C>(nodes).compute_bound().stateful();
        let saved = forward::run(Tensors::new(all.map(|tensor| tensor.into_primitive())), plan, lengths);
        let output = saved.output();
        match step {
            OpsKind::Tracked(step) => step.finish(saved, output),
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

#[derive(Debug)]
struct AttentiveBackward;

impl Backward<Flex, 11> for AttentiveBackward {
    type State = forward::Saved;

    fn backward(self, ops: Ops<forward::Saved, 11>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let found = backward::run(&ops.state, floats(&upstream));
        for (parent, gradient) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}
