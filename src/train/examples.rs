//! All that is trained on, of any size: what is more than memory should hold lies in a file without a name, of which
//! nothing stays behind however the program ends.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::batch::{Example, Lengths};
use crate::error::{Error, Result};
use crate::hash::hex;

/// Examples by their places, in the order of the corpus.
#[derive(Debug)]
pub struct Examples {
    store: Store,
    digest: String,
    buffer: usize,
    linked: usize,
}

#[derive(Debug)]
enum Store {
    Memory(Vec<Example>),
    Spool(Spool),
}

impl Examples {
    /// How many there are.
    pub fn len(&self) -> usize {
        match &self.store {
            Store::Memory(examples) => examples.len(),
            Store::Spool(spool) => spool.len,
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Among how many batches are mixed, at most.
    pub fn buffer(&self) -> usize {
        self.buffer
    }

    /// How many have links.
    pub fn linked(&self) -> usize {
        self.linked
    }

    /// A digest of all of them in their order.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// How long one is.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn lengths(&self, place: usize) -> Result<Lengths> {
        match &self.store {
            Store::Memory(examples) => Ok(examples[place].lengths()),
            Store::Spool(spool) => Ok(spool.entry(place)?.lengths()),
        }
    }

    /// One of them.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn get(&self, place: usize) -> Result<Example> {
        match &self.store {
            Store::Memory(examples) => Ok(examples[place].clone()),
            Store::Spool(spool) => spool.example(place),
        }
    }

    /// The first ones, at most so many.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn first(&self, most: usize) -> Result<Vec<Example>> {
        (0..self.len().min(most)).map(|place| self.get(place)).collect()
    }
}

/// Takes examples in, one after the other.
pub struct Writer {
    buffer: usize,
    held: Vec<Example>,
    spool: Option<SpoolWriter>,
    digest: Sha256,
    linked: usize,
}

impl Writer {
    /// A writer that holds at most `buffer` examples in memory.
    pub fn new(buffer: usize) -> Self {
        Self { buffer, held: Vec::new(), spool: None, digest: Sha256::new(), linked: 0 }
    }

    /// Takes one in.
    ///
    /// # Errors
    /// What the system refuses: a full disk, most likely.
    pub fn push(&mut self, example: Example) -> Result<()> {
        let packed = packed(&example);
        self.linked += usize::from(!example.links.is_empty());
        packed.iter().for_each(|part| self.digest.update(part));
        if let Some(spool) = &mut self.spool {
            return spool.push(&packed);
        }
        self.held.push(example);
        if self.held.len() > self.buffer {
            let mut spool = SpoolWriter::new()?;
            for example in self.held.drain(..) {
                spool.push(&self::packed(&example))?;
            }
            self.held.shrink_to_fit();
            self.spool = Some(spool);
        }
        Ok(())
    }

    /// All that came.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn finish(self) -> Result<Examples> {
        let store = match self.spool {
            Some(spool) => Store::Spool(spool.finish()?),
            None => Store::Memory(self.held),
        };
        Ok(Examples { store, digest: hex(&self.digest.finalize()), buffer: self.buffer, linked: self.linked })
    }
}

/// How a file tells of an example: how many numbers of each kind it has, and the numbers, 32 bits each.
fn packed(example: &Example) -> [Vec<u8>; 2] {
    let bytes = |numbers: &mut dyn Iterator<Item = usize>| -> Vec<u8> {
        numbers.flat_map(|number| (number as u32).to_le_bytes()).collect()
    };
    let counts = [example.source.len(), example.target.len(), example.links.len()];
    let numbers = example.source.iter().chain(&example.target).chain(example.links.iter().flatten());
    [bytes(&mut counts.into_iter()), bytes(&mut numbers.copied())]
}

/// Where an example lies, and how many numbers it has: a row of the index.
struct Entry {
    at: u64,
    source: usize,
    target: usize,
    links: usize,
}

impl Entry {
    /// Bytes of one.
    const SIZE: usize = 20;

    fn lengths(&self) -> Lengths {
        Lengths { source: self.source, target: self.target + 1 }
    }
}

/// Two files: the numbers of all examples, and where each begins.
#[derive(Debug)]
struct Spool {
    numbers: File,
    index: File,
    len: usize,
}

impl Spool {
    fn entry(&self, place: usize) -> Result<Entry> {
        let mut bytes = [0; Entry::SIZE];
        read_at(&self.index, &mut bytes, (place * Entry::SIZE) as u64)?;
        let (at, counts) = bytes.split_at(8);
        let counts = numbers(counts);
        let at = at.iter().rev().fold(0, |at, &byte| at << 8 | u64::from(byte));
        Ok(Entry { at, source: counts[0], target: counts[1], links: counts[2] })
    }

