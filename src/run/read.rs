//! A run read back, from its directory or from inside the program.

use std::fs;
use std::path::PathBuf;

use burn::tensor::Device;
use serde::{Deserialize, Serialize};

use super::weights::Weights;
use super::{CONFIG, FORMAT, MANIFEST, MODEL, Manifest, RunDir, SOURCE_TOKENIZER, Saved, TARGET_TOKENIZER};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::model::{Seq2Seq, Vocabularies};
use crate::text::Tokenizer;

/// A trained run, read back.
#[derive(Debug)]
pub struct Loaded {
    /// The directory.
    pub dir: RunDir,
    /// Its config.
    pub config: Config,
    /// Its manifest.
    pub manifest: Manifest,
    /// The source's tokenizer.
    pub source: Tokenizer,
    /// The target's tokenizer.
    pub target: Tokenizer,
    /// The best model, without gradients.
    pub model: Seq2Seq,
}

/// What training goes on with; one process reads it and tells the others.
#[derive(Debug, Serialize, Deserialize)]
pub struct Unfinished {
    /// The directory.
    pub dir: RunDir,
    /// Its config, as a file: not every form that ranks could tell each other has words for it.
    config: String,
    tokenizers: [String; 2],
    /// The newest whole checkpoint; nothing if training ended before there was one.
    pub saved: Option<Saved>,
    /// What is wrong with newer ones.
    pub wrong: Vec<String>,
}

impl Unfinished {
    /// Its config.
    ///
    /// # Errors
    /// None after [`RunDir::unfinished`].
    pub fn config(&self) -> Result<Config> {
        Config::parse(&self.dir.path().join(CONFIG), &self.config, &[])
    }

    /// The tokenizers of both sides.
    ///
    /// # Errors
    /// None after [`RunDir::unfinished`].
    pub fn tokenizers(&self) -> Result<[Tokenizer; 2]> {
        let [source, target] = &self.tokenizers;
        let read = |name: &str, json: &str| Tokenizer::from_json(&self.dir.path().join(name), json);
        Ok([read(SOURCE_TOKENIZER, source)?, read(TARGET_TOKENIZER, target)?])
    }
}

/// The files of a run, by their names in its directory.
pub(super) trait Files: Sync {
    /// A text.
    fn text(&self, name: &str) -> Result<String>;
    /// The model's weights.
    fn weights(&self) -> Result<Weights>;
    /// What a file is called in messages.
    fn path(&self, name: &str) -> PathBuf;
}

impl Files for RunDir {
    fn text(&self, name: &str) -> Result<String> {
        let path = self.0.join(name);
        fs::read_to_string(&path).map_err(Error::io(&path))
    }

