//! What a parser is given.

use std::path::Path;

/// Bytes, what they are to be taken for, and where they come from.
#[derive(Clone, Debug)]
pub struct Given {
    /// The name of a file before its first dot: which parser of several, or which file of several.
    pub kind: String,
    pub name: String,
    pub bytes: Vec<u8>,
}

/// All files of a folder, in the order of their names.
pub fn kept(folder: &Path) -> Vec<Given> {
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "nothing is in {}", folder.display());
    let given = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let kind = name.split('.').next().unwrap().to_owned();
        Given { kind, name, bytes: std::fs::read(path).unwrap() }
    };
    paths.iter().map(given).collect()
}
