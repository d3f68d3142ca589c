//! The program as a person meets it: a folder, a command, what it said.

use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// A folder of its own for a test.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }
}

/// The program, run in a folder.
pub fn zhuyi(folder: &Folder) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder.root()).env_remove("ZHUYI_DATA").env("NO_COLOR", "1");
    command
}

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_zhuyi");

pub fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

pub fn stderr(command: &mut Command, code: i32) -> String {
    String::from_utf8(command.assert().code(code).get_output().stderr.clone()).unwrap()
}

pub fn lines(text: &str) -> Vec<&str> {
    text.strip_suffix('\n').unwrap_or(text).split('\n').collect()
}