    fn weights(&self) -> Result<Weights> {
        Weights::open(&self.0.join(MODEL))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl RunDir {
    /// Reads the config and manifest.
    ///
    /// # Errors
    /// Files that are missing, broken, or of another format.
    pub fn read_manifest(&self) -> Result<(Config, Manifest)> {
        manifest(self)
    }

    /// The tokenizers of both sides.
    ///
    /// # Errors
    /// Files that are missing, broken, or of another run.
    pub(super) fn tokenizers(&self) -> Result<[Tokenizer; 2]> {
        let (source, target) = tokenizers(self, &manifest(self)?.1)?;
        Ok([source, target])
    }

    /// A model with what of this run's fits in it: how many tensors that is, and the names of those that were left.
    ///
    /// # Errors
    /// A file that is missing or broken.
    pub(super) fn weights_that_fit(&self, model: Seq2Seq) -> Result<(Seq2Seq, usize, Vec<String>)> {
        Ok(self.weights()?.fill_what_fits(model))
    }

    /// What training goes on with: the config, both tokenizers as they were written, and the newest whole checkpoint, with
    /// what is wrong with newer ones.
    ///
    /// # Errors
    /// Files that are missing, broken, of another run or of another format.
    pub fn unfinished(&self) -> Result<Unfinished> {
        let manifest = manifest(self)?.1;
        let config = self.text(CONFIG)?;
        let read = |name: &str, hash: &str| {
            tokenizer(self, name, hash)?;
            self.text(name)
        };
        let tokenizers = [
            read(SOURCE_TOKENIZER, &manifest.source_tokenizer)?,
            read(TARGET_TOKENIZER, &manifest.target_tokenizer)?,
        ];
        let (saved, wrong) = self.last_checkpoint()?;
        Ok(Unfinished { dir: self.clone(), config, tokenizers, saved, wrong })
    }

    /// The name of each parameter of the model, and how many numbers it has; none of them is read.
    ///
    /// # Errors
    /// A file that is missing or broken.
    pub fn parameters(&self) -> Result<Vec<(String, usize)>> {
        Ok(self.weights()?.sizes())
    }

    /// Reads everything back and checks that it belongs together.
    ///
    /// # Errors
    /// Names the piece that is missing, broken, or of another run.
    pub fn load(&self, device: &Device) -> Result<Loaded> {
        load(self, self.clone(), device)
    }
}

/// The config and the manifest of a run.
fn manifest(files: &impl Files) -> Result<(Config, Manifest)> {
    let path = files.path(MANIFEST);
    let json: serde_json::Value = serde_json::from_str(&files.text(MANIFEST)?)
        .map_err(|why| Error::data(&path, format!("not a manifest: {why}")))?;
    let format = json["format"].as_u64();
    if format != Some(FORMAT.into()) {
        let written = format.map_or("unknown".into(), |format| format.to_string());
        let by = json["version"].as_str().unwrap_or("an unknown version");
        let message = format!("run format {written}, written by zhuyi {by}; this version reads format {FORMAT}");
        return Err(Error::data(path, message));
    }
    let manifest =
        serde_json::from_value(json).map_err(|why| Error::data(&path, format!("not a manifest: {why}")))?;
    let config = Config::parse(&files.path(CONFIG), &files.text(CONFIG)?, &[])?;
    Ok((config, manifest))
}

/// Everything of a run, which is called `dir` from then on.
pub(super) fn load(files: &impl Files, dir: RunDir, device: &Device) -> Result<Loaded> {
    let (config, manifest) = manifest(files)?;
    // Side by side: a person waits for the first sentence.
    let (tokenizers, model) = rayon::join(|| tokenizers(files, &manifest), || model(files, &config, device));
    let ((source, target), (model, vocabularies)) = (tokenizers?, model?);
    if vocabularies != (Vocabularies { source: source.size(), target: target.size() }) {
        return Err(Error::data(files.path(MODEL), "its vocabularies are not those of this run's tokenizers"));
    }
    Ok(Loaded { dir, config, manifest, source, target, model })
}

/// Source and target; one that serves both is read once.
fn tokenizers(files: &impl Files, manifest: &Manifest) -> Result<(Tokenizer, Tokenizer)> {
    let source = tokenizer(files, SOURCE_TOKENIZER, &manifest.source_tokenizer)?;
    if manifest.source_tokenizer == manifest.target_tokenizer {
        return Ok((source.clone(), source));
    }
    Ok((source, tokenizer(files, TARGET_TOKENIZER, &manifest.target_tokenizer)?))
}

fn tokenizer(files: &impl Files, name: &str, hash: &str) -> Result<Tokenizer> {
    let path = files.path(name);
    let json = files.text(name)?;
    if crate::hash::sha256_hex(json.as_bytes()) != hash {
        let message = format!("not the tokenizer that this model was trained with (its hash is not {MANIFEST}'s)");
        return Err(Error::data(path, message));
    }
    Tokenizer::from_json(&path, &json)
}

/// The best model, and the vocabularies that its embeddings were made for.
fn model(files: &impl Files, config: &Config, device: &Device) -> Result<(Seq2Seq, Vocabularies)> {
    let path = files.path(MODEL);
    let unfit = |why: String| Error::data(&path, format!("does not fit this run's config: {why}"));
    let weights = files.weights()?;
    let rows = |name: &str| weights.rows(&format!("{name}_embedding.weight"));
    let target = rows("target");
    let source = if config.embedding.shared { target } else { rows("source") };
    let (Some(source), Some(target)) = (source, target) else {
        return Err(unfit("its embeddings are missing".into()));
    };
    let vocabularies = Vocabularies { source, target };
    let model = weights.fill(config.model().blank(vocabularies, device)?).map_err(unfit)?;
    Ok((model, vocabularies))
}
