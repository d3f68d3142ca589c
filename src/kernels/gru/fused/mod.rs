//! The GRU (reset after) over whole sequences as one operation on flex. Sentences do not depend on each
//! other, so each thread takes some through all steps; the gradient of the recurrent weight is one product
//! over all steps instead of one a step.

mod backward;
mod forward;

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};

use super::Direction;
use crate::kernels::flex::{floats, tensor};
use crate::kernels::product::FEWEST_ROWS;

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait GruOps: Backend {
    /// Gates of the inputs `[B, T, G]`, first state `[B, H]`, weight `[H, G]`, bias `[G]`, lengths →
    /// all states `[B, T, H]`.
    fn gru(
        gates: FloatTensor<Self>,
        start: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        lengths: Vec<usize>,
        direction: Direction,
    ) -> FloatTensor<Self>;
}

impl GruOps for Flex {
    fn gru(
        gates: FlexTensor,
        start: FlexTensor,
        weight: FlexTensor,
        bias: FlexTensor,
        lengths: Vec<usize>,
        direction: Direction,
    ) -> FlexTensor {
        forward::run(&gates, &start, weight, &bias, lengths, direction).output()
    }
}

impl<C: CheckpointStrategy> GruOps for Autodiff<Flex, C> {
    fn gru(
        gates: FloatTensor<Self>,
        start: FloatTensor<Self>,
        weight: FloatTensor<Self>,
        bias: FloatTensor<Self>,
        lengths: Vec<usize>,
        direction: Direction,
    ) -> FloatTensor<Self> {
        let nodes = [gates.node(), start.node(), weight.node(), bias.node()];
        let step = GruBackward.prepare::<C>(nodes).compute_bound().stateful();
        let saved = forward::run(
            &gates.into_primitive(),
            &start.into_primitive(),
            weight.into_primitive(),
            &bias.into_primitive(),
            lengths,
            direction,
        );
        let output = saved.output();
        match step {
            OpsKind::Tracked(step) => step.finish(saved, output),
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

/// What backward needs of forward. States have T + 1 slots a sentence, the first state included: read
/// forward, step t goes from slot t to t + 1; read backward, from t + 1 to t.
#[derive(Clone, Debug)]
struct Saved {
    /// `[B, T + 1, H]`.
    states: Vec<f32>,
    /// `[B, T, 4H]`: reset, update, candidate, and what the state says to the candidate.
    gates: Vec<f32>,
    weight: FlexTensor,
    lengths: Vec<usize>,
    shape: Shape,
}

/// Sizes and direction of a sequence.
#[derive(Clone, Copy, Debug)]
struct Shape {
    steps: usize,
    hidden: usize,
    direction: Direction,
}

impl Shape {
    /// The steps in the order they are taken.
    fn order(self) -> impl DoubleEndedIterator<Item = usize> {
        let last = self.steps.saturating_sub(1);
        (0..self.steps).map(move |k| match self.direction {
            Direction::Forward => k,
            Direction::Backward => last - k,
        })
    }

    /// The slot of the state before step t; the one after it is [`Shape::after`].
    fn before(self, t: usize) -> usize {
        t + usize::from(self.direction == Direction::Backward)
    }

    fn after(self, t: usize) -> usize {
        t + usize::from(self.direction == Direction::Forward)
    }

    /// The slot of the first state.
    fn start(self) -> usize {
        if self.direction == Direction::Forward { 0 } else { self.steps }
    }
}

impl Saved {
    /// The states after each step, `[B, T, H]`.
    fn output(&self) -> FlexTensor {
        let Shape { steps, hidden, .. } = self.shape;
        let first = self.shape.after(0) * hidden;
        let mut output = Vec::with_capacity(self.lengths.len() * steps * hidden);
        for row in self.states.chunks((steps + 1) * hidden) {
            output.extend_from_slice(&row[first..first + steps * hidden]);
        }
        tensor(output, [self.lengths.len(), steps, hidden])
    }
}

/// How many sentences a thread takes.
fn share(sentences: usize) -> usize {
    sentences.div_ceil(rayon::current_num_threads()).max(FEWEST_ROWS)
}

/// Rows that a step must look at: up to the last sentence that still runs. Where longer sentences come first,
/// these are only those that run.
fn running(lengths: &[usize], step: usize) -> usize {
    lengths.iter().rposition(|&length| length > step).map_or(0, |last| last + 1)
}

#[derive(Debug)]
struct GruBackward;

impl Backward<Flex, 4> for GruBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 4>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let found = backward::run(&ops.state, floats(&upstream));
        for (parent, gradient) in ops.parents.into_iter().zip(found) {
            if let Some(parent) = parent {
                gradients.register::<Flex>(parent.id, gradient);
            }
        }
    }
}
