//! What training shows as it goes: curves, and where the model looks in some sentences, for TensorBoard.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use burn::tensor::Device;

use super::RunDir;
use super::events::{EventFile, Shown};
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::model::host::LaidOut;
use crate::model::{Seq2Seq, batched};
use crate::prepare::Prepared;
use crate::search::Look;
use crate::text::Tokenizer;
use crate::text::words::{Level, Words};
use crate::train::Event;

/// The folder of event files in a run's directory.
pub(super) const TENSORBOARD: &str = "tensorboard";

impl RunDir {
    /// Removes curves and pictures of a training that begins anew.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn forget_board(&self) -> Result<()> {
        let folder = self.0.join(TENSORBOARD);
        if folder.exists() { fs::remove_dir_all(&folder).map_err(Error::io(&folder)) } else { Ok(()) }
    }
}

/// Writes curves and pictures.
pub(super) struct Board<'a> {
    path: PathBuf,
    file: EventFile,
    data: &'a Prepared,
    device: Device,
    /// Dev sentences whose alignment is drawn.
    pictures: usize,
}

impl<'a> Board<'a> {
    /// A board of a run that has made so many updates.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn open(dir: &RunDir, data: &'a Prepared, device: &Device, pictures: usize, done: usize) -> Result<Self> {
        let folder = dir.path().join(TENSORBOARD);
        fs::create_dir_all(&folder).map_err(Error::io(&folder))?;
        let now = now();
        let path = folder.join(format!("events.out.tfevents.{:010}.zhuyi", now as u64));
        // What was told of the update after the last one on, comes again.
        let step = if done > 0 { done + 1 } else { 0 };
        let file = EventFile::open(&path, now, step).map_err(Error::io(&path))?;
        Ok(Self { path, file, data, device: device.clone().without_autodiff(), pictures })
    }

    /// Draws what an event tells into curves.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn event(&mut self, event: &Event) -> Result<()> {
        let (step, curves) = match event {
            Event::Progress { step, loss, learning_rate, gradient_norm, tokens_per_second, .. } => (
                *step,
                vec![
                    ("train/loss", *loss),
                    ("train/perplexity", loss.exp()),
                    ("train/learning_rate", *learning_rate),
                    ("train/gradient_norm", *gradient_norm),
                    ("train/tokens_per_second", *tokens_per_second),
                ],
            ),
            Event::Validated { step, scores, .. } => (
                *step,
                vec![
                    ("dev/loss", scores.loss),
                    ("dev/perplexity", scores.perplexity),
                    ("dev/bleu", scores.bleu),
                    ("dev/chrf", scores.chrf),
                    ("dev/exact_match", scores.exact_match),
                ],
            ),
            _ => return Ok(()),
        };
        let shown: Vec<(String, Shown)> =
            curves.into_iter().map(|(name, value)| (name.to_owned(), Shown::Number(value))).collect();
        self.file.add(now(), step, &shown).map_err(Error::io(&self.path))
    }

    /// Draws where a model looks in the first dev sentences, reference forced. Nothing for a model without attention.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn pictures(&mut self, model: &Seq2Seq, step: usize) -> Result<()> {
        let few = &self.data.dev.examples[..self.pictures.min(self.data.dev.examples.len())];
        let sources: Vec<&[usize]> = few.iter().map(|example| example.source.as_slice()).collect();
        let targets: Vec<&[usize]> = few.iter().map(|example| example.target.as_slice()).collect();
        let Ok(forced) = batched::score(model, &LaidOut::default(), &sources, &targets, few.len(), &self.device)
        else {
            // Weights that are no numbers are told elsewhere.
            return Ok(());
        };
        let mut shown = Vec::new();
        for (number, (forced, (source, target))) in (1..).zip(forced.iter().zip(sources.into_iter().zip(targets)))
        {
            if forced.attention.is_empty() {
                return Ok(());
            }
            let without_end = &source[..source.len() - 1];
            let words = |tokenizer: &Tokenizer, ids: &[usize]| {
                let pieces: Vec<String> = ids.iter().map(|&id| tokenizer.piece(id).to_owned()).collect();
                tokenizer.words(Level::Auto, &pieces)
            };
            let sides = [words(&self.data.source, without_end), words(&self.data.target, target)];
            if let Some(png) = picture(&forced.attention, &sides)? {
                shown.push((format!("alignment/{number}"), Shown::Picture(png)));
            }
        }
        self.file.add(now(), step, &shown).map_err(Error::io(&self.path))
    }
}

/// A heat map; nothing in a build without PNG.
fn picture(looks: &[Look], [source, target]: &[Words; 2]) -> Result<Option<Vec<u8>>> {
    let rows: Vec<&[f32]> = looks.iter().map(|look| look.weights.as_slice()).collect();
    let alignment = Alignment::at_words(&rows, &[], source, target);
    let svg = crate::plot::heatmap::svg(&alignment, None)?;
    #[cfg(feature = "png")]
    return Ok(Some(crate::plot::png::render(&svg)?.png));
    #[cfg(not(feature = "png"))]
    {
        drop(svg);
        Ok(None)
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
}
