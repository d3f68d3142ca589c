//! Requests that wait to be computed, a round at a time.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::refusal::{Answer, Refusal};
use super::work::{Found, How, Item};

/// Some sentences of one request, for one model.
#[derive(Debug)]
pub(super) struct Job {
    /// Whose, by its place.
    pub model: usize,
    pub how: Arc<How>,
    items: Vec<Item>,
    found: Vec<Found>,
    answer: oneshot::Sender<Answer<Vec<Found>>>,
}

/// A part of a job that is computed in one round.
pub(super) struct Share {
    pub job: Job,
    /// How many of its items, from the first that has no answer yet.
    pub count: usize,
}

impl Job {
    /// A job, and what its answer comes from.
    pub fn new(model: usize, how: Arc<How>, items: Vec<Item>) -> (Self, oneshot::Receiver<Answer<Vec<Found>>>) {
        let (answer, answered) = oneshot::channel();
        (Self { model, how, items, found: Vec::new(), answer }, answered)
    }

    fn left(&self) -> usize {
        self.items.len() - self.found.len()
    }

    /// Whether both may be computed together.
    fn is_like(&self, other: &Self) -> bool {
        self.model == other.model && (Arc::ptr_eq(&self.how, &other.how) || self.how == other.how)
    }
}

impl Share {
    pub fn items(&self) -> &[Item] {
        &self.job.items[self.job.found.len()..][..self.count]
    }

    /// How many of the job's items are done already.
    pub fn done(&self) -> usize {
        self.job.found.len()
    }
}

/// The jobs that wait.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    most: usize,
}

#[derive(Debug, Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    /// Sentences of all jobs that have no answer yet, those that are being computed among them.
    sentences: usize,
    closed: bool,
}

impl Queue {
    /// Of at most so many sentences.
    pub fn new(most: usize) -> Self {
        Self { waiting: Mutex::default(), changed: Condvar::new(), most }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sentences that wait.
    pub fn sentences(&self) -> usize {
        self.lock().sentences
    }

    /// Puts a job at the end. Where too much waits already it is refused; a job that finds nothing waiting is always taken.
    pub fn push(&self, job: Job) -> Answer<()> {
        let mut waiting = self.lock();
        waiting.drop_deserted();
        if waiting.closed {
            return Err(Refusal::stopping());
        }
        if waiting.sentences > 0 && waiting.sentences + job.left() > self.most {
            let message = format!("{} sentences wait already: try again later", waiting.sentences);
            let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
            return Err(Refusal { retry_after: Some(1), ..Refusal::new(status, message) });
        }
        waiting.sentences += job.left();
        waiting.jobs.push_back(job);
        self.changed.notify_one();
        Ok(())
    }

    /// No job is taken any more; what waits is still computed.
    pub fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_one();
    }

