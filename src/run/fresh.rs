//! A run from its first file to its last.

use std::path::Path;
use std::time::Instant;

use burn::tensor::Device;

use super::{Log, RunDir};
use crate::config::Config;
use crate::error::Result;
use crate::model::{Seq2Seq, Vocabularies};
use crate::prepare::Prepared;
use crate::rng::Rng;
use crate::train::{Event, Observer, Summary, train};

/// Who watches training and may stop it.
pub trait Watch {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Whether training should stop after this update.
    fn stop(&self) -> bool;
}

/// A run that has not been trained yet.
#[derive(Debug)]
pub struct Fresh {
    /// Its directory, which holds all that was decided.
    pub dir: RunDir,
    /// How many numbers the model will learn.
    pub parameters: usize,
    model: Seq2Seq,
}

impl Fresh {
    /// Draws the first weights and writes what is decided before training. A mistake in the config leaves no directory
    /// behind.
    ///
    /// # Errors
    /// A config that can't be built, a directory that holds something already, what the system refuses.
    pub fn create(path: &Path, config: &Config, data: &Prepared, device: &Device) -> Result<Self> {
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        let model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), device)?;
        let parameters = model.parameters().iter().map(|(_, values)| values).sum();
        let dir = RunDir::create(path)?;
        dir.write_start(config, &data.source, &data.target, parameters)?;
        Ok(Self { dir, parameters, model })
    }

    /// Trains it. With `runs` it becomes the newest one of that folder as soon as it has a model.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn train(
        self,
        config: &Config,
        data: &Prepared,
        device: &Device,
        runs: Option<&Path>,
        watch: &mut dyn Watch,
    ) -> Result<Summary> {
        let (log, started) = (self.dir.log()?, Instant::now());
        let mut recorder = Recorder { dir: &self.dir, log, started, runs, watch };
        train(self.model, &data.examples, &data.dev, &config.train, device, &mut recorder)
    }
}

/// Writes down what training says, and passes it on.
struct Recorder<'a> {
    dir: &'a RunDir,
    log: Log,
    started: Instant,
    runs: Option<&'a Path>,
    watch: &'a mut dyn Watch,
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) -> Result<()> {
        self.watch.event(event);
        self.log.add(event, self.started.elapsed().as_secs_f64())
    }

    fn best(&mut self, model: &Seq2Seq) -> Result<()> {
        self.dir.save_model(model)?;
        self.runs.map_or(Ok(()), |runs| self.dir.make_latest(runs))
    }

    fn stop(&self) -> bool {
        self.watch.stop()
    }
}
