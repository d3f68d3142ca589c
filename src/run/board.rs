//! What training shows as it goes: curves, and where the model looks in some sentences, for TensorBoard.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use burn::tensor::Device;

use super::RunDir;
use super::events::{EventFile, Shown};
use super::looked::looked;
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::model::Seq2Seq;
use crate::prepare::Prepared;
use crate::train::Event;
use crate::train::batch::Example;

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
        let few: Vec<&Example> = self.data.dev.examples.iter().take(self.pictures).collect();
        let mut shown = Vec::new();
        for (number, alignment) in (1..).zip(looked(model, &few, self.data, &self.device)?) {
            if let Some(png) = picture(&alignment)? {
                shown.push((format!("alignment/{number}"), Shown::Picture(png)));
            }
        }
        if shown.is_empty() {
            return Ok(());
        }
        self.file.add(now(), step, &shown).map_err(Error::io(&self.path))
    }
}

/// A heat map; nothing in a build without PNG.
fn picture(alignment: &Alignment) -> Result<Option<Vec<u8>>> {
    let svg = crate::plot::heatmap::svg(alignment, None)?;
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
