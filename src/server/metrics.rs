//! What a server has done, for Prometheus (text format 0.0.4).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Counters since the start.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    /// By route and status.
    answers: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// Answers that took at most so long, by [`BOUNDS`], and one for all that took longer.
    durations: [AtomicU64; BOUNDS.len() + 1],
    microseconds: AtomicU64,
    rounds: AtomicU64,
    sentences: AtomicU64,
    connections: AtomicUsize,
}

/// Seconds.
const BOUNDS: [f64; 9] = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

impl Metrics {
    /// A request was answered.
    pub fn answered(&self, route: &'static str, status: u16, took: Duration) {
        *self.answers.lock().unwrap_or_else(PoisonError::into_inner).entry((route, status)).or_default() += 1;
        let place = BOUNDS.iter().position(|&bound| took.as_secs_f64() <= bound).unwrap_or(BOUNDS.len());
        self.durations[place].fetch_add(1, Ordering::Relaxed);
        self.microseconds.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// So many sentences were computed together.
    pub fn round(&self, sentences: usize) {
        self.rounds.fetch_add(1, Ordering::Relaxed);
        self.sentences.fetch_add(sentences as u64, Ordering::Relaxed);
    }

    /// How many connections are open.
    pub fn connections(&self) -> &AtomicUsize {
        &self.connections
    }

    /// All of them; `waiting` sentences have no answer yet.
    pub fn told(&self, waiting: usize) -> String {
        let mut told = String::new();
        let head = |told: &mut String, name: &str, kind: &str, help: &str| {
            // Writing to a string can't fail.
            let _ = write!(told, "# HELP zhuyi_{name} {help}\n# TYPE zhuyi_{name} {kind}\n");
        };
        head(&mut told, "answers_total", "counter", "Answers by route and status.");
        for ((route, status), n) in self.answers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = writeln!(told, "zhuyi_answers_total{{route=\"{route}\",status=\"{status}\"}} {n}");
        }
        head(&mut told, "answer_seconds", "histogram", "From a request's head to its answer.");
        let mut sum = 0;
        for (i, n) in self.durations.iter().enumerate() {
            sum += n.load(Ordering::Relaxed);
            let bound = BOUNDS.get(i).map_or("+Inf".to_owned(), f64::to_string);
            let _ = writeln!(told, "zhuyi_answer_seconds_bucket{{le=\"{bound}\"}} {sum}");
        }
        let seconds = self.microseconds.load(Ordering::Relaxed) as f64 / 1e6;
        let _ = writeln!(told, "zhuyi_answer_seconds_sum {seconds}\nzhuyi_answer_seconds_count {sum}");
        let rest: [(&str, &str, &str, u64); 4] = [
            (
                "rounds_total",
                "counter",
                "Rounds of sentences that were computed together.",
                self.rounds.load(Ordering::Relaxed),
            ),
            (
                "sentences_total",
                "counter",
                "Sentences that were computed.",
                self.sentences.load(Ordering::Relaxed),
            ),
            ("waiting_sentences", "gauge", "Sentences without an answer yet.", waiting as u64),
            ("connections", "gauge", "Open connections.", self.connections.load(Ordering::Relaxed) as u64),
        ];
        for (name, kind, help, value) in rest {
            head(&mut told, name, kind, help);
            let _ = writeln!(told, "zhuyi_{name} {value}");
        }
        told
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_prometheus_text() {
        let metrics = Metrics::default();
        metrics.answered("/translate", 200, Duration::from_millis(30));
        metrics.answered("/translate", 200, Duration::from_secs(60));
        metrics.answered("/translate", 413, Duration::from_millis(1));
        metrics.round(7);
        let told = metrics.told(3);
        for line in [
            "zhuyi_answers_total{route=\"/translate\",status=\"200\"} 2",
            "zhuyi_answer_seconds_bucket{le=\"0.005\"} 1",
            "zhuyi_answer_seconds_bucket{le=\"0.05\"} 2",
            "zhuyi_answer_seconds_bucket{le=\"+Inf\"} 3",
            "zhuyi_answer_seconds_count 3",
            "zhuyi_sentences_total 7",
            "zhuyi_waiting_sentences 3",
        ] {
            assert!(told.lines().any(|told| told == line), "{line} in\n{told}");
        }
    }
}
