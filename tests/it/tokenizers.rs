//! Known fault D5: the same text gives the same tokenizer in every process.

use super::person::{Folder, zhuyi};

/// Words with many equal counts, so that ties must be broken.
fn corpus() -> String {
    let words = ["ka", "ki", "ku", "ta", "ti", "tu", "ma", "mi", "mu", "你", "好", "们", "kata", "tiki", "mumu"];
    let line = |i: usize| {
        let side = |step: usize| {
            (0..6)
                .map(|k| words[(i * step + k * 7) % words.len()])
                .collect::<Vec<_>>()
                .join(if i.is_multiple_of(3) { "" } else { " " })
        };
        format!("{}\t{}\n", side(1), side(2))
    };
    (0..600).map(line).collect()
}

#[test]
fn tokenizers_are_the_same_bytes_in_every_process() {
    let folder = Folder::new();
    folder.write("pairs.tsv", &corpus());
    for kind in ["word", "char", "bpe", "unigram"] {
        let trained = |run: &str| {
            let source = format!("text.source={{kind=\"{kind}\", size=60}}");
            let target = format!("text.target={{kind=\"{kind}\", size=60}}");
            let arguments = [
                "train",
                "--quiet",
                "--run",
                run,
                "--set",
                "data.train=pairs.tsv",
                "--set",
                "data.dev=pairs.tsv",
                "--set",
                "train.max_steps=0",
                "--set",
                &source,
                "--set",
                &target,
            ];
            zhuyi(&folder).args(arguments).assert().success();
            ["source", "target"].map(|side| folder.read(&format!("{run}/tokenizer/{side}.json")))
        };
        let first = trained(&format!("{kind}-0"));
        for again in 1..4 {
            assert!(trained(&format!("{kind}-{again}")) == first, "{kind}: run {again} differs");
        }
    }
}
