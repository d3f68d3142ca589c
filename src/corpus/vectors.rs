//! Vectors of words in the text form of word2vec and fastText: a line of two numbers, how many and how long, then a word and
//! its numbers a line, between spaces.

use std::collections::HashMap;
use std::path::Path;

use super::read::Lines;
use crate::error::{Error, Result};

/// Refuses a file that does not begin as vectors of this size do.
///
/// # Errors
/// Names what is wrong.
pub fn check(path: &Path, size: usize) -> Result<()> {
    begin(path, size).map(|_| ())
}

/// The lines after the first, and how many words that promises.
fn begin(path: &Path, size: usize) -> Result<(Lines, usize)> {
    let mut lines = Lines::open(path)?;
    let first = lines.next().transpose()?.unwrap_or_default();
    let counts: Vec<Option<usize>> = first.split_whitespace().map(|number| number.parse().ok()).collect();
    let &[Some(words), Some(length)] = counts.as_slice() else {
        let message = "not vectors in word2vec's text form: it begins with two numbers, how many and how long";
        return Err(Error::line(path, 1, message));
    };
    if length != size {
        let message = format!("vectors of {length} numbers, but embedding.size is {size}: set it to {length}");
        return Err(Error::line(path, 1, message));
    }
    Ok((lines, words))
}

/// The vectors of the words that are wanted; those of a file with more words than memory has room for are passed over.
///
/// # Errors
/// A file that is of another form, or vectors that are not `size` long.
pub fn read(path: &Path, size: usize, wanted: impl Fn(&str) -> bool) -> Result<HashMap<String, Vec<f32>>> {
    let (mut lines, words) = begin(path, size)?;
    let mut found = HashMap::new();
    let mut read = 0;
    for (number, line) in (2..).zip(&mut lines) {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        // A word may hold other spaces: fastText has some with U+00A0.
        let mut columns = line.trim_end_matches(' ').split(' ');
        let word = columns.next().unwrap_or_default();
        read += 1;
        if !wanted(word) {
            continue;
        }
        let vector: Option<Vec<f32>> =
            columns.map(|number| number.parse().ok().filter(|number: &f32| number.is_finite())).collect();
        let Some(vector) = vector.filter(|vector| vector.len() == size) else {
            return Err(Error::line(path, number, format!("`{word}` is not followed by {size} numbers")));
        };
        found.insert(word.to_owned(), vector);
    }
    if read != words {
        let hint = if read < words { "was it cut off?" } else { "is the first line right?" };
        let message = format!("{read} words, but its first line says {words}: {hint}");
        return Err(Error::data(path, message));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_is_read_and_what_is_wrong_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.vec");
        let told = |text: &str| {
            std::fs::write(&path, text).unwrap();
            read(&path, 2, |word| word != "dog").map_err(|why| why.to_string())
        };
        let found = told("3 2\ncat 1 -0.5\ndog a b c\n猫 2e-1 3 \n").unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found["cat"].as_slice(), found["猫"].as_slice()), (&[1.0, -0.5][..], &[0.2, 3.0][..]));
        for (text, part) in [
            ("cat 1 2\n", "x.vec:1: not vectors in word2vec's text form"),
            ("", "x.vec:1: not vectors"),
            ("1 3\ncat 1 2 3\n", "x.vec:1: vectors of 3 numbers, but embedding.size is 2: set it to 3"),
            ("2 2\ncat 1 2\ndogs 1\n", "x.vec:3: `dogs` is not followed by 2 numbers"),
            ("1 2\ncat 1 nan\n", "x.vec:2: `cat` is not followed by 2 numbers"),
            ("2 2\ncat 1 2\n", "1 words, but its first line says 2"),
        ] {
            let message = told(text).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
    }
}
