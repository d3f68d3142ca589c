//! The small run that is part of the program, for lessons: `data/lesson/run`, made by `scripts/lesson-model.sh`.

use std::path::PathBuf;

use burn::tensor::Device;

use super::read::{Files, Loaded, load};
use super::weights::Weights;
use super::{CONFIG, MANIFEST, MODEL, RunDir, SOURCE_TOKENIZER, TARGET_TOKENIZER};
use crate::error::{Error, Result};

/// Where it lies in the sources.
const PLACE: &str = "data/lesson/run";

/// A file of it, and what is in it.
macro_rules! shipped {
    ($include:ident, $name:literal) => {
        $include!(concat!(env!("CARGO_MANIFEST_DIR"), "/data/lesson/run/", $name))
    };
}

const TEXTS: [(&str, &str); 4] = [
    (CONFIG, shipped!(include_str, "config.toml")),
    (MANIFEST, shipped!(include_str, "manifest.json")),
    (SOURCE_TOKENIZER, shipped!(include_str, "tokenizer/source.json")),
    (TARGET_TOKENIZER, shipped!(include_str, "tokenizer/target.json")),
];
static WEIGHTS: &[u8] = shipped!(include_bytes, "model.safetensors");

struct Shipped;

impl Files for Shipped {
    fn text(&self, name: &str) -> Result<String> {
        let found = TEXTS.iter().find(|(known, _)| *known == name);
        found
            .map(|(_, text)| (*text).to_owned())
            .ok_or_else(|| Error::data(self.path(name), "not part of the program"))
    }

    fn weights(&self) -> Result<Weights> {
        Weights::of(WEIGHTS.into(), &self.path(MODEL))
    }

    fn path(&self, name: &str) -> PathBuf {
        PathBuf::from(PLACE).join(name)
    }
}

impl Loaded {
    /// The run that is part of the program.
    ///
    /// # Errors
    /// None, unless the program was built from broken files.
    pub fn shipped(device: &Device) -> Result<Self> {
        load(&Shipped, RunDir(PathBuf::from(PLACE)), device)
    }
}
