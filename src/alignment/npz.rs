//! Alignments as NumPy reads them: an archive (.npz) of arrays (.npy, format 1.0: a header that says type and shape, then
//! the numbers, little-endian).

use super::Alignment;
use super::zip::{self, Zip};
use crate::error::Result;

/// An archive that is being written: of pair i (from 0) the arrays `weights_i` [target, source], `heads_i` [head, target, source]
/// where there are several, and its words, `source_i` and `target_i`.
#[derive(Debug, Default)]
pub struct Archive {
    zip: Zip,
    pairs: usize,
}

impl Archive {
    /// Refuses more pairs, looked at by so many heads, than an archive can hold.
    ///
    /// # Errors
    /// Says how many it can.
    pub fn check(pairs: usize, heads: usize) -> Result<()> {
        let arrays = if heads > 1 { 4 } else { 3 };
        match pairs.saturating_mul(arrays) > zip::MOST_FILES {
            true => Err(zip::too_much()),
            false => Ok(()),
        }
    }

    /// Adds the next pair.
    ///
    /// # Errors
    /// More than an archive can hold (4 GiB).
    pub fn add(&mut self, alignment: &Alignment) -> Result<()> {
        let (i, shape) = (self.pairs, [alignment.weights.len(), alignment.source.len()]);
        let zip = &mut self.zip;
        zip.add(&format!("weights_{i}.npy"), &floats(&shape, alignment.weights.iter().flatten()))?;
        if !alignment.heads.is_empty() {
            let shape = [alignment.heads.len(), shape[0], shape[1]];
            zip.add(&format!("heads_{i}.npy"), &floats(&shape, alignment.heads.iter().flatten().flatten()))?;
        }
        zip.add(&format!("source_{i}.npy"), &texts(&alignment.source))?;
        zip.add(&format!("target_{i}.npy"), &texts(&alignment.target))?;
        self.pairs += 1;
        Ok(())
    }

    /// The whole archive.
    ///
    /// # Errors
    /// As for [`Archive::add`].
    pub fn finish(self) -> Result<Vec<u8>> {
        self.zip.finish()
    }
}

fn floats<'a>(shape: &[usize], values: impl Iterator<Item = &'a f32>) -> Vec<u8> {
    let mut array = header("<f4", shape);
    array.extend(values.flat_map(|value| value.to_le_bytes()));
    array
}

/// Texts of fixed width, four bytes a character.
fn texts(texts: &[String]) -> Vec<u8> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
    let mut array = header(&format!("<U{width}"), &[texts.len()]);
    for text in texts {
        let characters = text.chars().map(u32::from).chain(std::iter::repeat(0));
        array.extend(characters.take(width).flat_map(u32::to_le_bytes));
    }
    array
}

/// Magic number, version, and the description, padded so that the numbers begin at a multiple of 64.
fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let told = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    let length = (10 + told.len() + 1).next_multiple_of(64) - 10;
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    header.extend((length as u16).to_le_bytes());
    header.extend(format!("{told:<width$}\n", width = length - 1).bytes());
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Format 1.0 by hand. (NumPy itself writes no comma after the last number of a shape; it reads both.)
    #[test]
    fn arrays_are_numpys() {
        let array = floats(&[2, 1], [1.0f32, -2.0].iter());
        let told = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1,), }";
        assert_eq!(&array[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert!(std::str::from_utf8(&array[10..128]).unwrap().starts_with(told));
        assert_eq!((array[127], array.len()), (b'\n', 128 + 8));
        assert_eq!(&array[128..132], 1.0f32.to_le_bytes());
        let array = texts(&["猫".into(), "ab".into()]);
        assert!(std::str::from_utf8(&array[10..128]).unwrap().contains("'<U2'"));
        let characters: Vec<u32> =
            array[128..].chunks(4).map(|bytes| u32::from_le_bytes(bytes.try_into().unwrap())).collect();
        assert_eq!(characters, ['猫' as u32, 0, 'a' as u32, 'b' as u32]);
    }

    #[test]
    fn an_archive_holds_every_array() {
        let alignment = Alignment {
            source: vec!["a".into()],
            target: vec!["x".into(), "y".into()],
            weights: vec![vec![1.0], vec![0.5]],
            heads: vec![vec![vec![1.0], vec![0.0]]; 2],
        };
        let mut archive = Archive::default();
        archive.add(&alignment).unwrap();
        archive.add(&Alignment::default()).unwrap();
        let bytes = archive.finish().unwrap();
        let text = String::from_utf8_lossy(&bytes);
        for name in ["heads_0", "source_0", "source_1", "target_0", "target_1", "weights_0", "weights_1"] {
            // Once before the array, once in the list at the end.
            assert_eq!(text.matches(&format!("{name}.npy")).count(), 2, "{name}");
        }
        assert!(!text.contains("heads_1"));
        assert!(Archive::check(21_845, 1).is_ok() && Archive::check(21_846, 1).is_err());
        assert!(Archive::check(16_384, 4).is_err());
    }
}
