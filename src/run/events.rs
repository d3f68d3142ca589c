//! Event files as TensorBoard reads them: records with checksums (TensorFlow's `record_writer.h`), each a protocol buffer
//! (`event.proto`, `summary.proto`), of which so few fields are needed that they are written here.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// What a step shows.
#[derive(Clone, Debug)]
pub(super) enum Shown {
    /// A number of a curve.
    Number(f64),
    /// A picture, as PNG.
    Picture(Vec<u8>),
}

/// A file of events that is added to.
#[derive(Debug)]
pub(super) struct EventFile(BufWriter<File>);

/// Which field of a message, and how it is written.
mod field {
    pub const WALL_TIME: u64 = 1 << 3 | DOUBLE;
    pub const STEP: u64 = 2 << 3 | VARINT;
    pub const FILE_VERSION: u64 = 3 << 3 | BYTES;
    pub const SUMMARY: u64 = 5 << 3 | BYTES;
    pub const SESSION_LOG: u64 = 7 << 3 | BYTES;
    pub const STATUS: u64 = 1 << 3 | VARINT;
    pub const VALUE: u64 = 1 << 3 | BYTES;
    pub const TAG: u64 = 1 << 3 | BYTES;
    pub const SIMPLE_VALUE: u64 = 2 << 3 | FLOAT;
    pub const IMAGE: u64 = 4 << 3 | BYTES;
    pub const HEIGHT: u64 = 1 << 3 | VARINT;
    pub const WIDTH: u64 = 2 << 3 | VARINT;
    pub const COLOUR_SPACE: u64 = 3 << 3 | VARINT;
    pub const ENCODED: u64 = 4 << 3 | BYTES;
    const VARINT: u64 = 0;
    const DOUBLE: u64 = 1;
    const BYTES: u64 = 2;
    const FLOAT: u64 = 5;
}

/// `SessionLog.START`.
const START: u64 = 1;
/// Red, green, blue and opacity.
const RGBA: u64 = 4;

impl EventFile {
    /// Opens a file to add to; a new one begins with its version. What earlier files tell of `step` and later ones counts no
    /// more: it is about to be told again.
    pub fn open(path: &Path, time: f64, step: usize) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let is_new = file.metadata()?.len() == 0;
        let mut file = Self(BufWriter::new(file));
        if is_new {
            let mut version = Message::default();
            version.fixed(field::WALL_TIME, &time.to_le_bytes());
            version.bytes(field::FILE_VERSION, b"brain.Event:2");
            file.record(&version.0)?;
        }
        if step > 0 {
            let mut session = Message::default();
            session.number(field::STATUS, START);
            file.event(time, step, field::SESSION_LOG, &session)?;
        }
        file.0.flush()?;
        Ok(file)
    }

    /// Adds what a step shows, by name.
    pub fn add(&mut self, time: f64, step: usize, shown: &[(String, Shown)]) -> io::Result<()> {
        let mut summary = Message::default();
        for (tag, shown) in shown {
            let mut value = Message::default();
            value.bytes(field::TAG, tag.as_bytes());
            match shown {
                Shown::Number(number) => value.fixed(field::SIMPLE_VALUE, &(*number as f32).to_le_bytes()),
                Shown::Picture(png) => value.bytes(field::IMAGE, &image(png).0),
            }
            summary.bytes(field::VALUE, &value.0);
        }
        self.event(time, step, field::SUMMARY, &summary)?;
        self.0.flush()
    }

    fn event(&mut self, time: f64, step: usize, kind: u64, what: &Message) -> io::Result<()> {
        let mut event = Message::default();
        event.fixed(field::WALL_TIME, &time.to_le_bytes());
        event.number(field::STEP, step as u64);
        event.bytes(kind, &what.0);
        self.record(&event.0)
    }

    fn record(&mut self, data: &[u8]) -> io::Result<()> {
        let length = (data.len() as u64).to_le_bytes();
        self.0.write_all(&length)?;
        self.0.write_all(&masked(&length).to_le_bytes())?;
        self.0.write_all(data)?;
        self.0.write_all(&masked(data).to_le_bytes())
    }
}

fn image(png: &[u8]) -> Message {
    // Where PNG has its sizes: after its signature and the name of the first chunk.
    let size = |at: usize| {
        png.get(at..at + 4).map_or(0, |bytes| bytes.iter().fold(0, |size, &byte| size << 8 | u64::from(byte)))
    };
    let mut image = Message::default();
    image.number(field::HEIGHT, size(20));
    image.number(field::WIDTH, size(16));
    image.number(field::COLOUR_SPACE, RGBA);
    image.bytes(field::ENCODED, png);
    image
}

/// A checksum as records hold it: of bytes that hold checksums of their own it would be a weak one.
fn masked(bytes: &[u8]) -> u32 {
    crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8)
}

/// A message as protocol buffers are written.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(&mut self, field: u64, number: u64) {
        self.varint(field);
        self.varint(number);
    }

    fn fixed(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field);
        self.0.extend(bytes);
    }

    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.number(field, bytes.len() as u64);
        self.0.extend(bytes);
    }

    /// Seven bits a byte, the lowest first; all but the last with the highest bit set.
    fn varint(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that tensorboard 2.21's own writer makes of the same events.
    #[test]
    fn events_are_tensorboards() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("events");
        let mut file = EventFile::open(&path, 1.5, 0).unwrap();
        file.add(2.5, 300, &[("train/loss".into(), Shown::Number(0.25))]).unwrap();
        drop(file);
        EventFile::open(&path, 3.5, 301).unwrap();
        let hex: String = std::fs::read(&path).unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, EXPECTED.concat());
    }

    const EXPECTED: [&str; 3] = [
        "1800000000000000a37f4b2209000000000000f83f1a0d627261696e2e4576656e743a322a28646c",
        "2100000000000000017becf609000000000000044010ac022a130a110a0a747261696e2f6c6f7373150000803e3cc9cac5",
        "100000000000000095fbfe18090000000000000c4010ad023a020801fa9eaf8a",
    ];
}
