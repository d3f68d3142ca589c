//! The first batch of a training, on its device and on the reference.

use burn::module::Module;
use burn::tensor::Device;

use super::LOSSES;
use crate::device::Opened;
use crate::error::{Error, Result};
use crate::kernels::can_take;
use crate::model::Seq2Seq;
use crate::train::batch::{Batch, Example};
use crate::train::loss::batch_loss;

/// Sentences that are enough to see a wrong number.
const ENOUGH: usize = 8;

/// Refuses to train on a device whose loss is not that of the reference.
///
/// # Errors
/// Names both losses, and the way out.
pub fn check_first_batch(model: &Seq2Seq, examples: &[Example], opened: &Opened) -> Result<()> {
    if can_take(&model.source_embedding.weight.val()) {
        return Ok(());
    }
    let reference = Device::flex();
    let few: Vec<&Example> = examples.iter().take(ENOUGH).collect();
    let loss = |model: &Seq2Seq, device: &Device| -> f64 {
        batch_loss(model, &Batch::new(&few, device), 0.0).into_scalar()
    };
    let (here, there) = (loss(&model.clone().fork(&reference), &reference), loss(model, &opened.device));
    // Not a number is not within bounds either.
    if (here - there).abs() <= LOSSES * here.abs() {
        return Ok(());
    }
    Err(Error::Device(format!(
        "{opened} computes wrongly: its loss of the first sentences is {there:.4}, the processor's {here:.4}; update its \
         driver, or take --device cpu"
    )))
}
