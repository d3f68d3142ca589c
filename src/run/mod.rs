//! The run directory: the only place that knows the names of the files in it.
//!
//! ```text
//! runs/<name>/
//!   config.toml          everything that was decided; enough to train again
//!   manifest.json        format, version, direction, hashes of the tokenizers, parameters
//!   tokenizer/{source,target}.json
//!   model.safetensors    the best model so far
//!   best/<step>.safetensors   the best model again, and those that `checkpoint.keep_best` keeps, by their updates
//!   checkpoints/<step>/  all that training needs to go on ([`checkpoint`])
//!   log.jsonl            one event a line
//!   tensorboard/         the same as curves, and alignment pictures, where the config says so
//!   judgement.json       of an ablation's run: its translations of the test data and where it looked
//! ```
//!
//! It can be moved: no absolute path is inside. Files are written aside, synced and renamed, so a crash or a
//! full disk leaves the old one whole.

mod average;
mod board;
pub mod checkpoint;
mod events;
mod files;
mod log;
mod looked;
mod memory;
mod models;
mod needs;
mod read;
mod remove;
mod shipped;
mod start;
mod training;
mod weights;

pub use average::Kept;
pub use checkpoint::Saved;
pub use files::{write_aside, write_whole};
pub use log::Log;
pub use memory::settled;
pub use read::{Loaded, Unfinished};
pub use start::prepare;
pub use training::{Training, Watch};

use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::config::{Config, keys};
use crate::error::{Error, Result};
use crate::hash::{sha256_hex, sha256_of};
use crate::text::Tokenizer;
use crate::train::Schedule;
use crate::train::batch::Example;

/// The format of run directories that this version writes and reads.
const FORMAT: u32 = 1;

const CONFIG: &str = "config.toml";
const MANIFEST: &str = "manifest.json";
const TOKENIZERS: &str = "tokenizer";
const SOURCE_TOKENIZER: &str = "tokenizer/source.json";
const TARGET_TOKENIZER: &str = "tokenizer/target.json";
const MODEL: &str = "model.safetensors";
const LOG: &str = "log.jsonl";
/// Held by the process that trains.
const LOCK: &str = "lock";
const CHECKPOINTS: &str = "checkpoints";
/// The best model, by its update, and those that `checkpoint.keep_best` keeps.
const BEST: &str = "best";
/// Only in the runs of an ablation.
const JUDGEMENT: &str = "judgement.json";
/// Only in what `bench --export` writes.
const BATCHES: &str = "batches.jsonl";
const DEV: &str = "dev.jsonl";
/// Beside the runs: names the newest one that has a model.
const LATEST: &str = "latest";

/// What must fit together in a run directory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The format of the directory.
    pub format: u32,
    /// The zhuyi that wrote it.
    pub version: String,
    /// The language that is translated from.
    pub source_language: String,
    /// The language that is translated to.
    pub target_language: String,
    /// SHA-256 of the source's tokenizer.
    pub source_tokenizer: String,
    /// SHA-256 of the target's tokenizer.
    pub target_tokenizer: String,
    /// How many numbers the model has learnt.
    pub parameters: usize,
}

/// A run directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDir(PathBuf);

impl RunDir {
    /// A new run directory, made if need be.
    ///
    /// # Errors
    /// A directory that holds something already.
    pub fn create(path: &Path) -> Result<Self> {
        Self::check_free(path)?;
        fs::create_dir_all(path).map_err(Error::io(path))?;
        Ok(Self(path.to_path_buf()))
    }

