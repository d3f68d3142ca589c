//! Corpora that are larger than memory should be.

use std::io::Write;

use serde_json::Value;

use super::person::{Folder, stdout, zhuyi};

/// A corpus of so many pairs, sorted by length as Tatoeba's files are, packed.
fn sorted_corpus(folder: &Folder, name: &str, pairs: usize) {
    let file = std::fs::File::create(folder.path(name)).unwrap();
    let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    for i in 0..pairs {
        let length = 1 + 20 * i / pairs;
        let word = |k: usize| (i * 31 + k * 17) % 97;
        let side =
            |letter: char| (0..length).map(|k| format!("{letter}{}", word(k))).collect::<Vec<_>>().join(" ");
        writeln!(gz, "{}\t{}", side('a'), side('b')).unwrap();
    }
    gz.finish().unwrap();
}

/// A whole epoch of reading, filtering, cutting, mixing and batching, then some updates.
fn epoch(folder: &Folder, name: &str) -> Value {
    let mut command = zhuyi(folder);
    command.env("RAYON_NUM_THREADS", "2");
    command.args(["bench", "--epoch", "--steps", "20", "--sentences", "0", "--format", "json"]);
    let data = format!("data.train={name}");
    for setting in [
        &data,
        "data.dev=dev.tsv",
        "data.buffer=20000",
        "data.filter.max_ratio=9",
        "text.source.kind=word",
        "text.target.kind=bpe",
        "text.target.size=4000",
        "text.learn_from=20000",
    ] {
        command.args(["--set", setting]);
    }
    serde_json::from_str(&stdout(&mut command)).unwrap()
}

/// Twenty times as many pairs need no more memory, and come out as well mixed.
#[test]
fn memory_does_not_grow_with_the_corpus() {
    let folder = Folder::new();
    folder.write("dev.tsv", "a1 a2\tb1 b2\n");
    sorted_corpus(&folder, "small.tsv.gz", 20_000);
    sorted_corpus(&folder, "large.tsv.gz", 400_000);
    let [small, mut large] = ["small.tsv.gz", "large.tsv.gz"].map(|name| epoch(&folder, name));
    assert_eq!([&small, &large].map(|told| told["epoch"]["pairs"].as_u64().unwrap()), [20_000, 400_000]);
    let peak = |told: &Value| told["train"]["peak_rss_mib"].as_f64().unwrap();
    // How threads meet moves a peak of this size by some 20 MiB either way (eight runs: 121 to 150). What grows with the corpus is
    // there every time.
    for _ in 0..2 {
        eprintln!("{:.0} and {:.0} MiB", peak(&small), peak(&large));
        if peak(&large) < 1.15 * peak(&small) {
            break;
        }
        large = epoch(&folder, "large.tsv.gz");
    }
    let growth = peak(&large) / peak(&small);
    assert!(growth < 1.15, "memory grew by {growth:.3}: {:.0} and {:.0} MiB", peak(&small), peak(&large));
    // Of some batches: four standard errors of a correlation of nothing.
    let correlation = large["epoch"]["order_correlation"].as_f64().unwrap();
    let batches = large["epoch"]["batches"].as_f64().unwrap();
    assert!(correlation.abs() < (4.0 / batches.sqrt()).min(0.05), "{correlation} of {batches} batches");
}
