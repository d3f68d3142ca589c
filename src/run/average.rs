//! The mean of several models of a run: of the best ones, or of its last checkpoints (Sennrich, Haddow & Birch 2016,
//! "Edinburgh neural machine translation systems for WMT 16", section 3.2, of the last; Junczys-Dowmunt, Dwojak & Hoang 2016).

use std::path::{Path, PathBuf};

use burn::tensor::Device;

use super::RunDir;
use super::weights::Weights;
use crate::error::{Error, Result};
use crate::model::Vocabularies;
use crate::train::average::mixed;

/// Which models of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Those of `checkpoint.keep_best`, by their scores.
    Best,
    /// The weights of the checkpoints of `checkpoint.keep_last`, the newest.
    Last,
}

impl RunDir {
    /// Makes a run whose model is the mean of `n` of this one's; the updates after which these were.
    ///
    /// # Errors
    /// Fewer models than were asked for, or none; a directory that holds something; what the system refuses.
    pub fn average(&self, kept: Kept, n: usize, out: &Path) -> Result<Vec<usize>> {
        Self::check_free(out)?;
        let (config, manifest) = self.read_manifest()?;
        let [source, target] = self.tokenizers()?;
        let vocabularies = Vocabularies { source: source.size(), target: target.size() };
        let blank = config.model().blank(vocabularies, &Device::flex())?;
        let files = self.kept(kept)?;
        if files.len() < n {
            let key = match kept {
                Kept::Best => "checkpoint.keep_best",
                Kept::Last => "checkpoint.keep_last",
            };
            let message =
                format!("{} are there, and {n} were asked for; {key} says how many are kept", files.len());
            return Err(Error::data(self.path(), message));
        }
        let mut mean = None;
        for (place, (_, path)) in files.iter().take(n).enumerate() {
            let model = Weights::open(path)?.fill(blank.clone()).map_err(|why| Error::data(path, why))?;
            mean = Some(match mean {
                None => model,
                Some(mean) => mixed(mean, &model, place as f64 / (place + 1) as f64),
            });
        }
        let out = Self::create(out)?;
        out.write_start(&config, &source, &target, manifest.parameters)?;
        if let Some(mean) = &mean {
            out.save_model(mean)?;
        }
        Ok(files.into_iter().take(n).map(|(step, _)| step).collect())
    }

    /// The models of a kind with their files, the best or newest first.
    fn kept(&self, kept: Kept) -> Result<Vec<(usize, PathBuf)>> {
        match kept {
            Kept::Last => {
                let steps = self.checkpoints().into_iter().rev();
                Ok(steps.map(|step| (step, self.checkpoint_weights(step))).collect())
            }
            Kept::Best => {
                let files = self.best_models();
                // Of which scores they are, the state knows.
                let order: Vec<usize> =
                    self.last_checkpoint()?.0.map_or_else(|| Ok(Vec::new()), |saved| saved.kept())?;
                let file = |step: usize| files.iter().find(|(other, _)| *other == step).cloned();
                Ok(order.into_iter().filter_map(file).collect())
            }
        }
    }
}
