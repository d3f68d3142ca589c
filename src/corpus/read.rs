//! Files into pairs. A line ends at LF and nowhere else; a missing last LF is no error.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::Pair;
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

/// The text of a file, unpacked if its name ends in `.gz`, without a byte order mark.
///
/// # Errors
/// What the system says, or the line that is not UTF-8.
pub fn text(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let mut file = File::open(path).map_err(Error::io(path))?;
    if path.extension().is_some_and(|extension| extension == "gz") {
        MultiGzDecoder::new(file).read_to_end(&mut bytes).map_err(Error::io(path))?;
    } else {
        file.read_to_end(&mut bytes).map_err(Error::io(path))?;
    }
    let mut text = String::from_utf8(bytes).map_err(|why| {
        let good = &why.as_bytes()[..why.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|&&byte| byte == b'\n').count();
        Error::line(path, line, "not UTF-8; convert the file (iconv -f … -t UTF-8)")
    })?;
    if text.starts_with('\u{FEFF}') {
        text.drain(..'\u{FEFF}'.len_utf8());
    }
    Ok(text)
}

/// The lines of a text: split at LF only, a CR before it left out.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    let text = text.strip_suffix('\n').map_or((!text.is_empty()).then_some(text), Some);
    text.into_iter().flat_map(|text| text.split('\n')).map(|line| line.strip_suffix('\r').unwrap_or(line))
}

/// Two files, line by line.
///
/// # Errors
/// Unequal counts are refused, both named.
pub fn files(source: &Path, target: &Path) -> Result<Vec<Pair>> {
    let (source_text, target_text) = (text(source)?, text(target)?);
    let counts = [lines(&source_text).count(), lines(&target_text).count()];
    check_equal([source, target], counts)?;
    let pairs = lines(&source_text).zip(lines(&target_text)).zip(1..);
    let pair = |((source, target), line): ((&str, &str), usize)| Pair {
        source: source.to_owned(),
        target: target.to_owned(),
        links: None,
        line,
    };
    Ok(pairs.map(pair).collect())
}

/// Refuses files of different lengths, with both counts.
pub fn check_equal(paths: [&Path; 2], counts: [usize; 2]) -> Result<()> {
    if counts[0] == counts[1] {
        return Ok(());
    }
    let message = format!(
        "{} lines, but {} has {}: the two must be translations of each other line by line",
        counts[0],
        paths[1].display(),
        counts[1]
    );
    Err(Error::data(paths[0], message))
}

/// One file of source TAB target, more columns allowed.
pub fn tsv(path: &Path, gold: Gold) -> Result<Vec<Pair>> {
    tsv_text(path, &text(path)?, gold)
}

/// The same for a text that was read; `path` is only named in errors.
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

    /// Known fault D1: only LF ends a line.
    #[test]
    fn other_line_breaks_stay_in_their_line() {
        let folder = tempfile::tempdir().unwrap();
        let source = write(folder.path(), "x.en", "a\u{2028}b\nc\u{85}d\u{2029}\ne\u{B}f\u{C}g\n".as_bytes());
        let target = write(folder.path(), "x.zh", "一\r\n二\r\n三".as_bytes());
        let pairs = files(&source, &target).unwrap();
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
        let message = files(&source, &target).unwrap_err().to_string();
        assert!(message.contains("5 lines") && message.contains("has 4"), "{message}");
    }

    #[test]
    fn empty_files_and_last_lines() {
        assert_eq!(lines("").count(), 0);
        assert_eq!(lines("a").collect::<Vec<_>>(), ["a"]);
        assert_eq!(lines("a\n\n").collect::<Vec<_>>(), ["a", ""]);
        assert_eq!(lines("\n").collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn packed_files_marks_and_bad_bytes() {
        let folder = tempfile::tempdir().unwrap();
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all("\u{FEFF}a\tb\n".as_bytes()).unwrap();
        let packed = write(folder.path(), "x.tsv.gz", &gz.finish().unwrap());
        assert_eq!(tsv(&packed, Gold::Ignored).unwrap()[0].source, "a");
        let bad = write(folder.path(), "bad.tsv", b"a\tb\n\xff\tc\n");
        let message = tsv(&bad, Gold::Ignored).unwrap_err().to_string();
        assert!(message.contains("bad.tsv:2: not UTF-8"), "{message}");
        let missing = tsv(&folder.path().join("no.tsv"), Gold::Ignored).unwrap_err().to_string();
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
