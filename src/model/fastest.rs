//! The stepper that is the fastest for a model: on slices where the kernels know all of its parts, else on tensors.

use burn::tensor::Device;

use super::host::{HostModel, HostState, HostStepper};
use super::seq2seq::{Seq2Seq, SourceBatch};
use super::stepper::{ModelStepper, RowStates};
use crate::search::{Step, Stepper};

/// One of the two.
#[derive(Debug)]
pub enum Fastest<'a> {
    /// On slices; boxed, for it is large.
    Host(Box<HostStepper<'a>>),
    /// On tensors.
    Plain(ModelStepper<'a>),
}

/// The rows of one of the two; always of the one that made them.
#[derive(Debug)]
pub enum Rows {
    /// On slices.
    Host(HostState),
    /// On tensors; boxed, for they are many.
    Plain(Box<RowStates>),
}

impl<'a> Fastest<'a> {
    /// Reads the sources, one row each. So many `cores` share a step on slices.
    pub fn start(
        model: &'a Seq2Seq,
        host: Option<&'a HostModel>,
        sources: &[&[usize]],
        cores: usize,
        device: &Device,
    ) -> (Self, Rows) {
        if let Some(host) = host {
            let (stepper, state) = host.start(model, &SourceBatch::new(sources, device), cores);
            return (Self::Host(Box::new(stepper)), Rows::Host(state));
        }
        let stepper = ModelStepper::new(model, device);
        let rows = stepper.start(sources);
        (Self::Plain(stepper), Rows::Plain(Box::new(rows)))
    }
}

impl Stepper for Fastest<'_> {
    type State = Rows;

    fn step(&mut self, rows: Rows, last: &[usize]) -> Step<Rows> {
        match (self, rows) {
            (Self::Host(stepper), Rows::Host(state)) => told(stepper.step(state, last), Rows::Host),
            (Self::Plain(stepper), Rows::Plain(state)) => {
                told(stepper.step(*state, last), |rows| Rows::Plain(Box::new(rows)))
            }
            _ => unreachable!("rows are stepped by what made them"),
        }
    }

    fn select(&self, rows: Rows, order: &[usize]) -> Rows {
        match (self, rows) {
            (Self::Host(stepper), Rows::Host(state)) => Rows::Host(stepper.select(state, order)),
            (Self::Plain(stepper), Rows::Plain(state)) => Rows::Plain(Box::new(stepper.select(*state, order))),
            _ => unreachable!("rows are selected by what made them"),
        }
    }
}

fn told<S>(step: Step<S>, rows: impl Fn(S) -> Rows) -> Step<Rows> {
    Step { log_probs: step.log_probs, attention: step.attention, state: rows(step.state) }
}
