//! Files in one archive, as they are: APPNOTE.TXT of PKWARE, sections 4.3.7 (local header), 4.3.12 (central directory) and
//! 4.3.16 (its end). By hand, since nothing is compressed, and what packs archives in earnest brings a dozen crates along.

use crate::error::{Error, Result};

/// An archive that is being written.
#[derive(Debug, Default)]
pub(super) struct Zip {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    files: u16,
}

/// The most files.
pub(super) const MOST_FILES: usize = u16::MAX as usize;

/// The version that is needed to read it: 2.0. Names are UTF-8 (bit 11), nothing is compressed (0).
const TOLD: [u16; 3] = [20, 1 << 11, 0];
/// Midnight of the first day that the format knows: when it was made is no part of an alignment.
const TIME: [u16; 2] = [0, 1 | 1 << 5];

impl Zip {
    /// Adds a file.
    pub fn add(&mut self, name: &str, data: &[u8]) -> Result<()> {
        let (at, size) = (size(self.bytes.len())?, size(data.len())?);
        let mut told = Vec::new();
        told.extend(TOLD.iter().chain(&TIME).flat_map(|field| field.to_le_bytes()));
        told.extend([crc32fast::hash(data), size, size].iter().flat_map(|field| field.to_le_bytes()));
        told.extend([name.len() as u16, 0].iter().flat_map(|field| field.to_le_bytes()));
        self.bytes.extend(b"PK\x03\x04");
        self.bytes.extend(&told);
        self.bytes.extend(name.bytes());
        self.bytes.extend(data);
        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(TOLD[0].to_le_bytes());
        self.directory.extend(&told);
        // No comment, the first disk, nothing said about what is inside or about permissions.
        self.directory.extend([0; 10]);
        self.directory.extend(at.to_le_bytes());
        self.directory.extend(name.bytes());
        self.files = self.files.checked_add(1).ok_or_else(too_much)?;
        Ok(())
    }

    /// The whole archive.
    pub fn finish(mut self) -> Result<Vec<u8>> {
        let (at, length) = (size(self.bytes.len())?, size(self.directory.len())?);
        self.bytes.extend(self.directory);
        self.bytes.extend(b"PK\x05\x06");
        self.bytes.extend([0, 0, self.files, self.files].iter().flat_map(|field| field.to_le_bytes()));
        self.bytes.extend([length, at].iter().flat_map(|field| field.to_le_bytes()));
        self.bytes.extend([0, 0]);
        Ok(self.bytes)
    }
}

fn size(bytes: usize) -> Result<u32> {
    u32::try_from(bytes).map_err(|_| too_much())
}

/// Why so much can't be put together.
pub(super) fn too_much() -> Error {
    Error::Usage(
        "an archive holds at most 65,535 arrays and 4 GiB: align fewer pairs at once, or take --format json"
            .into(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By APPNOTE.TXT; 0xcbf43926 is the checksum of the digits that every table of checksums tells.
    #[test]
    fn an_archive_by_hand() {
        let mut zip = Zip::default();
        zip.add("a", b"123456789").unwrap();
        let bytes = zip.finish().unwrap();
        let local = b"PK\x03\x04\x14\x00\x00\x08\x00\x00\x00\x00\x21\x00\x26\x39\xf4\xcb\x09\x00\x00\x00\x09\x00\x00\x00\x01\x00\x00\x00a123456789";
        assert_eq!(&bytes[..local.len()], local);
        // The directory's entry: 46 bytes and the name; the end: 22.
        assert_eq!(bytes.len(), local.len() + 47 + 22);
        assert_eq!(bytes[local.len()..][..4], *b"PK\x01\x02");
        let end = &bytes[local.len() + 47..];
        assert_eq!(end[..4], *b"PK\x05\x06");
        assert_eq!(end[8..12], [1, 0, 1, 0]);
        assert_eq!(end[12..20], [47, 0, 0, 0, local.len() as u8, 0, 0, 0]);
    }
}
