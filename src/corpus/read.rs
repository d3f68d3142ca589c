//! Files into pairs, one after the other: no file is held in memory. A line ends at LF and nowhere else; a missing last
//! LF is no error.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::open::{failed, open};
use super::{Pair, Pairs};
use crate::alignment::{SentenceLinks, links};
use crate::error::{Error, Result};

/// What a third column of a TSV is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gold {
    /// Not looked at (an attribution, say).
    Ignored,
    /// Gold links, if it is there.
    ThirdColumn {
        /// From what words are counted, 0 or 1.
        base: usize,
    },
}

/// The lines of a file, unpacked if its name ends in `.gz` or `.zst`, without a byte order mark. After an error there are
/// no more.
pub struct Lines {
    path: PathBuf,
    bytes: Option<BufReader<Box<dyn Read + Send>>>,
    /// Lines read so far.
    number: usize,
}

/// A line that is longer is no sentence, and would fill memory before anybody could say so.
const LONGEST: u64 = 16 << 20;

impl Lines {
    /// Opens a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Self { path: path.to_path_buf(), bytes: Some(BufReader::new(open(path)?)), number: 0 })
    }

    fn line(&mut self, bytes: &mut BufReader<Box<dyn Read + Send>>) -> Result<Option<String>> {
        let mut line = Vec::new();
        bytes.take(LONGEST).read_until(b'\n', &mut line).map_err(failed(&self.path))?;
        self.number += usize::from(!line.is_empty());
        match line.pop() {
            None => return Ok(None),
            Some(b'\n') => {}
            Some(_) if line.len() as u64 + 1 == LONGEST => {
                let message = format!("more than {} MiB without a line end: is this a text file?", LONGEST >> 20);
                return Err(Error::line(&self.path, self.number, message));
            }
            Some(last) => line.push(last),
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        let mut line = String::from_utf8(line).map_err(|_| {
            Error::line(&self.path, self.number, "not UTF-8; convert the file (iconv -f … -t UTF-8)")
        })?;
        if self.number == 1 && line.starts_with('\u{FEFF}') {
            line.drain(..'\u{FEFF}'.len_utf8());
        }
        Ok(Some(line))
    }
}

impl Iterator for Lines {
    type Item = Result<String>;

    fn next(&mut self) -> Option<Result<String>> {
        let mut bytes = self.bytes.take()?;
        let line = self.line(&mut bytes).transpose();
        self.bytes = Some(bytes).filter(|_| matches!(line, Some(Ok(_))));
        line
    }
}

/// The text of a file, as [`Lines`] reads it.
///
/// # Errors
/// What the system says, or the line that is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    let mut text = String::new();
    for line in Lines::open(path)? {
        text += &line?;
        text.push('\n');
    }
    Ok(text)
}

/// The lines of a text: split at LF only, a CR before it left out.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').map_or((!text.is_empty()).then_some(text), Some);
    text.into_iter().flat_map(|text| text.split('\n')).map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// The lines of a file.
///
/// # Errors
/// As for [`text`].
pub fn lines_of(path: &Path) -> Result<Vec<String>> {
    Lines::open(path)?.collect()
}

/// Two files, line by line. Unequal counts are an error at the end of the shorter one, both named.
///
/// # Errors
/// Files that can't be opened.
pub fn files(source: &Path, target: &Path) -> Result<Pairs> {
    Ok(Box::new(Zipped([Lines::open(source)?, Lines::open(target)?])))
}

struct Zipped([Lines; 2]);

impl Iterator for Zipped {
    type Item = Result<Pair>;

    fn next(&mut self) -> Option<Result<Pair>> {
        let [source, target] = &mut self.0;
        let line = match (source.next(), target.next()) {
            (None, None) => return None,
            (Some(Ok(source)), Some(Ok(target))) => Ok((source, target)),
            (Some(Err(why)), _) | (_, Some(Err(why))) => Err(why),
            // One of them is at its end; how long is the other?
            (Some(Ok(_)), None) | (None, Some(Ok(_))) => {
                if let Some(why) = self.0.iter_mut().flatten().find_map(Result::err) {
                    return Some(Err(why));
                }
                let counts = self.0.each_ref().map(|lines| lines.number);
                Err(uneven(self.0.each_ref().map(|lines| lines.path.as_path()), counts))
            }
        };
        let number = self.0[0].number;
        Some(line.map(|(source, target)| Pair { source, target, links: None, line: number }))
    }
}

/// Refuses files of different lengths, with both counts.
///
/// # Errors
/// Names both.
pub fn check_equal(paths: [&Path; 2], counts: [usize; 2]) -> Result<()> {
    if counts[0] == counts[1] { Ok(()) } else { Err(uneven(paths, counts)) }
}

/// What is wrong with files of different lengths, with both counts.
fn uneven(paths: [&Path; 2], counts: [usize; 2]) -> Error {
    let message = format!(
        "{} lines, but {} has {}: the two must be translations of each other line by line",
        counts[0],
        paths[1].display(),
        counts[1]
    );
    Error::data(paths[0], message)
}

/// One file of source TAB target, more columns allowed.
///
/// # Errors
/// A file that can't be opened.
pub fn tsv(path: &Path, gold: Gold) -> Result<Pairs> {
    let (path, mut number) = (path.to_path_buf(), 0);
    Ok(Box::new(Lines::open(&path)?.map(move |line| {
        number += 1;
        tsv_line(&path, number, &line?, gold)
    })))
}

