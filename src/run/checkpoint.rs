//! Checkpoints: all that training needs to go on, in a folder that is written aside, synced and renamed. Whatever ends the
//! program, the last one that was written stays whole; what belongs to one update never mixes with another's.
//!
//! ```text
//! checkpoints/<step>/
//!   weights.safetensors     the weights as they are trained
//!   optimizer.safetensors   what the optimizer remembers, `<slot>.<parameter>`
//!   average.safetensors     the moving average, if there is one
//!   state.json              numbers: step, place in the data, best scores, patience, …
//!   checksums.json          SHA-256 of the others
//! ```

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::weights::{self, Weights};
use super::{CHECKPOINTS, RunDir, write_whole};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hash::sha256_hex;
use crate::model::Seq2Seq;
use crate::train::optimizer::Optimizer;
use crate::train::{Progress, State};

/// The format of checkpoints that this version writes and reads.
const FORMAT: u32 = 1;

const WEIGHTS: &str = "weights.safetensors";
const OPTIMIZER: &str = "optimizer.safetensors";
const AVERAGE: &str = "average.safetensors";
const STATE: &str = "state.json";
const CHECKSUMS: &str = "checksums.json";

/// While it is written.
const PART: &str = "part";
/// While another takes its place.
const OLD: &str = "old";
/// While it is removed.
const REMOVED: &str = "removed";

/// What `state.json` holds.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    format: u32,
    version: String,
    /// A digest of the data.
    data: String,
    /// Processes, and cores of each: by them batches are dealt out.
    team: [usize; 2],
    /// How many moves the optimizer has made with each parameter.
    moves: BTreeMap<String, usize>,
    progress: Progress,
}

/// A checkpoint read back: its files, checked, by name.
#[derive(Debug, Serialize, Deserialize)]
pub struct Saved {
    /// The updates it was written after.
    pub step: usize,
    place: PathBuf,
    files: BTreeMap<String, Vec<u8>>,
}

impl RunDir {
    /// Writes a checkpoint and removes all but this one and, of those that were due, the newest, `keep` in all: so that one
    /// that was written because somebody stopped training takes nobody's place. `data` is a digest of what is trained on.
    ///
    /// # Errors
    /// What the system refuses; the checkpoints before are then still there.
    pub(super) fn write_checkpoint(&self, state: &State, data: &str, team: [usize; 2], keep: usize) -> Result<()> {
        let step = state.progress.step;
        let (place, aside) = (self.checkpoint(step), self.beside(step, PART));
        if let Err(why) = write_files(&aside, state, data, team) {
            // Best effort: what is half must not stay, but the first error is the one to tell.
            let _ = fs::remove_dir_all(&aside);
            return Err(Error::data(
                &place,
                format!("the checkpoint can't be written ({})", self.with_way_out(&why)),
            ));
        }
        if place.exists() {
            // One of the same update, before it was scored for the last time.
            fs::rename(&place, self.beside(step, OLD)).map_err(Error::io(&place))?;
        }
        fs::rename(&aside, &place).and_then(|()| sync(&self.0.join(CHECKPOINTS))).map_err(Error::io(&place))?;
        let due = state.progress.due.iter().rev().filter(|&&other| other != step).take(keep.saturating_sub(1));
        let kept: Vec<usize> = due.copied().chain([step]).collect();
        for other in self.checkpoints().into_iter().filter(|other| !kept.contains(other)) {
            self.discard(other)?;
        }
        self.sweep()
    }

    /// What went wrong, and, if it was room, what is kept and how to go on.
    pub(super) fn with_way_out(&self, why: &Error) -> String {
        let full = matches!(why, Error::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull);
        match self.checkpoints().last() {
            Some(step) if full => {
                format!("{why}; the checkpoint of step {step} is kept: make room and go on with --resume")
            }
            _ => why.to_string(),
        }
    }

    fn discard(&self, step: usize) -> Result<()> {
        let aside = self.beside(step, REMOVED);
        fs::rename(self.checkpoint(step), &aside).map_err(Error::io(&aside))
    }

