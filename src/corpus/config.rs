//! Which data a run uses.

use serde::{Deserialize, Serialize};

use super::read::Gold;
use super::{Location, Pair};
use crate::error::{Error, Result};

/// Where the pairs are, and in which languages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DataConfig {
    /// Pairs to train on.
    pub train: Location,
    /// Pairs to choose the best model on.
    pub dev: Location,
    /// Pairs for the final figures.
    pub test: Option<Location>,
    /// Translate from the second column (or file) to the first.
    pub reverse: bool,
    /// The first side's language, an ISO 639 code; may be empty.
    pub source_language: String,
    /// The second side's language, an ISO 639 code; if empty, BLEU goes by the script.
    pub target_language: String,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            train: Location::toy("train"),
            dev: Location::toy("dev"),
            test: Some(Location::toy("test")),
            reverse: false,
            source_language: String::new(),
            target_language: String::new(),
        }
    }
}

impl DataConfig {
    /// Refuses to choose a model of some data on other data that the program writes itself, and sets its test part aside.
    ///
    /// # Errors
    /// Names the key that is missing.
    pub fn resolve(&mut self) -> Result<()> {
        let (train, dev) = (self.train.collection(), self.dev.collection());
        match (train, dev) {
            (None, Some(_)) => {
                let message =
                    "data.train is your own, but data.dev is the toy corpus: name pairs to choose the model on";
                return Err(Error::Config(message.into()));
            }
            (Some(train), Some(dev)) if train != dev => {
                return Err(Error::Config(format!(
                    "data.train is {}, but data.dev is {}: add data.dev={train}dev",
                    self.train, self.dev
                )));
            }
            _ => {}
        }
        self.test = self.test.take().filter(|test| !test.is_made() || test.collection() == train);
        Ok(())
    }

    /// The pairs of a location in the direction of the run, blank ones too.
    ///
    /// # Errors
    /// As for [`Location::read`].
    pub fn read(&self, location: &Location, gold: Gold) -> Result<Vec<Pair>> {
        let pairs = location.read(gold)?;
        Ok(if self.reverse { pairs.into_iter().map(Pair::reversed).collect() } else { pairs })
    }

    /// The language that is translated from and the one that is translated to.
    pub fn direction(&self) -> (&str, &str) {
        match self.reverse {
            false => (&self.source_language, &self.target_language),
            true => (&self.target_language, &self.source_language),
        }
    }
}
