//! Lines of a file or of standard input as they come.

use std::fs::File;
use std::io::{BufRead, Read};
use std::path::Path;
use std::sync::mpsc::{self, Receiver};

use zhuyi::{Error, Result};

/// Lines with their ends, in the order read.
pub type Incoming = Receiver<std::io::Result<Vec<u8>>>;

/// Lines as they come, from a thread of its own, so that what is there can be translated without waiting
/// for more.
pub fn read(mut input: impl BufRead + Send + 'static) -> Incoming {
    let (sender, receiver) = mpsc::sync_channel(4096);
    std::thread::spawn(move || {
        loop {
            let mut line = Vec::new();
            let message = match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => Ok(line),
                Err(why) => Err(why),
            };
            // Nobody listens any more once writing has failed.
            if sender.send(message).is_err() {
                break;
            }
        }
    });
    receiver
}

/// How many lines a file has.
pub fn count(path: &Path) -> Result<usize> {
    let (mut file, mut buffer) = (File::open(path).map_err(Error::io(path))?, vec![0; 1 << 16]);
    let (mut lines, mut last) = (0, b'\n');
    loop {
        match file.read(&mut buffer).map_err(Error::io(path))? {
            0 => return Ok(lines + usize::from(last != b'\n')),
            n => {
                lines += buffer[..n].iter().filter(|&&byte| byte == b'\n').count();
                last = buffer[n - 1];
            }
        }
    }
}

/// Hands lines over in batches: as many as are there, at least one.
pub fn in_batches(
    lines: &Incoming,
    place: &Path,
    most: usize,
    mut work: impl FnMut(&[String]) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut number = 0;
    while let Ok(first) = lines.recv() {
        let mut batch = Vec::new();
        let mut next = Some(first);
        while let Some(line) = next.take() {
            number += 1;
            match line.map_err(Error::io(place)).and_then(|line| text(line, place, number)) {
                Ok(line) => batch.push(line),
                Err(why) => {
                    // What came before the bad line is still answered.
                    work(&batch)?;
                    return Err(why.into());
                }
            }
            if batch.len() < most {
                next = lines.try_recv().ok();
            }
        }
        work(&batch)?;
    }
    Ok(())
}

fn text(mut line: Vec<u8>, place: &Path, number: usize) -> Result<String> {
    if line.last() == Some(&b'\n') {
        line.pop();
    }
    String::from_utf8(line).map_err(|_| Error::line(place, number, "not UTF-8"))
}
