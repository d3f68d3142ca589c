//! Training as people watch it: a bar on a terminal, a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::output::{is_quiet, note};
use zhuyi::train::Event;

/// How often a plain line is written where there is no terminal.
const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// What is shown of training on standard error.
pub struct Console {
    bar: Option<ProgressBar>,
    total: usize,
    last_line: Instant,
}

impl Console {
    pub fn new() -> Self {
        Self { bar: None, total: 0, last_line: Instant::now() }
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Started { total_steps, pairs, steps_per_epoch } => {
                self.total = *total_steps;
                note(&format!(
                    "training on {pairs} pairs, {steps_per_epoch} steps an epoch, {total_steps} at most"
                ));
                if std::io::stderr().is_terminal() && !is_quiet() {
                    self.bar = Some(bar(*total_steps));
                }
            }
            Event::Progress { step, epoch, loss, tokens_per_second, .. } => {
                let message = format!("epoch {epoch}  loss {loss:.3}  {tokens_per_second:.0} tokens/s");
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(*step as u64);
                        bar.set_message(message);
                    }
                    None if self.last_line.elapsed() >= PLAIN_EVERY => {
                        self.last_line = Instant::now();
                        note(&format!("step {step}/{}  {message}", self.total));
                    }
                    None => {}
                }
            }
            Event::Validated { step, scores, best } => {
                let mark = if *best { "  (best)" } else { "" };
                self.line(&format!(
                    "step {step}: dev loss {:.4}, perplexity {:.3}, BLEU {:.2}, exact {:.1} %{mark}",
                    scores.loss,
                    scores.perplexity,
                    scores.bleu,
                    100.0 * scores.exact_match
                ));
            }
            Event::Finished(_) => {}
        }
    }

    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }

    fn line(&self, line: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| note(line)),
            None => note(line),
        }
    }
}

fn bar(steps: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(steps as u64).with_style(style)
}
