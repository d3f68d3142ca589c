//! What attention is worth: variants of it and the single vector, trained on the same data with the same budget, order and
//! seeds, and judged on the same sentences.
//!
//! [`Plan`] says what is trained, [`conduct`] trains and judges what has not been yet, [`Results`] are the figures, and
//! [`report`] shows them. A run's directory is named by all that decides it, so a finished one is found again and no
//! other is ever taken for it.

pub mod figures;
pub mod files;
mod plan;
pub mod report;
mod results;
mod test_set;
mod trial;

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use burn::tensor::Device;

pub use plan::{Ask, BASELINE, Plan, Variant, WIDE};
pub use results::{Bin, Comparison, Measure, Point, Results, Row, Times, Trained, points};
pub use test_set::TestSet;
pub use trial::{Judgement, Trial};

use crate::error::{Error, Result};
use crate::run::Watch;

/// Who is told how far an ablation is.
pub trait Progress: Watch {
    /// A trial begins, the n-th of all.
    fn begins(&mut self, trial: &Trial, n: usize, of: usize);

    /// It was trained and judged before, so that nothing needs to be done.
    fn reused(&mut self, trial: &Trial);

    /// Its model translates the test set.
    fn judges(&mut self, trial: &Trial);
}

/// How an ablation ended.
#[derive(Debug)]
pub enum Ending {
    /// Every trial is finished.
    Finished(Box<Results>),
    /// Somebody asked it to stop. What is finished stays.
    Stopped,
}

/// The folder of runs in an ablation's directory.
pub const RUNS: &str = "runs";

/// Trains and judges every trial of a plan that has not been yet; runs lie in `out/runs`.
///
/// # Errors
/// Data that can't be read, sources that a variant can't take, what the system refuses.
pub fn conduct(
    plan: &Plan,
    test: &TestSet,
    out: &Path,
    device: &Device,
    progress: &mut dyn Progress,
) -> Result<Ending> {
    let runs: PathBuf = out.join(RUNS);
    let _alone = lock(&runs)?;
    let trials = plan.trials(test)?;
    let mut judged = Vec::with_capacity(trials.len());
    for (n, trial) in (1..).zip(&trials) {
        progress.begins(trial, n, trials.len());
        match trial.conduct(&runs, test, device, progress)? {
            Some(judgement) => judged.push(judgement),
            None => return Ok(Ending::Stopped),
        }
    }
    Ok(Ending::Finished(Box::new(Results::new(&trials, &judged, test, &runs)?)))
}

/// Keeps a second ablation out of the same directory: it would take this one's unfinished run for a stopped one.
fn lock(runs: &Path) -> Result<File> {
    std::fs::create_dir_all(runs).map_err(Error::io(runs))?;
    let path = runs.join(".lock");
    let file = File::create(&path).map_err(Error::io(&path))?;
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(Error::data(
            runs,
            "another ablation is at work here: wait for it, or give --out another directory",
        )),
        // File systems without locks: as it was before there were any.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(file),
    }
}
