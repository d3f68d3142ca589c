//! Which data a run uses.

use serde::{Deserialize, Serialize};

use super::read::Gold;
use super::{FilterConfig, Location, Pair, Pairs};
use crate::error::{Error, Result};

/// Where the pairs are, and in which languages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The links of the training pairs, a file of Pharaoh lines; without it the third column of a TSV.
    pub links: Option<String>,
    /// Pairs that are held in memory at most: a larger corpus lies in a nameless file in the system's folder for temporary
    /// files, and batches are mixed among this many.
    pub buffer: usize,
    /// Which pairs are not trained on.
    pub filter: FilterConfig,
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
            links: None,
            buffer: 500_000,
            filter: FilterConfig::default(),
        }
    }
}

impl DataConfig {
    /// Refuses to choose a model of some data on other data that the program writes itself, and sets its test part aside.
    ///
    /// # Errors
    /// Names the key that is missing.
    pub fn resolve(&mut self) -> Result<()> {
        if self.buffer == 0 {
            return Err(Error::Config("data.buffer must be at least 1".into()));
        }
        self.filter.check([&self.source_language, &self.target_language])?;
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
        match &self.test {
            Some(test) if test.is_made() && test.collection() != train => {
                // The one that nobody named goes with the toy corpus; another was meant.
                if *test != Location::toy("test") {
                    return Err(Error::Config(format!(
                        "data.train is {}, but data.test is {test}: name a test of the same kind, or your own",
                        self.train
                    )));
                }
                self.test = None;
            }
            _ => {}
        }
        Ok(())
    }

    /// The pairs of a location in the direction of the run, blank ones too.
    ///
    /// # Errors
    /// As for [`Location::stream`].
    pub fn stream(&self, location: &Location, gold: Gold) -> Result<Pairs> {
        let pairs = location.stream(gold)?;
        Ok(if self.reverse { Box::new(pairs.map(|pair| pair.map(Pair::reversed))) } else { pairs })
    }

    /// The same at once.
    ///
    /// # Errors
    /// As for [`Location::stream`].
    pub fn read(&self, location: &Location, gold: Gold) -> Result<Vec<Pair>> {
        self.stream(location, gold)?.collect()
    }

    /// The language that is translated from and the one that is translated to.
    pub fn direction(&self) -> (&str, &str) {
        match self.reverse {
            false => (&self.source_language, &self.target_language),
            true => (&self.target_language, &self.source_language),
        }
    }
}
