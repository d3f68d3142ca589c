//! The models of a run: the best one, and those that are kept beside it.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::write_aside;
use super::{BEST, MODEL, RunDir, weights};
use crate::error::{Error, Result};
use crate::model::Seq2Seq;

impl RunDir {
    /// Saves a model over the last one.
    ///
    /// # Errors
    /// What the system refuses; the last model is then still there.
    pub fn save_model(&self, model: &Seq2Seq) -> Result<()> {
        weights::write(&self.0.join(MODEL), weights::of(model))
    }

    /// Saves one of the best models, by the updates after which it was scored; its file.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn keep_model(&self, step: usize, model: &Seq2Seq) -> Result<PathBuf> {
        let folder = self.0.join(BEST);
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let file = folder.join(format!("{step}.safetensors"));
        weights::write(&file, weights::of(model)).map(|()| file)
    }

    /// Removes all of those models but these.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn forget_models(&self, kept: &[usize]) -> Result<()> {
        let kept: Vec<String> = kept.iter().map(|step| format!("{step}.safetensors")).collect();
        for entry in fs::read_dir(self.0.join(BEST)).into_iter().flatten().flatten() {
            if !kept.contains(&entry.file_name().to_string_lossy().into_owned()) {
                fs::remove_file(entry.path()).map_err(Error::io(entry.path()))?;
            }
        }
        Ok(())
    }

    /// The updates after which the kept models were scored, in order, with their files.
    pub fn best_models(&self) -> Vec<(usize, PathBuf)> {
        let entries = fs::read_dir(self.0.join(BEST)).into_iter().flatten().flatten();
        let step = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".safetensors")?.parse().ok();
        let mut found: Vec<(usize, PathBuf)> =
            entries.filter_map(|entry| Some((step(&entry.path())?, entry.path()))).collect();
        found.sort_unstable();
        found
    }

    /// Makes the first of these models, kept by their updates, the run's own again, and removes all others of later updates.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn put_back_models(&self, kept: &[usize]) -> Result<()> {
        self.forget_models(kept)?;
        let Some(best) = kept.first() else { return Ok(()) };
        let file = self.0.join(BEST).join(format!("{best}.safetensors"));
        if file.is_file() { self.take_model(&file) } else { Ok(()) }
    }

    /// Makes a model's file the run's own: the same file under another name where the system can do that.
    pub(super) fn take_model(&self, file: &Path) -> Result<()> {
        write_aside(&self.0.join(MODEL), |aside| {
            // What a kill left.
            let _ = fs::remove_file(aside);
            fs::hard_link(file, aside).or_else(|_| fs::copy(file, aside).map(|_| ()))
        })
    }
}
