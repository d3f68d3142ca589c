//! Several runs asked together.

use super::{Other, Translator, trained};
use crate::error::{Error, Result};
use crate::model::host::LaidOut;
use crate::run::RunDir;
use crate::search::Mix;

impl Translator {
    /// The same with the models of further runs, their probabilities mixed.
    ///
    /// # Errors
    /// A run that is incomplete, has other tokenizers, or reads text otherwise.
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
            if loaded.config.text.normalize != self.run.config.text.normalize {
                let message = format!(
                    "its text.normalize is not that of {}: runs that translate together must read alike",
                    self.run.dir.path().display()
                );
                return Err(Error::data(run.path(), message));
            }
            self.others.push(Other { dir: loaded.dir, model: loaded.model, laid: LaidOut::default() });
        }
        Ok(self)
    }
}