    fn example(&self, place: usize) -> Result<Example> {
        let Entry { at, source, target, links } = self.entry(place)?;
        let mut bytes = vec![0; size_of::<u32>() * (source + target + 2 * links)];
        read_at(&self.numbers, &mut bytes, at)?;
        let mut all = numbers(&bytes);
        let (links, _) = all[source + target..].as_chunks();
        let links = links.to_vec();
        all.truncate(source + target);
        let target = all.split_off(source);
        Ok(Example { source: all, target, links })
    }
}

fn numbers(bytes: &[u8]) -> Vec<usize> {
    bytes.as_chunks().0.iter().map(|&bytes| u32::from_le_bytes(bytes) as usize).collect()
}

struct SpoolWriter {
    numbers: BufWriter<File>,
    index: BufWriter<File>,
    at: u64,
    len: usize,
}

impl SpoolWriter {
    fn new() -> Result<Self> {
        let file = || tempfile::tempfile().map(BufWriter::new).map_err(full);
        tracing::info!(folder = %folder().display(), "the corpus goes through a file");
        Ok(Self { numbers: file()?, index: file()?, at: 0, len: 0 })
    }

    fn push(&mut self, [counts, numbers]: &[Vec<u8>; 2]) -> Result<()> {
        let written = self
            .index
            .write_all(&self.at.to_le_bytes())
            .and_then(|()| self.index.write_all(counts))
            .and_then(|()| self.numbers.write_all(numbers));
        written.map_err(full)?;
        self.at += numbers.len() as u64;
        self.len += 1;
        Ok(())
    }

    fn finish(self) -> Result<Spool> {
        let file = |writer: BufWriter<File>| writer.into_inner().map_err(|why| full(why.into_error()));
        Ok(Spool { numbers: file(self.numbers)?, index: file(self.index)?, len: self.len })
    }
}

/// Where files without a name lie.
fn folder() -> PathBuf {
    std::env::temp_dir()
}

/// What the system refused, with the way out: the folder was nobody's choice.
fn full(why: std::io::Error) -> Error {
    let hint = "the corpus is larger than data.buffer and goes through a file here: point TMPDIR at a folder with room, or raise data.buffer";
    Error::data(folder(), format!("{why}; {hint}"))
}

#[cfg(unix)]
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at).map_err(Error::io(folder()))
}

#[cfg(windows)]
fn read_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> Result<()> {
    while !bytes.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, bytes, at).map_err(Error::io(folder()))?;
        if read == 0 {
            return Err(Error::io(folder())(std::io::ErrorKind::UnexpectedEof.into()));
        }
        (bytes, at) = (&mut bytes[read..], at + read as u64);
    }
    Ok(())
}

/// Where there are neither threads nor files (WebAssembly): nobody else moves the place that is read from.
#[cfg(not(any(unix, windows)))]
fn read_at(mut file: &File, bytes: &mut [u8], at: u64) -> Result<()> {
    use std::io::{Read, Seek, SeekFrom};
    file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(bytes)).map_err(Error::io(folder()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Example> {
        let one = |i: usize| Example {
            links: (0..i % 3).map(|k| [k, 70_000 + k]).collect(),
            ..Example::new((0..i % 5).map(|k| 70_000 + i + k).collect(), (0..i % 7).map(|k| 4 + k).collect())
        };
        (0..100).map(one).collect()
    }

    fn written(buffer: usize) -> Examples {
        let mut writer = Writer::new(buffer);
        examples().into_iter().for_each(|example| writer.push(example).unwrap());
        writer.finish().unwrap()
    }

    #[test]
    fn a_file_gives_back_what_memory_holds() {
        let (memory, spool) = (written(100), written(99));
        assert!(matches!((&memory.store, &spool.store), (Store::Memory(_), Store::Spool(_))));
        assert_eq!((memory.len(), spool.len(), memory.digest()), (100, 100, spool.digest()));
        for (place, example) in examples().into_iter().enumerate() {
            for store in [&memory, &spool] {
                assert_eq!(store.lengths(place).unwrap(), example.lengths());
                assert_eq!(store.get(place).unwrap(), example);
            }
        }
        let mut reversed = Writer::new(100);
        examples().into_iter().rev().for_each(|example| reversed.push(example).unwrap());
        assert_ne!(reversed.finish().unwrap().digest(), memory.digest(), "the order counts");
    }
}
