//! A run from its first file to its last.

use std::path::Path;
use std::time::{Duration, Instant};

use burn::module::Module;
use burn::tensor::Device;

use super::board::Board;
use super::looked::{looked, watched};
use super::needs::needs;
use super::start::started;
use super::{Log, RunDir, Saved};
use crate::config::{Config, keys};
use crate::device::Opened;
use crate::error::{Error, Result};
use crate::hash::sha256_of;
use crate::kernels::cores;
use crate::model::{Seq2Seq, Vocabularies};
use crate::parity::check_first_batch;
use crate::prepare::Prepared;
use crate::ranks::Ranks;
use crate::rng::Rng;
use crate::train::batch::Example;
use crate::train::{Event, Observer, Standing, State, Summary, Task, freeze, train};

/// Who watches training and may stop it.
pub trait Watch {
    /// Something happened.
    fn event(&mut self, event: &Event);

    /// Whether training should stop after this update.
    fn stop(&self) -> bool;
}

/// A run that is about to be trained, from the beginning or from a checkpoint on.
#[derive(Debug)]
pub struct Training {
    /// Its directory, which holds all that was decided.
    pub dir: RunDir,
    /// How many numbers the model has.
    pub parameters: usize,
    /// What its first weights are, where they are not all drawn, for people.
    pub started_from: Vec<String>,
    state: State,
    data: String,
}

impl Training {
    /// Draws the first weights and writes what is decided before training. A mistake in the config leaves no directory
    /// behind. Of several processes only rank 0 writes, into its `path`.
    ///
    /// # Errors
    /// A config that can't be built, a directory that holds something already, what the system refuses; a device that can't
    /// take the model or computes wrongly; processes that see different data.
    pub fn begin(path: &Path, config: &Config, data: &Prepared, opened: &Opened, ranks: &Ranks) -> Result<Self> {
        let new = Self::fresh(RunDir(path.to_path_buf()), config, data, opened, ranks)?;
        if ranks.leads() {
            RunDir::create(path)?.write_start(config, &data.source, &data.target, new.parameters)?;
        }
        Ok(new)
    }

    fn fresh(dir: RunDir, config: &Config, data: &Prepared, opened: &Opened, ranks: &Ranks) -> Result<Self> {
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        // On the processor until it is known that the device can take it.
        let model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), &Device::flex())?;
        let (model, started_from) = started(model, config, data)?;
        check(&model, config, data, opened, ranks)?;
        let parameters = model.parameters().iter().map(|(_, values)| values).sum();
        let state = State::fresh(model.fork(&opened.device), &config.train);
        Ok(Self { dir, parameters, started_from, state, data: digest(data)? })
    }

    /// Begins a run anew that ended before its first checkpoint, with the vocabularies that it has.
    ///
    /// # Errors
    /// A run that has more than a beginning; all that [`Training::begin`] refuses.
    pub fn again(dir: RunDir, config: &Config, data: &Prepared, opened: &Opened, ranks: &Ranks) -> Result<Self> {
        if dir.summary().is_some() || dir.has_model() && !dir.is_logged() {
            let message = "this run has a model and no checkpoint to go on from: begin another run (start.run takes its weights)";
            return Err(Error::data(dir.path(), message));
        }
        let new = Self::fresh(dir, config, data, opened, ranks)?;
        if ranks.leads() {
            new.dir.discard_after(0)?;
            new.dir.rewind_log(0, 0)?;
            new.dir.forget_models(&[])?;
            new.dir.forget_board()?;
            new.dir.write_config(config)?;
        }
        Ok(new)
    }

    /// Takes a run up again where a checkpoint was written. What its log and its kept models tell of later updates is
    /// forgotten: it comes again.
    ///
    /// # Errors
    /// A checkpoint of another format, model or data, and all that [`Training::begin`] refuses.
    pub fn resume(
        dir: RunDir,
        saved: &Saved,
        config: &Config,
        data: &Prepared,
        opened: &Opened,
        ranks: &Ranks,
    ) -> Result<Self> {
        let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
        let (state, before) = saved.state(config, config.model().blank(vocabularies, &Device::flex())?)?;
        let digest = digest(data)?;
        if before != digest {
            let message = "the data is not what this run was trained on before (its digest differs): put it back, or begin another run";
            return Err(Error::data(dir.path(), message));
        }
        check(&state.model, config, data, opened, ranks)?;
        let parameters = state.model.parameters().iter().map(|(_, values)| values).sum();
        let (now, before) = (team(opened, ranks), saved.team()?);
        let told = format!(
            "trained so far by {} processes of {} cores, and from here on by {} of {}: dropout will be another",
            before[0], before[1], now[0], now[1]
        );
        if ranks.leads() {
            dir.discard_after(saved.step)?;
            dir.rewind_log(saved.step, state.progress.validated_at)?;
            dir.put_back_models(&state.progress.kept.iter().map(|(step, _)| *step).collect::<Vec<_>>())?;
            dir.write_config(config)?;
        }
        let started_from = if now == before { Vec::new() } else { vec![told] };
        Ok(Self { dir, parameters, started_from, state: state.fork(&opened.device), data: digest })
    }

    /// Trains it. With `runs` it becomes the newest one of that folder as soon as it has a model.
    ///
    /// # Errors
    /// What the system refuses; other processes that do not answer.
    pub fn run(
        self,
        config: &Config,
        data: &Prepared,
        opened: &Opened,
        ranks: &Ranks,
        runs: Option<&Path>,
        watch: &mut dyn Watch,
    ) -> Result<Summary> {
        let task = Task {
            examples: &data.examples,
            dev: &data.dev,
            config: &config.train,
            checkpoint: &config.checkpoint,
            device: &opened.device,
            ranks,
        };
        if !ranks.leads() {
            return train(self.state, task, &mut Follower(watch));
        }
        let (log, started, before) = (self.dir.log()?, Instant::now(), self.state.progress.elapsed);
        let (keep, team) = (config.checkpoint.keep_last, team(opened, ranks));
        let (pictures, done) = (config.log.pictures, self.state.progress.step);
        let board = config.log.tensorboard.then(|| Board::open(&self.dir, data, &opened.device, pictures, done));
        let board = board.transpose()?;
        let (device, watched) = (opened.device.clone().without_autodiff(), watched(data));
        let mut recorder = Recorder {
            board,
            team,
            dir: &self.dir,
            digest: &self.data,
            data,
            watched,
            device,
            keep,
            log,
            started,
            before,
            runs,
            watch,
        };
        train(self.state, task, &mut recorder).map_err(|why| match &why {
            Error::Io { source, .. } if source.kind() == std::io::ErrorKind::StorageFull => {
                Error::data(self.dir.path(), self.dir.with_way_out(&why))
            }
            _ => why,
        })
    }
}

