//! Files of text that people bring: pairs, links, configs.

use std::path::Path;

use zhuyi::alignment::SentenceLinks;
use zhuyi::config::{Config, keys};
use zhuyi::corpus::read::{self, Gold};

use super::given::{Given, kept};
use super::person::Folder;
use super::{corpus, fuzz};

/// Pairs TAB by TAB, as they are and packed.
#[test]
fn tsv() {
    let folder = Folder::new();
    fuzz("tsv", kept(&corpus("tsv")), &["0-0", "1p1", "0-18446744073709551615", "\t\t"], |given: &Given| {
        // Packed files are told by their names.
        let name = if given.kind == "packed" { "pairs.tsv.gz" } else { "pairs.tsv" };
        let path = folder.path(name);
        std::fs::write(&path, &given.bytes).unwrap();
        for gold in [Gold::Ignored, Gold::ThirdColumn { base: 0 }, Gold::ThirdColumn { base: 1 }] {
            for pair in read::tsv(&path, gold).unwrap() {
                let Ok(pair) = pair else { continue };
                let most = (read::words(&pair.source), read::words(&pair.target));
                for link in pair.links.iter().flat_map(SentenceLinks::iter) {
                    assert!(link.source < most.0 && link.target < most.1);
                }
            }
        }
    });
}

/// Links as Pharaoh writes them: what is read is written as it was meant.
#[test]
fn pharaoh() {
    fuzz(
        "pharaoh",
        kept(&corpus("pharaoh")),
        &["0-0", "1p1", "-", "p", "0-18446744073709551615"],
        |given: &Given| {
            let text = String::from_utf8_lossy(&given.bytes);
            for base in [0, 1] {
                for line in read::lines(&text) {
                    let Ok(links) = SentenceLinks::parse(line, base) else { continue };
                    let written = links.counted_from(base).to_string();
                    assert_eq!(SentenceLinks::parse(&written, base).as_ref(), Ok(&links), "{line}");
                    assert_eq!(links.reversed().reversed(), links);
                    // Counted otherwise: a number further, and no more than that.
                    let _ = (links.counted_from(0).to_string(), links.counted_from(1).to_string());
                }
            }
        },
    );
}

/// Configs: what is taken says the same when it is written.
#[test]
fn config() {
    let mut given = kept(&corpus("config"));
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("configs")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        given.push(Given { kind: "config".into(), name, bytes: std::fs::read(path).unwrap() });
    }
    given.push(Given {
        kind: "config".into(),
        name: "all".into(),
        bytes: keys::commented(&Config::default()).unwrap().into_bytes(),
    });
    let words = [
        "[search]",
        "[train]\n",
        "beam = ",
        "\"\"\"",
        "'",
        "#",
        "inf",
        "2026-12-01",
        "0x",
        "1_000",
        "mean:",
        "gnmt:1e9",
    ];
    fuzz("config", given, &words, |given: &Given| {
        let text = String::from_utf8_lossy(&given.bytes);
        let Ok(config) = Config::parse(Path::new("config.toml"), &text, &[]) else { return };
        let written = keys::commented(&config).unwrap();
        let again = Config::parse(Path::new("config.toml"), &written, &[])
            .unwrap_or_else(|why| panic!("{why}:\n{written}"));
        assert_eq!(keys::commented(&again).unwrap(), written);
    });
}
