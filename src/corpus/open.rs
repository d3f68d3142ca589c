//! Files as they are stored: plain, `.gz` or `.zst`, unpacked while they are read.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use crate::error::{Error, Result};

/// Opens a file; what its name ends in says how it is packed.
///
/// # Errors
/// What the system says.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>> {
    let file = BufReader::with_capacity(AT_ONCE, File::open(path).map_err(Error::io(path))?);
    Ok(match packing(path).as_deref() {
        Some("gz") => Box::new(MultiGzDecoder::new(file)),
        Some("zst") => Box::new(Frames { file, decoder: FrameDecoder::new(), inside: false }),
        _ => Box::new(file),
    })
}

/// How the name of a file says that it is packed.
fn packing(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    ["gz", "zst"].contains(&extension.as_str()).then_some(extension)
}

/// What went wrong while a file was read: if it is packed, most likely in unpacking.
pub(super) fn failed(path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_path_buf();
    move |why| match packing(&path) {
        Some(packing) => {
            Error::data(path, format!("can't be unpacked ({why}): it is cut off, damaged, or no .{packing} file"))
        }
        None => Error::io(path)(why),
    }
}

/// Bytes that are asked of the system at once.
const AT_ONCE: usize = 1 << 18;

/// The frames of a zstd file, one after the other: who packs with several threads, or appends, writes several.
struct Frames<R: BufRead> {
    file: R,
    decoder: FrameDecoder,
    inside: bool,
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.inside && self.decoder.can_collect() > 0 {
                return self.decoder.read(buffer);
            }
            if self.inside && self.decoder.is_finished() {
                self.leave()?;
            }
            if self.inside {
                let one = BlockDecodingStrategy::UptoBlocks(1);
                self.decoder.decode_blocks(&mut self.file, one).map_err(io::Error::other)?;
            } else if self.file.fill_buf()?.is_empty() {
                return Ok(0);
            } else {
                self.inside = self.enter()?;
            }
        }
    }
}

impl<R: BufRead> Frames<R> {
    /// Ends a frame; one that has a checksum has the right one.
    fn leave(&mut self) -> io::Result<()> {
        self.inside = false;
        let (told, found) = (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum());
        if told.is_some() && told != found {
            return Err(io::Error::other("a checksum is wrong"));
        }
        Ok(())
    }

    /// Begins the next frame; false for one that holds nothing to read.
    fn enter(&mut self) -> io::Result<bool> {
        match self.decoder.init(&mut self.file) {
            Ok(()) => Ok(true),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                io::copy(&mut (&mut self.file).take(length.into()), &mut io::sink()).map(|_| false)
            }
            Err(why) => Err(io::Error::other(why)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn read(name: &str, bytes: &[u8]) -> io::Result<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let mut text = String::new();
        open(&path).unwrap().read_to_string(&mut text).map(|_| text)
    }

    fn zst(text: &str) -> Vec<u8> {
        compress_to_vec(text.as_bytes(), CompressionLevel::Fastest)
    }

    fn gz(text: &str) -> Vec<u8> {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gz.write_all(text.as_bytes()).unwrap();
        gz.finish().unwrap()
    }

    #[test]
    fn packed_files_are_unpacked_to_their_end() {
        let long = "猫 吃 鱼\n".repeat(100_000);
        for (name, text) in [("a.txt", "x\n"), ("b.gz", &long), ("b.zst", &long), ("c.zst", ""), ("c.gz", "")] {
            let packed = match &name[2..] {
                "gz" => gz(text),
                "zst" => zst(text),
                _ => text.as_bytes().to_vec(),
            };
            assert_eq!(read(name, &packed).unwrap(), text, "{name}");
        }
        // Several in one file, and one to pass over.
        assert_eq!(read("a.gz", &[gz("one\n"), gz("two\n")].concat()).unwrap(), "one\ntwo\n");
        let skipped = [&[0x50, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        assert_eq!(read("a.zst", &[zst("one\n"), skipped, zst("two\n")].concat()).unwrap(), "one\ntwo\n");
    }

    #[test]
    fn files_that_were_cut_off_or_are_something_else_are_errors() {
        let text: String = (0..1000).map(|i| format!("{i} 猫\n")).collect();
        for (name, packed) in [("a.gz", gz(&text)), ("a.zst", zst(&text))] {
            assert!(read(name, &packed[..packed.len() - 9]).is_err(), "{name}");
            // A single bit: of what unpacks all the same the checksum is wrong.
            for at in (packed.len() / 2..packed.len() - 4).step_by(97) {
                let mut damaged = packed.clone();
                damaged[at] ^= 4;
                assert!(read(name, &damaged).is_err(), "{name}: {at}");
            }
            assert!(read(name, b"plain text\n").is_err(), "{name}");
        }
    }
}
