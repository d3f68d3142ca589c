//! What training told, one event a line.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use super::{LOG, RunDir};
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
    pub fn summary(&self) -> Option<serde_json::Value> {
        self.events().into_iter().rev().find(|event| event["event"] == "finished")
    }

    /// What its log tells, in order; nothing if there is none. Lines that a crash cut off are passed over.
    pub fn events(&self) -> Vec<serde_json::Value> {
        let log = fs::read_to_string(self.0.join(LOG)).unwrap_or_default();
        log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// Leaves out of the log what was told after an update, of scores after another one, and that training had ended: it is
    /// about to be told again.
    ///
    /// # Errors
    /// What the system refuses.
    pub(super) fn rewind_log(&self, step: usize, validated_at: usize) -> Result<()> {
        let stays = |event: &serde_json::Value| {
            let last = if event["event"] == "validated" { validated_at } else { step };
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
        json["seconds"] = serde_json::json!((seconds * 1000.0).round() / 1000.0);
        writeln!(self.file, "{json}").map_err(Error::io(&self.path))
    }
}
