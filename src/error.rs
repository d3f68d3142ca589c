//! What can go wrong, as one clear line each: the file, the line or key, and the way out.

use std::path::{Path, PathBuf};

/// Result of everything in this crate that can fail.
pub type Result<T> = std::result::Result<T, Error>;

/// An error that a user can act on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The system refused to read or write a file.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file holds something it must not hold.
    #[error("{}{}: {message}", path.display(), line.map(|n| format!(":{n}")).unwrap_or_default())]
    Data {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where one is to blame.
        line: Option<usize>,
        /// What is wrong and what to do.
        message: String,
    },
    /// A flag that can't be meant.
    #[error("{0}")]
    Usage(String),
    /// A configuration that can't be meant.
    #[error("{0}")]
    Config(String),
    /// A model that can't do what was asked, or whose files don't belong together.
    #[error("{0}")]
    Model(String),
    /// A device that is not there, can't take what is asked of it, or computes wrongly.
    #[error("{0}")]
    Device(String),
    /// Processes that train together and can't go on together.
    #[error("{0}")]
    Ranks(String),
}

impl Error {
    /// The system's refusal, with the file it was about.
    pub fn io(path: impl AsRef<Path>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io { path, source }
    }

    /// Something wrong in a file as a whole.
    pub fn data(path: impl AsRef<Path>, message: impl Into<String>) -> Self {
        Self::Data { path: path.as_ref().to_path_buf(), line: None, message: message.into() }
    }

    /// Something wrong in one line of a file; lines count from 1.
    pub fn line(path: impl AsRef<Path>, line: usize, message: impl Into<String>) -> Self {
        Self::Data { path: path.as_ref().to_path_buf(), line: Some(line), message: message.into() }
    }
}
