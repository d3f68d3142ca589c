//! Training as people watch it: a bar on a terminal, a plain line now and then elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

use super::output::{is_quiet, note};
use zhuyi::bench::peak_memory;
use zhuyi::train::Event;

/// How often a plain line is written where there is no terminal.
pub(super) const PLAIN_EVERY: Duration = Duration::from_secs(10);

/// What is shown of training on standard error.
pub struct Console {
    bar: Option<ProgressBar>,
    /// Updates at most.
    total: usize,
    /// Updates of earlier parts of the training.
    before: usize,
    /// BLEU of the last validation.
    bleu: Option<f64>,
    started: Instant,
    last_line: Instant,
}

impl Console {
    pub fn new() -> Self {
        let now = Instant::now();
        Self { bar: None, total: 0, before: 0, bleu: None, started: now, last_line: now }
    }

    pub fn event(&mut self, event: &Event) {
        match event {
            Event::Started { total_steps, pairs, steps_per_epoch, done } => {
                (self.total, self.before, self.started) = (*total_steps, *done, Instant::now());
                note(&format!(
                    "training on {pairs} pairs, {steps_per_epoch} steps an epoch, {total_steps} at most"
                ));
                if std::io::stderr().is_terminal() && !is_quiet() {
                    self.bar = Some(bar(*total_steps, *done));
                }
            }
            Event::Progress { step, epoch, loss, tokens_per_second, gradient_norm, .. } => {
                let bleu = self.bleu.map_or(String::new(), |bleu| format!("  BLEU {bleu:.1}"));
                let memory = peak_memory().map_or(String::new(), |mib| format!("  {mib:.0} MiB"));
                let message = format!(
                    "epoch {epoch}  loss {loss:.3}  perplexity {:.2}{bleu}  norm {gradient_norm:.2}  \
                     {tokens_per_second:.0} tokens/s{memory}",
                    loss.exp()
                );
                match &self.bar {
                    Some(bar) => {
                        bar.set_position(*step as u64);
                        bar.set_message(message);
                    }
                    None if self.last_line.elapsed() >= PLAIN_EVERY => {
                        self.last_line = Instant::now();
                        note(&format!("step {step}/{}  {message}  {} left", self.total, self.left(*step)));
                    }
                    None => {}
                }
            }
            Event::Validated { step, scores, best } => {
                self.bleu = Some(scores.bleu);
                let mark = if *best { "  (best)" } else { "" };
                self.line(&format!(
                    "step {step}: dev loss {:.4}, perplexity {:.3}, BLEU {:.2}, chrF {:.2}, exact {:.1} %{mark}",
                    scores.loss,
                    scores.perplexity,
                    scores.bleu,
                    scores.chrf,
                    100.0 * scores.exact_match
                ));
            }
            Event::Finished(_) => {}
        }
    }

    /// The time that the updates up to the last one will take, at the pace so far.
    fn left(&self, step: usize) -> HumanDuration {
        let (made, left) = (step.saturating_sub(self.before), self.total.saturating_sub(step));
        let seconds = self.started.elapsed().as_secs_f64() * left as f64 / made.max(1) as f64;
        // Without a limit there is no end to tell of.
        HumanDuration(Duration::from_secs_f64(seconds.min(1e10)))
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

fn bar(steps: usize, done: usize) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    let bar = ProgressBar::new(steps as u64).with_style(style).with_position(done as u64);
    // What was done before is no measure of how fast it goes now.
    bar.reset_eta();
    bar
}
