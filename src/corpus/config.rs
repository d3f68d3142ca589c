//! Which data a run uses.

use serde::{Deserialize, Serialize};

use super::Location;

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
    /// The first side's language, an ISO 639 code.
    pub source_language: String,
    /// The second side's language, an ISO 639 code.
    pub target_language: String,
}

impl Default for DataConfig {
    fn default() -> Self {
        Self {
            train: Location::toy("train"),
            dev: Location::toy("dev"),
            test: Some(Location::toy("test")),
            reverse: false,
            source_language: "en".into(),
            target_language: "zh".into(),
        }
    }
}

impl DataConfig {
    /// The language that is translated from and the one that is translated to.
    pub fn direction(&self) -> (&str, &str) {
        match self.reverse {
            false => (&self.source_language, &self.target_language),
            true => (&self.target_language, &self.source_language),
        }
    }
}