/// Processes, and the cores of each.
fn team(opened: &Opened, ranks: &Ranks) -> [usize; 2] {
    [ranks.size(), cores(&opened.device)]
}

/// Refuses what can't be trained, before anything is written.
fn check(model: &Seq2Seq, config: &Config, data: &Prepared, opened: &Opened, ranks: &Ranks) -> Result<()> {
    if let Some(adapter) = &opened.adapter {
        adapter.limits.check(&needs(model, config, data, ranks.size())?)?;
    }
    freeze::check(model, &config.train.freeze)?;
    check_first_batch(model, &data.examples, opened)?;
    // Only after all that can go wrong on a rank: then none goes on.
    ranks.agree("settings or data of training", || Ok(sha256_of([keys::commented(config)?, digest(data)?])))
}

/// A digest of all that is trained and scored on.
fn digest(data: &Prepared) -> Result<String> {
    let texts = [data.source.hash()?, data.target.hash()?, data.examples.digest().to_owned()];
    let dev = data.dev.examples.iter().map(|example| format!("{example:?}"));
    Ok(sha256_of(texts.into_iter().chain(dev).chain(data.dev.references.iter().cloned())))
}

/// A rank whose leader writes and speaks for it.
struct Follower<'a>(&'a mut dyn Watch);

impl Observer for Follower<'_> {
    fn event(&mut self, _: &Event) -> Result<()> {
        Ok(())
    }

    fn scored(&mut self, _: &Seq2Seq, _: Standing<'_>) -> Result<()> {
        Ok(())
    }

    fn checkpoint(&mut self, _: &State) -> Result<()> {
        Ok(())
    }

    fn stop(&self) -> bool {
        self.0.stop()
    }
}

/// Writes down what training says, and passes it on.
struct Recorder<'a> {
    board: Option<Board<'a>>,
    team: [usize; 2],
    dir: &'a RunDir,
    digest: &'a str,
    data: &'a Prepared,
    /// The sentence in which it is told where the model looks.
    watched: Option<&'a Example>,
    device: Device,
    keep: usize,
    log: Log,
    started: Instant,
    /// What training took before this process.
    before: Duration,
    runs: Option<&'a Path>,
    watch: &'a mut dyn Watch,
}

impl Observer for Recorder<'_> {
    fn event(&mut self, event: &Event) -> Result<()> {
        self.watch.event(event);
        self.board.as_mut().map_or(Ok(()), |board| board.event(event))?;
        self.log.add(event, (self.before + self.started.elapsed()).as_secs_f64())
    }

    fn scored(&mut self, model: &Seq2Seq, standing: Standing<'_>) -> Result<()> {
        let Standing { step, best, kept } = standing;
        self.board.as_mut().map_or(Ok(()), |board| board.pictures(model, step))?;
        let watched: Vec<&Example> = self.watched.into_iter().collect();
        for alignment in looked(model, &watched, self.data, &self.device)? {
            self.log.add_look(step, &alignment)?;
        }
        if kept.contains(&step) {
            let file = self.dir.keep_model(step, model)?;
            // The best one is always kept.
            if best {
                self.dir.take_model(&file)?;
            }
        }
        if best {
            self.runs.map_or(Ok(()), |runs| self.dir.make_latest(runs))?;
        }
        Ok(())
    }

    fn checkpoint(&mut self, state: &State) -> Result<()> {
        self.dir.write_checkpoint(state, self.digest, self.team, self.keep)?;
        // Only now: until then the checkpoint before may need them.
        self.dir.forget_models(&state.progress.kept.iter().map(|(step, _)| *step).collect::<Vec<_>>())
    }

    fn stop(&self) -> bool {
        self.watch.stop()
    }
}
