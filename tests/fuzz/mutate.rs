//! Changes of bytes: what is changed stays close enough to what is right to get far into a parser.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::given::Given;

#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
    Repeat(Index, usize, usize),
    Cut(Index),
    /// Goes on as another of the same kind does.
    Splice(Index, Index, Index),
}

/// Words that parsers stumble over, whatever they read.
const WORDS: [&str; 34] = [
    "",
    "0",
    "-1",
    "1e999",
    "-0.0",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775808",
    "0.1e-400",
    "NaN",
    "inf",
    "null",
    "true",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "=",
    "\n",
    "\r\n",
    "\t",
    "\0",
    " ",
    "\u{FEFF}",
    "\u{200B}",
    "\u{2028}",
    "猫",
    "\u{1F469}\u{200D}\u{1F469}",
];

/// What is kept, with up to a few changes.
pub fn changed(kept: Vec<Given>, words: &[&str]) -> impl Strategy<Value = Given> + use<> {
    let words: Vec<Vec<u8>> = WORDS.iter().chain(words).map(|word| word.as_bytes().to_vec()).collect();
    let inserted = prop_oneof![3 => select(words), 1 => vec(any::<u8>(), 1..8)];
    let change = prop_oneof![
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        4 => (any::<Index>(), inserted).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        2 => (any::<Index>(), 1_usize..20).prop_map(|(at, n)| Change::Remove(at, n)),
        1 => (any::<Index>(), 1_usize..20, 2_usize..200).prop_map(|(at, n, times)| Change::Repeat(at, n, times)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), any::<Index>(), any::<Index>()).prop_map(|(at, other, from)| Change::Splice(at, other, from)),
    ];
    (select(kept.clone()), vec(change, 1..6)).prop_map(move |(given, changes)| {
        let others: Vec<&Given> = kept.iter().filter(|other| other.kind == given.kind).collect();
        let bytes = changes.iter().fold(given.bytes, |bytes, change| apply(bytes, change, &others));
        Given { bytes, ..given }
    })
}

fn apply(mut bytes: Vec<u8>, change: &Change, others: &[&Given]) -> Vec<u8> {
    let place = |at: &Index, bytes: &[u8]| at.index(bytes.len() + 1);
    match change {
        Change::Set(at, byte) => {
            if !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        }
        Change::Insert(at, inserted) => {
            let at = place(at, &bytes);
            bytes.splice(at..at, inserted.iter().copied());
        }
        Change::Remove(at, n) => {
            let at = place(at, &bytes);
            let end = (at + n).min(bytes.len());
            bytes.drain(at..end);
        }
        Change::Repeat(at, n, times) => {
            let at = place(at, &bytes);
            let piece = bytes[at..(at + n).min(bytes.len())].repeat(*times);
            bytes.splice(at..at, piece);
        }
        Change::Cut(at) => bytes.truncate(place(at, &bytes)),
        Change::Splice(at, other, from) => {
            bytes.truncate(place(at, &bytes));
            let other = &other.get(others).bytes;
            bytes.extend(&other[place(from, other)..]);
        }
    }
    bytes
}
