//! All that the next update depends on. Handed in and out as a value: what is saved after an update and taken up again goes on
//! as if nothing had been.

use burn::module::Module;
use burn::tensor::Device;

use super::TrainConfig;
use super::optimizer::Optimizer;
use super::progress::Progress;
use crate::model::Seq2Seq;

/// A model in training.
#[derive(Clone, Debug)]
pub struct State {
    /// The model; on a device with gradients while it is trained.
    pub model: Seq2Seq,
    /// What the optimizer remembers of it.
    pub optimizer: Optimizer,
    /// The moving average of its weights, if there is one, without gradients.
    pub average: Option<Seq2Seq>,
    /// The numbers.
    pub progress: Progress,
}

impl State {
    /// Before the first update.
    pub fn fresh(model: Seq2Seq, config: &TrainConfig) -> Self {
        let progress = Progress::new(model.output().vocabulary());
        let average = (config.ema > 0.0).then(|| model.clone());
        Self { model, optimizer: Optimizer::new(config.rule()), average, progress }
    }

    /// The model that is scored and kept: the average, if there is one.
    pub fn scored(&self) -> Seq2Seq {
        self.average.clone().unwrap_or_else(|| self.model.valid())
    }

    /// The same on another device.
    pub fn fork(self, device: &Device) -> Self {
        let average = self.average.map(|average| average.fork(device));
        Self { model: self.model.fork(device), optimizer: self.optimizer.fork(device), average, ..self }
    }

    /// The same on a device where it can learn.
    pub(super) fn on(self, device: &Device) -> Self {
        let average = self.average.map(|average| average.fork(&device.clone().without_autodiff()));
        Self { model: self.model.fork(device).train(), average, ..self }
    }
}
