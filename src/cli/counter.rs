//! How far a long translation is: a bar on a terminal, a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{is_quiet, note};
use super::progress::PLAIN_EVERY;
use zhuyi::ranks::Ranks;
use zhuyi::translator::Translator;

/// Sentences of a file, some of them done.
pub(super) struct Counter {
    bar: Option<ProgressBar>,
    total: usize,
    done: usize,
    last_line: Instant,
}

impl Counter {
    /// How many sentences are worth a word: enough for every core to have whole batches, of like length.
    pub fn batch(translator: &Translator, ranks: &Ranks) -> usize {
        let cores = rayon::current_num_threads() * ranks.size();
        translator.options().search.batch.saturating_mul(16 * cores)
    }

    /// Of so many sentences.
    pub fn new(total: usize) -> Self {
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} sentences  {per_sec}  {eta} left");
        let bar = (std::io::stderr().is_terminal() && !is_quiet()).then(|| {
            ProgressBar::new(total as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        Self { bar, total, done: 0, last_line: Instant::now() }
    }

    /// So many more are done.
    pub fn add(&mut self, sentences: usize) {
        self.done += sentences;
        match &self.bar {
            Some(bar) => bar.set_position(self.done as u64),
            None if self.last_line.elapsed() >= PLAIN_EVERY => {
                self.last_line = Instant::now();
                note(&format!("{} of {} sentences", self.done, self.total));
            }
            None => {}
        }
    }

    /// Says something beside the bar.
    pub fn beside(&self, say: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(say),
            None => say(),
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