    /// Removes all checkpoints, of a training that nobody will go on with.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn forget_checkpoints(&self) -> Result<()> {
        let folder = self.0.join(CHECKPOINTS);
        if folder.exists() { fs::remove_dir_all(&folder).map_err(Error::io(&folder)) } else { Ok(()) }
    }

    /// The updates after which there are checkpoints, in order.
    pub fn checkpoints(&self) -> Vec<usize> {
        let entries = fs::read_dir(self.0.join(CHECKPOINTS)).into_iter().flatten().flatten();
        let step =
            |name: &str| name.strip_suffix(OLD).map_or(name, |name| name.trim_end_matches('.')).parse().ok();
        let mut steps: Vec<usize> =
            entries.filter_map(|entry| step(&entry.file_name().to_string_lossy())).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// The newest checkpoint that is whole, with what is wrong with newer ones. Changes nothing.
    ///
    /// # Errors
    /// What the system refuses; checkpoints of which none is whole.
    pub(super) fn last_checkpoint(&self) -> Result<(Option<Saved>, Vec<String>)> {
        let mut wrong = Vec::new();
        for step in self.checkpoints().into_iter().rev() {
            match self.read_checkpoint(step) {
                Ok(saved) => return Ok((Some(saved), wrong)),
                // Not a word about the checkpoint: the disk, or who may read it.
                Err(Error::Io { path, source }) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(Error::Io { path, source });
                }
                Err(why) => wrong.push(why.to_string()),
            }
        }
        match wrong.into_iter().next() {
            None => Ok((None, Vec::new())),
            Some(why) => Err(Error::Model(format!("no checkpoint is whole ({why}): begin another run"))),
        }
    }

    /// Removes checkpoints of later updates, from which nobody will go on, and what a kill left of others.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn discard_after(&self, step: usize) -> Result<()> {
        self.sweep()?;
        for newer in self.checkpoints().into_iter().filter(|&other| other > step) {
            self.discard(newer)?;
        }
        self.sweep()
    }

    /// The file of a checkpoint's weights.
    pub(super) fn checkpoint_weights(&self, step: usize) -> PathBuf {
        self.checkpoint(step).join(WEIGHTS)
    }

    fn read_checkpoint(&self, step: usize) -> Result<Saved> {
        let place = self.checkpoint(step);
        let read = |name: &str| fs::read(place.join(name)).map_err(Error::io(place.join(name)));
        let sums: BTreeMap<String, String> = serde_json::from_slice(&read(CHECKSUMS)?)
            .map_err(|why| Error::data(place.join(CHECKSUMS), format!("not a list of checksums: {why}")))?;
        let mut files = BTreeMap::new();
        for (name, sum) in sums {
            let bytes = read(&name)?;
            if sha256_hex(&bytes) != sum {
                let message = "its checksum is not the one it was written with: the file is damaged";
                return Err(Error::data(place.join(name), message));
            }
            files.insert(name, bytes);
        }
        Ok(Saved { step, place, files })
    }

    /// Removes what was being written or removed when the program ended, and puts back what was about to be replaced.
    fn sweep(&self) -> Result<()> {
        let folder = self.0.join(CHECKPOINTS);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let left = match path.extension().and_then(|extension| extension.to_str()) {
                Some(OLD) if !path.with_extension("").exists() => fs::rename(&path, path.with_extension("")),
                Some(OLD | PART | REMOVED) => fs::remove_dir_all(&path),
                _ => Ok(()),
            };
            left.map_err(Error::io(&path))?;
        }
        Ok(())
    }

    /// Where a checkpoint is: aside, if the program ended while another was about to take its place.
    fn checkpoint(&self, step: usize) -> PathBuf {
        let place = self.0.join(CHECKPOINTS).join(step.to_string());
        let aside = place.with_extension(OLD);
        if !place.exists() && aside.exists() { aside } else { place }
    }

    fn beside(&self, step: usize, kind: &str) -> PathBuf {
        self.0.join(CHECKPOINTS).join(step.to_string()).with_extension(kind)
    }
}

