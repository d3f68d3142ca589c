//! What may come next in a translation, whoever asks: beam search or sampling.

use super::Task;

/// The rules of one sentence.
#[derive(Clone, Debug)]
pub(super) struct Rules<'a> {
    forbidden: &'a [usize],
    end: usize,
    task: Task<'a>,
    no_repeat_ngram: usize,
}

/// What may follow some tokens.
#[derive(Clone, Debug)]
pub(super) struct Next<'a> {
    /// The one token that must.
    pub forced: Option<usize>,
    rules: &'a Rules<'a>,
    written: &'a [usize],
    repeated: Vec<usize>,
}

impl<'a> Rules<'a> {
    pub fn new(task: Task<'a>, forbidden: &'a [usize], end: usize, no_repeat_ngram: usize) -> Self {
        Self { forbidden, end, task, no_repeat_ngram }
    }

    /// What may come after `written`.
    pub fn after(&'a self, written: &'a [usize]) -> Next<'a> {
        let forced = self.task.prefix.get(written.len()).copied();
        Next { forced, rules: self, written, repeated: repeats(written, self.no_repeat_ngram) }
    }
}

impl Next<'_> {
    /// Whether a token may come, the forced one left aside.
    pub fn allows(&self, token: usize) -> bool {
        let fits = if token == self.rules.end { self.may_end() } else { !self.repeated.contains(&token) };
        fits && !self.rules.forbidden.contains(&token)
    }

    fn may_end(&self) -> bool {
        let task = &self.rules.task;
        self.written.len() >= task.least && task.constraints.iter().all(|phrase| phrase.is_in(self.written))
    }
}

/// Tokens that would write the same n tokens a second time.
fn repeats(written: &[usize], n: usize) -> Vec<usize> {
    if n == 0 || written.len() < n {
        return Vec::new();
    }
    let last = &written[written.len() + 1 - n..];
    written.windows(n).filter(|ngram| ngram[..n - 1] == *last).map(|ngram| ngram[n - 1]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_repeat_is_known() {
        assert_eq!(repeats(&[1, 2, 3, 1, 2], 3), [3]);
        assert_eq!(repeats(&[1, 2, 1, 3, 1], 2), [2, 3]);
        assert_eq!(repeats(&[4, 5], 1), [4, 5]);
        assert!(repeats(&[1, 2, 3], 0).is_empty() && repeats(&[1], 2).is_empty());
    }

    #[test]
    fn an_end_waits_for_length_and_constraints() {
        let must = [vec![5, 6].into()];
        let task = Task { least: 2, constraints: &must, prefix: &[4], ..Task::of(3, 9) };
        let rules = Rules::new(task, &[0], 2, 2);
        assert_eq!((rules.after(&[]).forced, rules.after(&[4]).forced), (Some(4), None));
        assert!(!rules.after(&[5]).allows(2) && !rules.after(&[4, 5]).allows(2));
        assert!(rules.after(&[5, 6]).allows(2));
        let next = rules.after(&[7, 8, 7]);
        assert!(next.allows(7) && !next.allows(8) && !next.allows(0));
    }
}
