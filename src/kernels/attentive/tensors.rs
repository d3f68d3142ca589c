//! What goes into a sequence.

use burn::backend::flex::FlexTensor;

/// The tensors of a sequence.
#[derive(Clone, Debug)]
pub(super) struct Tensors {
    pub gates: FlexTensor,
    pub start: FlexTensor,
    pub recurrent: FlexTensor,
    pub bias: FlexTensor,
    pub extra: FlexTensor,
    pub keys: FlexTensor,
    pub values: FlexTensor,
    pub query: FlexTensor,
    pub energy: FlexTensor,
    pub readout: FlexTensor,
    pub given: FlexTensor,
}

impl Tensors {
    /// In the order of the operation's arguments.
    pub fn new(tensors: [FlexTensor; 11]) -> Self {
        let [gates, start, recurrent, bias, extra, keys, values, query, energy, readout, given] =
            tensors.map(|tensor| tensor.to_contiguous());
        Self { gates, start, recurrent, bias, extra, keys, values, query, energy, readout, given }
    }
}