impl Saved {
    /// The state, in models of this config that have no values yet; with the digest of the data that it was trained on.
    ///
    /// # Errors
    /// Files of another format or version, or of another model.
    pub(super) fn state(&self, config: &Config, blank: Seq2Seq) -> Result<(State, String)> {
        let numbers = self.numbers()?;
        let model = self.model(WEIGHTS, blank.clone())?;
        let average = (config.train.ema > 0.0).then(|| self.model(AVERAGE, blank)).transpose()?;
        let remembered = self.weights(OPTIMIZER)?;
        let optimizer = Optimizer::restore(config.train.rule(), &model, &numbers.moves, |name, size| {
            remembered.tensor(name, &[size]).map_err(|why| Error::data(self.place.join(OPTIMIZER), why))
        })?;
        Ok((State { model, optimizer, average, progress: numbers.progress }, numbers.data))
    }

    /// The updates after which the models that are kept were scored, the best first.
    pub(super) fn kept(&self) -> Result<Vec<usize>> {
        Ok(self.numbers()?.progress.kept.iter().map(|(step, _)| *step).collect())
    }

    /// On how many processes of how many cores it was trained.
    pub(super) fn team(&self) -> Result<[usize; 2]> {
        Ok(self.numbers()?.team)
    }

    fn numbers(&self) -> Result<Numbers> {
        let unfit = |why: String| Error::data(self.place.join(STATE), format!("not a state of training: {why}"));
        let json: serde_json::Value =
            serde_json::from_slice(self.file(STATE)?).map_err(|why| unfit(why.to_string()))?;
        if json["format"].as_u64() != Some(FORMAT.into()) {
            let by = json["version"].as_str().unwrap_or("an unknown version");
            let message = format!(
                "format {}, written by zhuyi {by}; this version reads checkpoints of format {FORMAT}",
                json["format"]
            );
            return Err(Error::data(self.place.join(STATE), message));
        }
        serde_json::from_value(json).map_err(|why| unfit(why.to_string()))
    }

    fn model(&self, name: &str, blank: Seq2Seq) -> Result<Seq2Seq> {
        self.weights(name)?.fill(blank).map_err(|why| Error::data(self.place.join(name), why))
    }

    fn weights(&self, name: &str) -> Result<Weights> {
        Weights::of(self.file(name)?.to_vec().into(), &self.place.join(name))
    }

    fn file(&self, name: &str) -> Result<&[u8]> {
        let missing = || Error::data(&self.place, format!("{name} is missing"));
        self.files.get(name).map(Vec::as_slice).ok_or_else(missing)
    }
}

/// Writes the files of a checkpoint into a new folder; all are on the disk when this returns.
fn write_files(folder: &Path, state: &State, data: &str, team: [usize; 2]) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).map_err(Error::io(folder))?;
    }
    fs::create_dir_all(folder).map_err(Error::io(folder))?;
    // Each of them is in memory only while it is written.
    weights::write(&folder.join(WEIGHTS), weights::of(&state.model))?;
    weights::write(&folder.join(OPTIMIZER), state.optimizer.tensors(&state.model))?;
    let mut names = vec![WEIGHTS, OPTIMIZER, STATE];
    if let Some(average) = &state.average {
        weights::write(&folder.join(AVERAGE), weights::of(average))?;
        names.push(AVERAGE);
    }
    let numbers = Numbers {
        format: FORMAT,
        version: env!("CARGO_PKG_VERSION").into(),
        data: data.into(),
        team,
        moves: state.optimizer.moves(&state.model),
        progress: state.progress.clone(),
    };
    let json = |value: serde_json::Result<String>| value.map_err(|why| Error::Model(why.to_string()));
    write_whole(&folder.join(STATE), json(serde_json::to_string_pretty(&numbers))?.as_bytes())?;
    let sum = |name: &str| {
        let path = folder.join(name);
        Ok((name.to_owned(), sha256_hex(&fs::read(&path).map_err(Error::io(&path))?)))
    };
    let sums = names.into_iter().map(sum).collect::<Result<BTreeMap<_, _>>>()?;
    write_whole(&folder.join(CHECKSUMS), json(serde_json::to_string_pretty(&sums))?.as_bytes())?;
    sync(folder).map_err(Error::io(folder))
}

/// Waits until the names in a folder are on the disk. Only Unix lets a folder be opened for that.
fn sync(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}
