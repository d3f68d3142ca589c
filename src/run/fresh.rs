//! A run from its first file to its last.

use std::path::Path;
use std::time::Instant;

use burn::module::Module;
use burn::tensor::Device;

use super::needs::needs;
use super::{Log, RunDir};
use crate::config::{Config, keys};
use crate::device::Opened;
use crate::error::Result;
use crate::hash::sha256_of;
use crate::model::{Seq2Seq, Vocabularies};
use crate::parity::check_first_batch;
use crate::prepare::Prepared;
use crate::ranks::Ranks;
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
    /// behind. Of several processes only rank 0 writes, into its `path`.
    ///
    /// # Errors
    /// A config that can't be built, a directory that holds something already, what the system refuses; a device that can't
    /// take the model or computes wrongly; processes that see different data.
    pub fn create(path: &Path, config: &Config, data: &Prepared, opened: &Opened, ranks: &Ranks) -> Result<Self> {
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        // On the processor until it is known that the device can take it.
        let model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), &Device::flex())?;
        if let Some(adapter) = &opened.adapter {
            adapter.limits.check(&needs(&model, config, data, ranks.size())?)?;
        }
        check_first_batch(&model, &data.examples, opened)?;
        let model = model.fork(&opened.device);
        // Only after all that can go wrong on a rank: then none goes on.
        ranks.agree("settings or data of training", || fingerprint(config, data))?;
        let parameters = model.parameters().iter().map(|(_, values)| values).sum();
        let dir = match ranks.leads() {
            true => RunDir::create(path)?,
            false => RunDir(path.to_path_buf()),
        };
        if ranks.leads() {
            dir.write_start(config, &data.source, &data.target, parameters)?;
        }
        Ok(Self { dir, parameters, model })
    }

    /// Trains it. With `runs` it becomes the newest one of that folder as soon as it has a model.
    ///
    /// # Errors
    /// What the system refuses; other processes that do not answer.
    pub fn train(
        self,
        config: &Config,
        data: &Prepared,
        opened: &Opened,
        ranks: &Ranks,
        runs: Option<&Path>,
        watch: &mut dyn Watch,
    ) -> Result<Summary> {
        let (examples, dev, config, device) = (&data.examples, &data.dev, &config.train, &opened.device);
        if !ranks.leads() {
            return train(self.model, examples, dev, config, device, ranks, &mut Follower(watch));
        }
        let (log, started) = (self.dir.log()?, Instant::now());
        let mut recorder = Recorder { dir: &self.dir, log, started, runs, watch };
        train(self.model, examples, dev, config, device, ranks, &mut recorder)
    }
}

/// What must be the same on all processes.
fn fingerprint(config: &Config, data: &Prepared) -> Result<String> {
    let texts = [keys::commented(config)?, data.source.hash()?, data.target.hash()?];
    let examples = data.examples.iter().chain(&data.dev.examples).map(|example| format!("{example:?}"));
    Ok(sha256_of(texts.into_iter().chain(examples).chain(data.dev.references.iter().cloned())))
}

/// A rank whose leader writes and speaks for it.
struct Follower<'a>(&'a mut dyn Watch);

impl Observer for Follower<'_> {
    fn event(&mut self, _: &Event) -> Result<()> {
        Ok(())
    }

    fn best(&mut self, _: &Seq2Seq) -> Result<()> {
        Ok(())
    }

    fn stop(&self) -> bool {
        self.0.stop()
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
