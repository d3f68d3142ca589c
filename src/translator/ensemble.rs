//! Several runs asked together.

use super::{Translator, trained};
use crate::error::{Error, Result};
use crate::model::host::LaidOut;
use crate::run::RunDir;
use crate::search::Mix;

impl Translator {
    /// The same with the models of further runs, their probabilities mixed.
    ///
    /// # Errors
    /// A run that is incomplete or has other tokenizers.
    pub fn with(mut self, runs: &[RunDir], mix: Mix) -> Result<Self> {
        self.mix = mix;
        for run in runs {
            let loaded = trained(run, &self.device)?;
            let tokenizers = |manifest: &crate::run::Manifest| {
                [manifest.source_tokenizer.clone(), manifest.target_tokenizer.clone()]
            };
            if tokenizers(&loaded.manifest) != tokenizers(&self.run.manifest) {
                let message = format!(
                    "its tokenizers are not those of {}: runs that translate together must share them (train one from the \
                     other with start.run, or all from the same data and text settings)",
                    self.run.dir.path().display()
                );
                return Err(Error::data(run.path(), message));
            }
            self.others.push((loaded.model, LaidOut::default()));
        }
        Ok(self)
    }
}
