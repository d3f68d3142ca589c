//! What training told, one event a line.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use super::{LOG, RunDir};
use crate::alignment::Alignment;
use crate::error::{Error, Result};
use crate::train::Event;

impl RunDir {
    /// Opens the log to add to it.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn log(&self) -> Result<Log> {
        let path = self.0.join(LOG);
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(Error::io(&path))?;
        Ok(Log { path, file })
    }

    /// The summary of its training, if it came to its end.
    pub fn summary(&self) -> Option<Value> {
        self.events().into_iter().rev().find(|event| event["event"] == "finished")
    }

    /// What its log tells, in order; nothing if there is none. Lines that a crash cut off are passed over.
    pub fn events(&self) -> Vec<Value> {
        let log = fs::read_to_string(self.0.join(LOG)).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Leaves out of the log what was told after an update, of scores after another one, and that training had ended: it is
    /// about to be told again.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn rewind_log(&self, step: usize, validated_at: usize) -> Result<()> {
        let stays = |event: &Value| {
            let is_of_validation = event["event"] == "validated" || event["event"] == "looked";
            let last = if is_of_validation { validated_at } else { step };
            event["event"] != "finished" && event["step"].as_u64().is_none_or(|at| at <= last as u64)
        };
        let events = self.events().into_iter().filter(stays).map(|event| format!("{event}\n"));
        self.write(LOG, events.collect::<String>().as_bytes())
    }

    /// Whether training has told anything.
    pub(super) fn is_logged(&self) -> bool {
        self.0.join(LOG).is_file()
    }
}

/// A run's log.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Adds an event and the seconds since training began.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn add(&mut self, event: &Event, seconds: f64) -> Result<()> {
        let mut json = serde_json::to_value(event).map_err(|why| Error::Model(why.to_string()))?;
        json["seconds"] = rounded(seconds, 1e3).into();
        self.write(&json)
    }

    /// Adds where the model looks after an update in the sentence that is watched: so that one can see how it learns to.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn add_look(&mut self, step: usize, alignment: &Alignment) -> Result<()> {
        let row = |row: &Vec<f32>| row.iter().map(|&weight| rounded(weight.into(), 1e4)).collect::<Vec<_>>();
        self.write(&json!({
            "event": "looked", "step": step, "source": alignment.source, "target": alignment.target,
            "weights": alignment.weights.iter().map(row).collect::<Vec<_>>(),
        }))
    }

    fn write(&mut self, event: &Value) -> Result<()> {
        writeln!(self.file, "{event}").map_err(Error::io(&self.path))
    }
}

/// A number to so many parts of 1.
fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}
