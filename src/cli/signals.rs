//! Ctrl-C and its like.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use super::output::Interrupted;
use zhuyi::{Error, Result};

/// SIGINT and SIGTERM: the first asks training to stop, the second ends the program at once.
pub struct Signals(Arc<AtomicUsize>);

impl Signals {
    /// From now on.
    pub fn watch() -> Result<Self> {
        let caught = Arc::new(AtomicUsize::new(0));
        let again = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            let registered = flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&again))
                .and_then(|_| flag::register(signal, Arc::clone(&again)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&caught), signal as usize));
            registered.map_err(|why| Error::Model(format!("can't watch for signals: {why}")))?;
        }
        Ok(Self(caught))
    }

    /// What is no longer 0 once one has come.
    pub fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Whether one has come.
    pub fn caught(&self) -> Option<i32> {
        match self.0.load(Ordering::Relaxed) {
            0 => None,
            signal => Some(signal as i32),
        }
    }

    /// How the program ends after one.
    pub fn interrupted(&self) -> anyhow::Error {
        Interrupted(self.caught().unwrap_or(SIGINT)).into()
    }
}