/// The same of a text that is at hand; `path` is only named in errors.
pub fn tsv_text(path: &Path, text: &str, gold: Gold) -> Result<Vec<Pair>> {
    lines(text).enumerate().map(|(i, line)| tsv_line(path, i + 1, line, gold)).collect()
}

fn tsv_line(path: &Path, number: usize, line: &str, gold: Gold) -> Result<Pair> {
    if line.trim().is_empty() {
        return Ok(Pair { line: number, ..Pair::default() });
    }
    let mut columns = line.split('\t');
    let (Some(source), Some(target)) = (columns.next(), columns.next()) else {
        return Err(Error::line(path, number, "no tab: write source TAB target"));
    };
    let links = match (gold, columns.next()) {
        (Gold::ThirdColumn { base }, Some(column)) => {
            let parsed = SentenceLinks::parse(column, base).map_err(|why| {
                let hint = "the third column is read as gold links; cut others off (cut -f1,2)";
                Error::line(path, number, format!("{why}; {hint}"))
            })?;
            links::check_bounds(path, number, &parsed, (words(source), words(target)))?;
            Some(parsed)
        }
        _ => None,
    };
    Ok(Pair { source: source.to_owned(), target: target.to_owned(), links, line: number })
}

/// The words of a sentence as links count them: between spaces, U+0020 only.
pub fn words(text: &str) -> usize {
    text.split(' ').filter(|word| !word.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn write(folder: &Path, name: &str, bytes: &[u8]) -> std::path::PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn all(pairs: Result<Pairs>) -> Result<Vec<Pair>> {
        pairs?.collect()
    }

    /// Known fault D1: only LF ends a line.
    #[test]
    fn other_line_breaks_stay_in_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let source = write(folder.path(), "x.en", "a\u{2028}b\nc\u{85}d\u{2029}\ne\u{B}f\u{C}g\n".as_bytes());
        let target = write(folder.path(), "x.zh", "一\r\n二\r\n三".as_bytes());
        let pairs = all(files(&source, &target)).unwrap();
        assert_eq!(pairs.len(), 3);
        assert_eq!((pairs[2].source.as_str(), pairs[2].target.as_str()), ("e\u{B}f\u{C}g", "三"));
        assert_eq!(pairs[0].target, "一");
    }

    /// Known fault D9: files of different lengths are refused with both counts.
    #[test]
    fn uneven_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let source = write(folder.path(), "x.en", b"1\n2\n3\n4\n5\n");
        let target = write(folder.path(), "x.zh", b"1\n2\n3\n4");
        let message = all(files(&source, &target)).unwrap_err().to_string();
        assert!(message.contains("5 lines") && message.contains("has 4"), "{message}");
        let message = all(files(&target, &source)).unwrap_err().to_string();
        assert!(message.contains("4 lines") && message.contains("has 5"), "{message}");
        let empty = write(folder.path(), "x.ja", b"");
        let message = all(files(&source, &empty)).unwrap_err().to_string();
        assert!(message.contains("5 lines") && message.contains("has 0"), "{message}");
    }

    #[test]
    fn empty_files_and_last_lines() {
        assert_eq!(lines("").count(), 0);
        assert_eq!(lines("a").collect::<Vec<_>>(), ["a"]);
        assert_eq!(lines("a\n\n").collect::<Vec<_>>(), ["a", ""]);
        assert_eq!(lines("\n").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn a_line_without_an_end_is_no_text() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "image.tsv", &vec![b'x'; LONGEST as usize + 1]);
        let message = all(tsv(&path, Gold::Ignored)).unwrap_err().to_string();
        assert!(message.contains("image.tsv:1: more than 16 MiB without a line end"), "{message}");
    }

    #[test]
    fn packed_files_marks_and_bad_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all("\u{FEFF}a\tb\n".as_bytes()).unwrap();
        let packed = write(folder.path(), "x.tsv.gz", &gz.finish().unwrap());
        assert_eq!(all(tsv(&packed, Gold::Ignored)).unwrap()[0].source, "a");
        let bad = write(folder.path(), "bad.tsv", b"a\tb\n\xff\tc\n");
        let message = all(tsv(&bad, Gold::Ignored)).unwrap_err().to_string();
        assert!(message.contains("bad.tsv:2: not UTF-8"), "{message}");
        let missing = all(tsv(&folder.path().join("no.tsv"), Gold::Ignored)).unwrap_err().to_string();
        assert!(missing.contains("no.tsv"), "{missing}");
    }

    #[test]
    fn tsv_lines_need_a_tab_and_may_hold_links() {
        let path = Path::new("x.tsv");
        let pairs = tsv_text(path, "a b\tx\t0-0 1p0\n\nc\ty\n", Gold::ThirdColumn { base: 0 }).unwrap();
        assert_eq!(pairs[0].links.as_ref().unwrap().to_string(), "0-0 1p0");
        assert_eq!((pairs[1].clone(), pairs[2].links.clone()), (Pair { line: 2, ..Pair::default() }, None));
        assert!(tsv_text(path, "a\tb\nc", Gold::Ignored).unwrap_err().to_string().starts_with("x.tsv:2: no tab"));
        let outside = tsv_text(path, "a\tb\nc\td\t1-0", Gold::ThirdColumn { base: 0 }).unwrap_err().to_string();
        assert!(outside.starts_with("x.tsv:2: link 1-0 is outside"), "{outside}");
        assert!(tsv_text(path, "a\tb\tCC-BY 2.0", Gold::Ignored).is_ok());
    }
}
