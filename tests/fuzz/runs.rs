//! Run directories that somebody else made: each of their files, changed.

use std::path::Path;

use burn::tensor::Device;
use zhuyi::run::RunDir;
use zhuyi::text::Tokenizer;
use zhuyi::translator::Translator;

use super::given::{Given, kept};
use super::person::{Folder, zhuyi};
use super::{corpus, fuzz};

/// The files of a run, by what they are called in the corpus.
const FILES: [(&str, &str); 6] = [
    ("config", "config.toml"),
    ("manifest", "manifest.json"),
    ("source", "tokenizer/source.json"),
    ("target", "tokenizer/target.json"),
    ("model", "model.safetensors"),
    ("log", "log.jsonl"),
];

#[test]
fn run_directories() {
    let folder = Folder::new();
    // A tokenizer of each kind that learns.
    let kinds =
        ["text.source.kind=unigram", "text.source.size=200", "text.target.kind=bpe", "text.target.size=400"];
    let sizes = ["embedding.size=8", "encoder.hidden=8", "decoder.hidden=8", "train.max_steps=20"];
    let small: Vec<&str> = kinds.iter().chain(&sizes).flat_map(|setting| ["--set", setting]).collect();
    zhuyi(&folder).args(["train", "--run", "run"]).args(small).assert().success();
    let mut given = kept(&corpus("run"));
    for (kind, file) in FILES {
        let bytes = std::fs::read(folder.path("run").join(file)).unwrap();
        given.push(Given { kind: kind.into(), name: file.into(), bytes });
    }
    let words = [
        "\"F32\"",
        "\"BF16\"",
        "\"shape\":[",
        "data_offsets",
        "1e39",
        "hidden = 0",
        "score = \"none\"",
        "\"unk_id\":9",
    ];
    let right: Vec<Given> = given.clone();
    let dir = RunDir::find(Some(&folder.path("run")), folder.root()).unwrap();
    fuzz("run", given, &words, |given: &Given| {
        let Some((_, file)) = FILES.iter().find(|(kind, _)| *kind == given.kind) else {
            panic!("{} is no file", given.kind)
        };
        let path = folder.path("run").join(file);
        std::fs::write(&path, &given.bytes).unwrap();
        adopt(&folder.path("run"), given);
        if let Ok(translator) = Translator::open(&dir, &Device::flex()) {
            // What is taken may be of no use, but says so.
            let _ = translator.translate(&["the cat eats fish", "猫", ""], &translator.options(), 0);
        }
        let _ = (dir.events(), dir.parameters(), dir.checkpoints(), dir.unfinished().is_ok());
        for name in ["manifest.json", *file] {
            let whole = right.iter().find(|right| right.name == name).unwrap();
            std::fs::write(folder.path("run").join(name), &whole.bytes).unwrap();
        }
    });
}

/// Whoever changes a tokenizer may change what the manifest says of it.
fn adopt(run: &Path, given: &Given) {
    if !["source", "target"].contains(&given.kind.as_str()) {
        return;
    }
    let Ok(tokenizer) = Tokenizer::from_json(run, &String::from_utf8_lossy(&given.bytes)) else { return };
    let path = run.join("manifest.json");
    let mut manifest: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    manifest[format!("{}_tokenizer", given.kind)] = tokenizer.hash().unwrap().into();
    std::fs::write(path, manifest.to_string()).unwrap();
}
