//! What attention is worth: variants of it and the single vector, trained on the same data with the same budget, order and
//! seeds, and judged on the same sentences.
//!
//! [`Plan`] says what is trained, [`conduct`] trains and judges what has not been yet, [`Results`] are the figures, and
//! [`report`] shows them. A run's directory is named by its config, its data and the version of the
//! program, so a finished one is found again and no other is taken for it.

pub mod figures;
pub mod files;
mod place;
mod plan;
pub mod report;
mod results;
mod row;
mod test_set;
mod trial;

pub use place::{Place, RUNS};
pub use plan::{Ask, BASELINE, Plan, Variant, WIDE};
pub use results::Results;
pub use row::{Bin, Comparison, Failure, Measure, Point, Row, Times, Trained, points};
pub use test_set::TestSet;
pub use trial::{Judgement, Trial};

use crate::device::Opened;
use crate::error::Result;
use crate::prepare::Prepared;
use crate::run::Watch;
use trial::Outcome;

/// Who is told how far an ablation is.
pub trait Progress: Watch {
    /// A trial begins, the n-th of all.
    fn begins(&mut self, trial: &Trial, n: usize, of: usize);

    /// It was trained and judged before, so that nothing needs to be done.
    fn reused(&mut self, trial: &Trial);

    /// Its model translates the test set.
    fn judges(&mut self, trial: &Trial);

    /// Nothing came of it; the others go on.
    fn failed(&mut self, trial: &Trial, why: &str);
}

/// How an ablation ended.
#[derive(Debug)]
pub enum Ending {
    /// Every trial is finished.
    Finished(Box<Results>),
    /// Somebody asked it to stop. What is finished stays.
    Stopped,
}

/// Trains and judges every trial of a plan that has not been yet. `data` is that of every variant: the plan refuses those
/// that would have other.
///
/// # Errors
/// Data that can't be read, what the system refuses, and when nothing came of any trial.
pub fn conduct(
    plan: &Plan,
    data: &Prepared,
    test: &TestSet,
    place: &Place,
    opened: &Opened,
    progress: &mut dyn Progress,
) -> Result<Ending> {
    let trials = plan.trials(test)?;
    let of = trials.len();
    let (mut judged, mut failed) = (Vec::with_capacity(of), Vec::new());
    for (n, trial) in (1..).zip(trials) {
        progress.begins(&trial, n, of);
        match trial.conduct(&place.runs(), data, test, opened, progress)? {
            Outcome::Judged(judgement) => judged.push((trial, *judgement)),
            Outcome::Failed(why) => {
                progress.failed(&trial, &why);
                failed.push(Failure { variant: trial.variant, seed: trial.seed, why });
            }
            Outcome::Stopped => return Ok(Ending::Stopped),
        }
    }
    Ok(Ending::Finished(Box::new(Results::new(&judged, failed, test, &place.runs())?)))
}
