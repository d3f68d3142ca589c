//! An ablation's directory.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// The folder of runs in it.
pub const RUNS: &str = "runs";
/// In the folder of runs, by which the directory is known as an ablation's.
const LOCK: &str = ".lock";

/// An ablation's directory, as long as it is held this process's alone: a second ablation would take this one's unfinished
/// run for a stopped one.
#[derive(Debug)]
pub struct Place {
    out: PathBuf,
    _lock: File,
}

impl Place {
    /// Opens a directory, made if need be.
    ///
    /// # Errors
    /// One that holds something that is no ablation's; one where another ablation is at work; what the system refuses.
    pub fn open(out: &Path) -> Result<Self> {
        let runs = out.join(RUNS);
        let path = runs.join(LOCK);
        let filled = std::fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
        if filled && !path.is_file() {
            let message =
                "there is something in this directory already that is no ablation's: name another with --out";
            return Err(Error::data(out, message));
        }
        std::fs::create_dir_all(&runs).map_err(Error::io(&runs))?;
        let lock = File::create(&path).map_err(Error::io(&path))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let message =
                    "another ablation is at work here: wait for it, or name another directory with --out";
                Err(Error::data(out, message))
            }
            // File systems without locks: as it was before there were any.
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self { out: out.to_path_buf(), _lock: lock }),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.out
    }

    /// Where its runs are.
    pub fn runs(&self) -> PathBuf {
        self.out.join(RUNS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_one_ablations_at_a_time_and_nobody_elses() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("out");
        let first = Place::open(&out).unwrap();
        assert!(Place::open(&out).unwrap_err().to_string().contains("another ablation is at work"));
        drop(first);
        assert_eq!(Place::open(&out).unwrap().runs(), out.join("runs"));
        std::fs::write(folder.path().join("report.md"), "mine").unwrap();
        assert!(Place::open(folder.path()).unwrap_err().to_string().contains("no ablation's"));
    }
}
