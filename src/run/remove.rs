//! Removing runs, and nothing else.

use std::fs;
use std::path::{Path, PathBuf};

use super::board::TENSORBOARD;
use super::{BEST, CHECKPOINTS, CONFIG, JUDGEMENT, LOCK, LOG, MANIFEST, MODEL, RunDir, TOKENIZERS};
use crate::error::{Error, Result};

impl RunDir {
    /// Removes what is left of a run. It is renamed first, so that whatever comes between leaves nothing under its name.
    ///
    /// # Errors
    /// A directory that holds anything but the files of a run; what the system refuses.
    pub fn remove(path: &Path) -> Result<()> {
        let known = [CONFIG, MANIFEST, MODEL, LOG, LOCK, JUDGEMENT, TOKENIZERS, CHECKPOINTS, BEST, TENSORBOARD];
        Self::remove_if_only(path, &known)
    }

    /// Removes what a kill may leave of a run's very first files: nothing that anybody could miss.
    ///
    /// # Errors
    /// A directory that holds anything else; what the system refuses.
    pub fn remove_beginning(path: &Path) -> Result<()> {
        Self::remove_if_only(path, &[CONFIG, TOKENIZERS, LOCK])
    }

    fn remove_if_only(path: &Path, known: &[&str]) -> Result<()> {
        let entries = fs::read_dir(path).map_err(Error::io(path))?;
        let names =
            entries.map(|entry| Ok(entry.map_err(Error::io(path))?.file_name().to_string_lossy().into_owned()));
        for name in names.collect::<Result<Vec<_>>>()? {
            let whole = name.strip_suffix(".part").unwrap_or(&name);
            if !known.contains(&whole) {
                let message = format!(
                    "`{name}` is none of the files that would be written again, so nothing is removed: move it away"
                );
                return Err(Error::data(path, message));
            }
        }
        let mut aside = path.as_os_str().to_owned();
        aside.push(".removed");
        let aside = PathBuf::from(aside);
        if aside.exists() {
            fs::remove_dir_all(&aside).map_err(Error::io(&aside))?;
        }
        fs::rename(path, &aside).map_err(Error::io(path))?;
        fs::remove_dir_all(&aside).map_err(Error::io(&aside))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_a_runs_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it");
        // What a kill may leave: of the first file half, of a removal what was not yet gone.
        for names in [&["config.toml.part"][..], &["model.safetensors", "log.jsonl"], &[]] {
            fs::create_dir_all(path.join(if names.is_empty() { "tokenizer" } else { "" })).unwrap();
            names.iter().for_each(|name| fs::write(path.join(name), "x").unwrap());
            RunDir::remove(&path).unwrap();
            assert!(!path.exists() && fs::read_dir(folder.path()).unwrap().next().is_none(), "{names:?}");
        }
        fs::create_dir_all(&path).unwrap();
        for name in ["config.toml", "thesis.tex"] {
            fs::write(path.join(name), "x").unwrap();
        }
        let message = RunDir::remove(&path).unwrap_err().to_string();
        assert!(message.contains("`thesis.tex` is none of the files"), "{message}");
        assert!(path.join("config.toml").is_file() && path.join("thesis.tex").is_file());
    }
}
