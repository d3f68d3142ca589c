//! Files that are whole or not there.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Writes a file aside, syncs it and renames it over the old one.
///
/// # Errors
/// What the system refuses; the old one is then still there.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<()> {
    write_aside(path, |aside| {
        let mut file = File::create(aside)?;
        file.write_all(bytes)?;
        file.sync_all()
    })
}

/// The same where `write` writes and syncs.
///
/// # Errors
/// As for [`write_whole`].
pub fn write_aside(path: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".part");
    let aside = PathBuf::from(aside);
    write(&aside).and_then(|()| fs::rename(&aside, path)).map_err(|why| {
        // Best effort: the half-written file must not stay, but the first error is the one to tell.
        let _ = fs::remove_file(&aside);
        Error::io(path)(why)
    })
}
