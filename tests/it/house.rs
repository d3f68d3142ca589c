//! The plan of the house: imports go one way.

use std::path::{Path, PathBuf};

/// The rooms in the order of the map in `src/lib.rs`: each may use only those before it.
const ROOMS: [&str; 29] = [
    "error",
    "hash",
    "rng",
    "language",
    "text",
    "alignment",
    "corpus",
    "metrics",
    "plot",
    "page",
    "evaluation",
    "init",
    "kernels",
    "attention",
    "search",
    "model",
    "ranks",
    "train",
    "config",
    "device",
    "prepare",
    "bench",
    "parity",
    "run",
    "translator",
    "lesson",
    "ablation",
    "server",
    "cli",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn imports_go_one_way() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |room: &str| ROOMS.iter().position(|known| *known == room);
    for file in sources(&source) {
        let inside = file.strip_prefix(&source).unwrap();
        let first = inside.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let room = first.trim_end_matches(".rs");
        if ["lib", "main"].contains(&room) {
            continue;
        }
        let here = place(room).unwrap_or_else(|| panic!("{room} is not on the map"));
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            for used in line.split("crate::").skip(1) {
                let name: String = used.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(there) = place(&name) {
                    assert!(there <= here, "{}: {room} uses {name}, which comes after it", file.display());
                }
            }
        }
    }
}

#[test]
fn only_the_command_line_prints() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for file in sources(&source) {
        if file.starts_with(source.join("cli")) {
            continue;
        }
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let code = line.split("//").next().unwrap();
            assert!(!code.contains("println!") && !code.contains("print!("), "{}: {line}", file.display());
        }
    }
}
