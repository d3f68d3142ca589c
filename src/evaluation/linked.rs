//! How well a model's links agree with gold ones.

use serde::Serialize;

use crate::alignment::AlignmentErrorRate;

/// Where a model looks while it writes references that have gold links.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Linked {
    /// The alignment error rate …
    pub aer: f64,
    /// … and what a perfect aligner of one link a target word reaches.
    pub floor: f64,
    /// See [`AlignmentErrorRate::precision`].
    pub precision: f64,
    /// See [`AlignmentErrorRate::recall`].
    pub recall: f64,
    /// See [`AlignmentErrorRate::f1`].
    pub f1: f64,
    /// Links of the model.
    pub links: usize,
    /// The mean entropy of its weights over the pieces of the source and its end, in nats; nothing where no row has any.
    pub entropy: Option<f64>,
}

impl Linked {
    /// Of counts beside their floor.
    pub fn of([rate, floor]: [AlignmentErrorRate; 2], entropy: Option<f64>) -> Self {
        Self {
            aer: rate.aer(),
            floor: floor.aer(),
            precision: rate.precision(),
            recall: rate.recall(),
            f1: rate.f1(),
            links: rate.links,
            entropy,
        }
    }
}