    /// What is to be computed next: jobs that are like the first, with about `capacity` sentences shared out among them. Waits
    /// for one; nothing once the queue is closed and empty.
    pub fn round(&self, capacity: usize) -> Option<Vec<Share>> {
        let mut waiting = self.lock();
        loop {
            waiting.drop_deserted();
            if !waiting.jobs.is_empty() {
                return Some(waiting.share_out(capacity));
            }
            if waiting.closed {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Takes what a round has found for a share: answers its job, or puts it at the end of the queue again.
    pub fn finish(&self, share: Share, found: Answer<Vec<Found>>) {
        let Share { mut job, count } = share;
        let mut waiting = self.lock();
        waiting.sentences -= count;
        match found {
            Err(refusal) => {
                waiting.sentences -= job.left() - count;
                // Nobody listens where the client has gone.
                let _ = job.answer.send(Err(refusal));
            }
            Ok(found) => {
                job.found.extend(found);
                match job.left() {
                    0 => _ = job.answer.send(Ok(job.found)),
                    _ => waiting.jobs.push_back(job),
                }
            }
        }
    }
}

impl Waiting {
    /// Forgets jobs whose clients have hung up.
    fn drop_deserted(&mut self) {
        let mut left = 0;
        self.jobs.retain(|job| {
            let is_wanted = !job.answer.is_closed();
            left += if is_wanted { 0 } else { job.left() };
            is_wanted
        });
        self.sentences -= left;
    }

    fn share_out(&mut self, capacity: usize) -> Vec<Share> {
        let mut alike: Vec<Job> = Vec::new();
        let mut others = VecDeque::new();
        for job in self.jobs.drain(..) {
            match alike.first().is_none_or(|first| job.is_like(first)) {
                true => alike.push(job),
                false => others.push_back(job),
            }
        }
        self.jobs = others;
        // Wide beams are more work, and nobody is to wait long for a round to end.
        let capacity = capacity / alike.first().map_or(1, |job| job.how.weight());
        // Every job gets a part of what is left, the shortest first, so that what short ones do not need goes to longer ones.
        let mut order: Vec<usize> = (0..alike.len()).collect();
        order.sort_by_key(|&i| alike[i].left());
        let mut counts = vec![0; alike.len()];
        let mut capacity = capacity;
        for (place, &i) in order.iter().enumerate() {
            counts[i] = alike[i].left().min((capacity / (alike.len() - place)).max(1));
            capacity = capacity.saturating_sub(counts[i]);
        }
        alike.into_iter().zip(counts).map(|(job, count)| Share { job, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::SearchConfig;

    fn job(model: usize, sentences: usize) -> (Job, oneshot::Receiver<Answer<Vec<Found>>>) {
        let item = |i: usize| Item::Pair(format!("s{i}"), String::new());
        Job::new(model, Arc::new(How::Score(SearchConfig::default())), (0..sentences).map(item).collect())
    }

    fn found(share: &Share) -> Answer<Vec<Found>> {
        Ok(share.items().iter().map(|_| Found::Score { log_prob: 0.0, tokens: 1 }).collect())
    }

    #[test]
    fn long_jobs_keep_no_short_one_waiting() {
        let queue = Queue::new(1000);
        let (long, mut long_answer) = job(0, 100);
        let (short, mut short_answer) = job(0, 2);
        let (other, mut other_answer) = job(1, 1);
        queue.push(long).unwrap();
        queue.push(other).unwrap();
        queue.push(short).unwrap();
        let mut rounds = 0;
        while queue.sentences() > 0 {
            let round = queue.round(10).unwrap();
            assert!(round.iter().all(|share| share.job.model == round[0].job.model));
            for share in round {
                let found = found(&share);
                queue.finish(share, found);
            }
            rounds += 1;
            match rounds {
                1 => assert!(short_answer.try_recv().is_ok() && long_answer.try_recv().is_err()),
                2 => assert!(other_answer.try_recv().is_ok()),
                _ => {}
            }
        }
        assert_eq!(long_answer.try_recv().unwrap().unwrap().len(), 100);
        // Eight of the long one's beside the short one's two, one of the other's, then ten at a time.
        assert_eq!(rounds, 2 + 10);
    }

    #[test]
    fn what_is_too_much_is_refused_and_what_nobody_waits_for_forgotten() {
        let queue = Queue::new(10);
        // A job of its own is taken, however large.
        let (large, answer) = job(0, 50);
        queue.push(large).unwrap();
        let refused = queue.push(job(0, 1).0).unwrap_err();
        assert_eq!((refused.status.as_u16(), refused.retry_after), (429, Some(1)));
        drop(answer);
        let (next, mut answer) = job(0, 1);
        // The place is free once somebody looks.
        queue.close();
        assert!(queue.round(5).is_none());
        assert_eq!(queue.sentences(), 0);
        assert_eq!(queue.push(next).unwrap_err().status.as_u16(), 503);
        assert!(answer.try_recv().is_err());
    }

    #[test]
    fn a_failure_ends_its_own_job() {
        let queue = Queue::new(100);
        let ((bad, mut bad_answer), (good, mut good_answer)) = (job(0, 30), job(0, 3));
        queue.push(bad).unwrap();
        queue.push(good).unwrap();
        let mut round = queue.round(10).unwrap();
        let (good, bad) = (round.remove(1), round.remove(0));
        queue.finish(bad, Err(Refusal::bad("no")));
        let told = found(&good);
        queue.finish(good, told);
        assert!(bad_answer.try_recv().unwrap().is_err() && good_answer.try_recv().unwrap().is_ok());
        assert_eq!(queue.sentences(), 0);
    }
}
