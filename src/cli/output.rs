//! Results to standard output, everything else to standard error; a reader that goes away is no error.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anstyle::{AnsiColor, Style};

use zhuyi::{Error, Result};

/// Standard output; written line by line, colours left out where nobody sees them.
pub fn stdout() -> anstream::AutoStream<io::StdoutLock<'static>> {
    anstream::stdout().lock()
}

/// Writes a text and a line end to standard output.
pub fn print(text: &str) -> anyhow::Result<()> {
    let mut out = stdout();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}

/// Writes a JSON value on one line to standard output.
pub fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    print(&serde_json::to_string(value)?)
}

/// Says an error.
pub fn complain(message: &str) {
    say(AnsiColor::Red.on_default().bold(), "error", message);
}

/// Says a warning.
pub fn warn(message: &str) {
    say(AnsiColor::Yellow.on_default().bold(), "warning", message);
}

fn say(style: Style, kind: &str, message: &str) {
    if SILENT.load(Ordering::Relaxed) {
        return;
    }
    let line = format!("{style}{kind}{style:#}: {message}\n");
    let plain = anstream::AutoStream::choice(&io::stderr()) == anstream::ColorChoice::Never;
    // Without colours in one piece, so that what other processes say does not stand in the middle of it. Nowhere to tell it if
    // this fails.
    let _ = match plain {
        true => io::stderr().lock().write_all(anstream::adapter::strip_str(&line).to_string().as_bytes()),
        false => anstream::stderr().lock().write_all(line.as_bytes()),
    };
}

/// Whether nothing at all is told but results.
static SILENT: AtomicBool = AtomicBool::new(false);

/// From now on nothing is told: another process says it.
pub fn be_silent() {
    be_quiet();
    SILENT.store(true, Ordering::Relaxed);
}

/// From now on errors are told again.
pub fn speak() {
    SILENT.store(false, Ordering::Relaxed);
}

/// Whether notes are left out.
static QUIET: AtomicBool = AtomicBool::new(false);

/// From now on only results, warnings and errors are told.
pub fn be_quiet() {
    QUIET.store(true, Ordering::Relaxed);
}

/// Whether notes are left out.
pub fn is_quiet() -> bool {
    QUIET.load(Ordering::Relaxed)
}

/// Writes a note to standard error, unless they are left out.
pub fn note(message: &str) {
    if is_quiet() {
        return;
    }
    // Nowhere to tell it if this fails.
    let _ = writeln!(anstream::stderr().lock(), "{message}");
}

/// Refuses a file to write whose folder is not there, before the work whose result it is to hold.
///
/// # Errors
/// Names the folder.
pub fn check_folder(path: &Path) -> Result<()> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match folder.is_dir() {
        true => Ok(()),
        false => Err(Error::Usage(format!("{}: no folder {}: make it first", path.display(), folder.display()))),
    }
}

/// Whether an error means that the reader of our output has gone.
pub fn is_broken_pipe(why: &anyhow::Error) -> bool {
    why.chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|io| io.kind() == io::ErrorKind::BrokenPipe)
}

/// Ended by a signal, after everything was put in order.
#[derive(Debug)]
pub struct Interrupted(pub i32);

impl fmt::Display for Interrupted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "interrupted by signal {}", self.0)
    }
}

impl std::error::Error for Interrupted {}
