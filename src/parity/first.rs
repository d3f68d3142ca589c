//! The first sentences of a training, on its device and on the reference.

use std::collections::HashMap;

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};

use super::LOSSES;
use crate::device::{DeviceKind, Opened};
use crate::error::{Error, Result};
use crate::model::Seq2Seq;
use crate::train::batch::{Batch, Example};
use crate::train::examples::Examples;
use crate::train::loss::batch_loss;

/// Sentences that are enough to see a wrong number.
const ENOUGH: usize = 8;

/// How far the length of a gradient may be off, relative to the longest.
const GRADIENTS: f64 = 0.02;

/// Refuses to train on a device whose loss or gradients are not those of the reference: one whose gradients stay zero would
/// train for hours and leave a part of the model as it was drawn.
///
/// # Errors
/// Names what is off, and the way out.
pub fn check_first_batch(model: &Seq2Seq, examples: &Examples, opened: &Opened) -> Result<()> {
    if opened.kind == DeviceKind::Cpu {
        return Ok(());
    }
    let few = examples.first(ENOUGH)?;
    let few: Vec<&Example> = few.iter().collect();
    let (here, there) = (look(model, &few, &Device::flex())?, look(model, &few, &opened.device)?);
    let wrong = |what: &str, here: f64, there: f64| {
        Err(Error::Device(format!(
            "{opened} computes wrongly: {what} of the first sentences is {there:.4e}, the processor's {here:.4e}; update \
             its driver, or take --device cpu"
        )))
    };
    // Written so that what is no number is not within bounds either.
    let near = |a: f64, b: f64, most: f64| (a - b).abs() <= most;
    if !near(here.loss, there.loss, LOSSES * here.loss.abs()) {
        return wrong("the loss", here.loss, there.loss);
    }
    let longest = here.gradients.values().copied().fold(0.0, f64::max);
    for (name, here) in &here.gradients {
        let there = there.gradients.get(name).copied().unwrap_or(0.0);
        if !near(*here, there, GRADIENTS * longest) {
            return wrong(&format!("the length of the gradient of {name}"), *here, there);
        }
    }
    Ok(())
}

/// What a device makes of some sentences.
struct Look {
    loss: f64,
    /// The length of each parameter's gradient.
    gradients: HashMap<String, f64>,
}

fn look(model: &Seq2Seq, examples: &[&Example], device: &Device) -> Result<Look> {
    let device = device.clone().autodiff();
    let model = model.clone().fork(&device).train();
    let loss = batch_loss(&model, &Batch::new(examples, &device), 0.0);
    let told = loss
        .clone()
        .try_into_scalar::<f64>()
        .map_err(|why| Error::Device(format!("the device can't train this model: {why}")))?;
    let gradients = GradientsParams::from_grads(loss.backward(), &model);
    let mut lengths = Lengths { gradients, path: Vec::new(), found: HashMap::new() };
    model.visit(&mut lengths);
    Ok(Look { loss: told, gradients: lengths.found })
}

struct Lengths {
    gradients: GradientsParams,
    path: Vec<String>,
    found: HashMap<String, f64>,
}

impl ModuleVisitor for Lengths {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        if let Some(gradient) = self.gradients.remove::<D>(param.id) {
            let square = gradient.square().sum().try_into_scalar::<f64>().unwrap_or(f64::NAN);
            self.found.insert(self.path.join("."), square.sqrt());
        }
    }

    fn enter_module(&mut self, name: &str, _: &str) {
        self.path.push(name.to_owned());
    }

    fn exit_module(&mut self, _: &str, _: &str) {
        self.path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, TOY};
    use crate::model::Vocabularies;
    use crate::prepare::prepare;
    use crate::rng::Rng;

    /// Another device that computes rightly passes, and what is compared is there: a gradient of every parameter.
    #[test]
    fn what_another_device_makes_of_it_is_compared() {
        let config = Config::parse("toy.toml".as_ref(), TOY, &[]).unwrap();
        let data = prepare(&config).unwrap();
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        let model = config.model().init(vocabularies, &mut Rng::new(1, 0), &Device::flex()).unwrap();
        let opened = DeviceKind::Ndarray.open(None).unwrap();
        check_first_batch(&model, &data.examples, &opened).unwrap();
        let few = data.examples.first(ENOUGH).unwrap();
        let few: Vec<&Example> = few.iter().collect();
        let found = look(&model, &few, &opened.device).unwrap();
        assert!(found.gradients.len() > 10 && found.gradients.values().all(|length| *length > 0.0));
    }
}