    /// Refuses a directory that holds something already.
    ///
    /// # Errors
    /// Names it, and the way out.
    pub fn check_free(path: &Path) -> Result<()> {
        if path.is_file() {
            return Err(Error::data(path, "this is a file; name a directory for the run"));
        }
        let filled = fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some());
        if filled {
            let message = "there is something in this directory already: name another, or go on with --resume";
            return Err(Error::data(path, message));
        }
        Ok(())
    }

    /// The first of `runs/<name>-1`, `runs/<name>-2`, … that does not exist.
    pub fn fresh_path(runs: &Path, name: &str) -> PathBuf {
        let mut n = 1;
        loop {
            let path = runs.join(format!("{name}-{n}"));
            if !path.exists() {
                return path;
            }
            n += 1;
        }
    }

    /// A run by path, or the newest under `runs` that has a model.
    ///
    /// # Errors
    /// A run that is not there, with how to make one.
    pub fn find(path: Option<&Path>, runs: &Path) -> Result<Self> {
        if let Some(path) = path {
            if path.join(MANIFEST).is_file() {
                return Ok(Self(path.to_path_buf()));
            }
            return Err(Error::data(path, format!("no run is here (no {MANIFEST}); `zhuyi runs` lists them")));
        }
        let latest = runs.join(LATEST);
        let name = fs::read_to_string(&latest).map_err(|_| {
            Error::data(runs, "no trained run yet: train one with `zhuyi train`, or name one with --run")
        })?;
        let run = Self(runs.join(name.trim()));
        if run.has_model() {
            return Ok(run);
        }
        Err(Error::data(latest, format!("names `{}`, which is gone; name a run with --run", name.trim())))
    }

    /// The run under a folder that a checkpoint was written of last.
    ///
    /// # Errors
    /// None that has one.
    pub fn last_trained(runs: &Path) -> Result<Self> {
        let written = |run: &Self| fs::metadata(run.0.join(CHECKPOINTS)).and_then(|folder| folder.modified()).ok();
        let newest = Self::list(runs).into_iter().filter_map(|run| Some((written(&run)?, run)));
        newest
            .max_by_key(|(written, _)| *written)
            .map(|(_, run)| run)
            .ok_or_else(|| Error::data(runs, "no run here has a checkpoint to go on from; name a run with --run"))
    }

    /// Every run under a folder that has a manifest, by name.
    pub fn list(runs: &Path) -> Vec<Self> {
        let entries = fs::read_dir(runs).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut found: Vec<PathBuf> = entries.filter(|path| path.join(MANIFEST).is_file()).collect();
        found.sort();
        found.into_iter().map(Self).collect()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Whether a model was saved.
    pub fn has_model(&self) -> bool {
        self.0.join(MODEL).is_file()
    }

    /// A digest of all that translating depends on.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn fingerprint(&self) -> Result<String> {
        let of = |name: &str| {
            let path = self.0.join(name);
            fs::read(&path).map(|bytes| sha256_hex(&bytes)).map_err(Error::io(&path))
        };
        let files = [CONFIG, MANIFEST, SOURCE_TOKENIZER, TARGET_TOKENIZER, MODEL];
        Ok(sha256_of(files.into_iter().map(of).collect::<Result<Vec<_>>>()?))
    }

    /// Writes the config again, where it changed.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write_config(&self, config: &Config) -> Result<()> {
        self.write(CONFIG, keys::commented(config)?.as_bytes())
    }

    /// Whether a run was begun here.
    pub fn is_begun(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// Writes what is decided before training.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write_start(
        &self,
        config: &Config,
        source: &Tokenizer,
        target: &Tokenizer,
        parameters: usize,
    ) -> Result<()> {
        let (from, to) = config.data.direction();
        let manifest = Manifest {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").into(),
            source_language: from.into(),
            target_language: to.into(),
            source_tokenizer: source.hash()?,
            target_tokenizer: target.hash()?,
            parameters,
        };
        let manifest = serde_json::to_string_pretty(&manifest).map_err(|why| Error::Model(why.to_string()))?;
        self.write(CONFIG, keys::commented(config)?.as_bytes())?;
        self.write(SOURCE_TOKENIZER, source.to_json()?.as_bytes())?;
        self.write(TARGET_TOKENIZER, target.to_json()?.as_bytes())?;
        self.write(MANIFEST, (manifest + "\n").as_bytes())
    }

    /// Writes batches for other systems: a JSON object a line, `source` ids with their end and `target` ids
    /// between begin and end, one list a sentence, and the learning `rate` of the update.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write_batches(&self, batches: &[Vec<Example>], schedule: &Schedule) -> Result<()> {
        let lines = batches.iter().enumerate().map(|(i, batch)| {
            let source: Vec<_> = batch.iter().map(|example| &example.source).collect();
            let target: Vec<_> = batch.iter().map(|example| &example.target).collect();
            serde_json::json!({"source": source, "target": target, "rate": schedule.rate(i + 1)}).to_string()
                + "\n"
        });
        self.write(BATCHES, lines.collect::<String>().as_bytes())
    }

    /// Writes the dev set for other systems: a JSON object a line, `source` ids with their end and `target` ids.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write_dev(&self, examples: &[Example]) -> Result<()> {
        let line = |example: &Example| {
            serde_json::json!({"source": example.source, "target": example.target}).to_string() + "\n"
        };
        self.write(DEV, examples.iter().map(line).collect::<String>().as_bytes())
    }

    /// Makes this the run that is used when none is named, if it is in the folder of runs: elsewhere a
    /// file of that name would be somebody else's.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn make_latest(&self, runs: &Path) -> Result<()> {
        let (Some(parent), Some(name)) = (self.0.parent(), self.0.file_name()) else { return Ok(()) };
        let same = |a: &Path, b: &Path| matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if !same(parent, runs) {
            return Ok(());
        }
        write_whole(&runs.join(LATEST), format!("{}\n", name.to_string_lossy()).as_bytes())
    }

    /// Writes how the model was judged.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn write_judgement(&self, judgement: &impl Serialize) -> Result<()> {
        let json = serde_json::to_string(judgement).map_err(|why| Error::Model(why.to_string()))?;
        self.write(JUDGEMENT, (json + "\n").as_bytes())
    }

    /// How the model was judged; nothing if it was not, or by another version in another form.
    pub fn judgement<T: serde::de::DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(&fs::read_to_string(self.0.join(JUDGEMENT)).ok()?).ok()
    }

    /// Keeps other processes from training in this directory, for as long as the file that comes back is open.
    ///
    /// # Errors
    /// Another one does.
    pub fn lock(&self) -> Result<File> {
        let path = self.0.join(LOCK);
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(Error::io(&path))?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                Err(Error::data(&self.0, "another process is training in this directory: wait for it, or stop it"))
            }
            // Some file systems know no locks; that is no reason not to train.
            _ => Ok(file),
        }
    }

    fn write(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.0.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        write_whole(&path, bytes)
    }
}
