//! What trainers have: each feature does what it is for, in training as a person runs it.

use std::path::Path;

use serde_json::Value;

use super::person::{Folder, stderr, stdout, zhuyi};

/// Sizes that train in a second.
const TINY: &[&str] = &["embedding.size=16", "encoder.hidden=16", "decoder.hidden=16", "train.report_every=1"];

/// Trains with settings; what it said on standard error.
fn train(folder: &Folder, run: &str, settings: &[&str]) -> String {
    let mut command = zhuyi(folder);
    command.args(["train", "--run", run]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    stderr(&mut command, 0)
}

fn refused(folder: &Folder, settings: &[&str]) -> String {
    let mut command = zhuyi(folder);
    command.args(["train", "-q", "--run", "refused"]);
    for setting in settings {
        command.args(["--set", setting]);
    }
    let told = stderr(&mut command, 1);
    assert!(!folder.path("refused").exists(), "a mistake must leave nothing behind");
    told
}

/// A number of each event of a kind.
fn logged(folder: &Folder, run: &str, kind: &str, key: &str) -> Vec<f64> {
    let log = folder.read(&format!("{run}/log.jsonl"));
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    events.filter(|event| event["event"] == kind).map(|event| event[key].as_f64().unwrap_or(f64::NAN)).collect()
}

/// The tensors of a safetensors file, by name.
fn tensors(path: &Path) -> Vec<(String, Vec<u8>)> {
    let bytes = std::fs::read(path).unwrap();
    let file = safetensors::SafeTensors::deserialize(&bytes).unwrap();
    let mut tensors: Vec<_> =
        file.tensors().into_iter().map(|(name, view)| (name, view.data().to_vec())).collect();
    tensors.sort();
    tensors
}

fn alignment_error_rate(folder: &Folder, run: &str) -> f64 {
    let told = stdout(zhuyi(folder).args(["evaluate", "-q", "--format", "json", "--run", run]));
    serde_json::from_str::<Value>(&told).unwrap()["alignment"]["aer"].as_f64().unwrap()
}

/// Attention that nobody told where to look finds other places than people do.
#[test]
fn guided_attention_looks_where_links_say() {
    let folder = Folder::new();
    let small = ["train.max_steps=300", "train.validate_every=300", "model.dropout=0.1"];
    for (timing, guided) in [("after", "0"), ("after", "1"), ("before", "1")] {
        let settings = [&format!("decoder.timing={timing}")[..], &format!("train.guided_alignment={guided}")];
        train(&folder, &format!("{timing}{guided}"), &[&small[..], &settings].concat());
    }
    let [free, after, before] = ["after0", "after1", "before1"].map(|run| alignment_error_rate(&folder, run));
    assert!(after < 0.5 * free && before < 0.5 * free, "{free} {after} {before}");

    let without: String = (0..20).map(|i| format!("a{i} b\tx{i} y\n")).collect();
    folder.write("pairs.tsv", &without);
    let own = ["data.train=pairs.tsv", "data.dev=pairs.tsv", "train.guided_alignment=1"];
    assert!(refused(&folder, &own).contains("train.guided_alignment needs links"));
    assert!(
        refused(&folder, &["train.guided_alignment=1", "attention.score=none"])
            .contains("there are none to teach")
    );
    let unigram =
        ["data.train=pairs.tsv", "data.dev=pairs.tsv", "text.source.kind=unigram", "data.filter.max_chars=1"];
    assert!(refused(&folder, &unigram).contains("no pair is left to use (0 of 20 pairs"));
    folder.write("links", &"0-0 1-1\n".repeat(21));
    let longer = [&own[..], &["data.links=links"]].concat();
    assert!(refused(&folder, &longer).contains("links: 21 lines, but there are 20 pairs"));
    // From a file of their own, of pieces of words, in the other direction.
    folder.write("links", &"0-0 1-1\n".repeat(20));
    let settings = [
        "data.links=links",
        "data.reverse=true",
        "text.source.size=30",
        "text.target.size=30",
        "train.max_steps=60",
        "text.source.kind=char",
    ];
    train(&folder, "own", &[&own[..], &settings, TINY].concat());
    let aligned =
        stdout(zhuyi(&folder).args(["align", "-q", "--run", "own", "--format", "pharaoh", "--source"]).args(
            [folder.path("s"), "--target".into(), folder.path("t")].map(|path| {
                if path.ends_with("s") {
                    std::fs::write(&path, "x3 y\n").unwrap()
                }
                if path.ends_with("t") {
                    std::fs::write(&path, "a3 b\n").unwrap()
                }
                path
            }),
        ));
    assert_eq!(aligned.trim(), "0-0 1-1");
}

#[test]
fn what_is_frozen_stays_and_the_rest_learns() {
    let folder = Folder::new();
    train(
        &folder,
        "before",
        &[TINY, &["train.max_steps=1", "train.learning_rate=0", "train.validate_every=1"]].concat(),
    );
    let freeze = "train.freeze=[\"encoder\", \"decoder.attention\", \"target_embedding.weight\"]";
    train(
        &folder,
        "after",
        &[
            TINY,
            &[
                "train.max_steps=3",
                "train.validate_every=3",
                freeze,
                "train.optimizer=adamw",
                "train.weight_decay=0.1",
            ],
        ]
        .concat(),
    );
    let [before, after] = ["before", "after"].map(|run| tensors(&folder.path(run).join("model.safetensors")));
    for ((name, before), (_, after)) in before.iter().zip(&after) {
        let frozen =
            ["encoder.", "decoder.attention.", "target_embedding."].iter().any(|part| name.starts_with(part));
        assert_eq!(before == after, frozen, "{name}");
    }
    let told = refused(&folder, &["train.freeze=[\"encodr\"]"]);
    assert!(
        told.contains("no part `encodr`; it has source_embedding, target_embedding, encoder, decoder, output"),
        "{told}"
    );
    let all = "train.freeze=[\"source_embedding\", \"target_embedding\", \"encoder\", \"decoder\", \"output\"]";
    assert!(refused(&folder, &[all]).contains("nothing would be left to learn"));
}

/// Three-way tied: one table of vectors is all there is.
#[test]
fn vectors_can_be_shared() {
    let folder = Folder::new();
    let joint = [
        "text.joint=true",
        "embedding.shared=true",
        "decoder.tied=true",
        "train.max_steps=150",
        "train.validate_every=150",
    ];
    let told = train(&folder, "shared", &[TINY, &joint].concat());
    let names: Vec<String> =
        tensors(&folder.path("shared/model.safetensors")).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"target_embedding.weight".to_owned()), "{names:?}");
    assert!(
        !names.iter().any(|name| name.starts_with("source_embedding") || name.starts_with("output")),
        "{names:?}"
    );
    let values: usize =
        tensors(&folder.path("shared/model.safetensors")).iter().map(|(_, data)| data.len() / 4).sum();
    assert!(told.contains(&format!("model: {values} parameters")), "{told}");
    let losses = logged(&folder, "shared", "progress", "loss");
    assert!(losses[149] < losses[0] - 1.0, "{losses:?}");
    stdout(zhuyi(&folder).args(["translate", "-q", "--run", "shared", "the cat eats fish"]));
    assert!(refused(&folder, &["embedding.shared=true"]).contains("set text.joint = true"));
}

/// The moving average is what is scored and kept; the weights themselves go their way as without it.
#[test]
fn the_moving_average_is_kept_and_changes_nothing_else() {
    let folder = Folder::new();
    let settings = ["train.max_steps=30", "train.validate_every=30"];
    train(&folder, "plain", &[TINY, &settings].concat());
    train(&folder, "average", &[TINY, &settings, &["train.ema=0.9"]].concat());
    let file = |run: &str, name: &str| std::fs::read(folder.path(run).join(name)).unwrap();
    assert!(
        file("plain", "checkpoints/30/weights.safetensors")
            == file("average", "checkpoints/30/weights.safetensors")
    );
    assert!(file("average", "checkpoints/30/average.safetensors") == file("average", "model.safetensors"));
    assert!(file("plain", "model.safetensors") != file("average", "model.safetensors"));
}

/// The mean of some models is a run like any other: of the last checkpoints, or of the models with the best scores.
#[test]
fn models_are_averaged() {
    let folder = Folder::new();
    let settings =
        ["train.max_steps=40", "train.validate_every=10", "checkpoint.keep_last=2", "checkpoint.keep_best=3"];
    train(&folder, "it", &[TINY, &settings].concat());
    let log = folder.read("it/log.jsonl");
    let events = log.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut scored: Vec<(f64, u64)> = events
        .filter(|event| event["event"] == "validated")
        .map(|event| (event["scores"]["bleu"].as_f64().unwrap(), event["step"].as_u64().unwrap()))
        .collect();
    scored.sort_by(|a, b| b.partial_cmp(a).unwrap());
    let best = scored[..2].iter().map(|(_, step)| format!("best/{step}.safetensors")).collect::<Vec<_>>();
    let last = [30, 40].map(|step| format!("checkpoints/{step}/weights.safetensors")).to_vec();
    for (flag, files) in [("--last", last), ("--best", best)] {
        let out = format!("mean{flag}");
        let told = stderr(zhuyi(&folder).args(["average", "--run", "it", flag, "2", "--out", &out]), 0);
        assert!(told.contains("the mean of 2 models, of steps "), "{told}");
        stdout(zhuyi(&folder).args(["translate", "-q", "--run", &out, "the cat eats fish"]));
        let numbers = |bytes: &[u8]| -> Vec<f32> {
            bytes.chunks(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect()
        };
        let parts: Vec<_> = files.iter().map(|file| tensors(&folder.path("it").join(file))).collect();
        for (place, (name, mean)) in tensors(&folder.path(&out).join("model.safetensors")).iter().enumerate() {
            let sides = parts.iter().map(|part| numbers(&part[place].1)).collect::<Vec<_>>();
            for (i, mean) in numbers(mean).iter().enumerate() {
                assert!((mean - (sides[0][i] + sides[1][i]) / 2.0).abs() < 1e-6, "{flag} {name} {i}");
            }
        }
    }
    let told = stderr(zhuyi(&folder).args(["average", "--run", "it", "--best", "9", "--out", "x"]), 1);
    assert!(told.contains("3 are there, and 9 were asked for"), "{told}");
    let told = stderr(zhuyi(&folder).args(["average", "--run", "it", "--best", "2", "--out", "mean--best"]), 1);
    assert!(told.contains("there is something in this directory already"), "{told}");
    // A mean is nothing to go on from: its model would be lost.
    let before = std::fs::read(folder.path("mean--best/model.safetensors")).unwrap();
    let told = stderr(zhuyi(&folder).args(["train", "-q", "--resume", "--run", "mean--best"]), 1);
    assert!(told.contains("this run has a model and no checkpoint to go on from"), "{told}");
    assert!(std::fs::read(folder.path("mean--best/model.safetensors")).unwrap() == before);
}

#[test]
fn a_run_starts_from_another() {
    let folder = Folder::new();
    train(&folder, "base", &[TINY, &["train.max_steps=150", "train.validate_every=150"]].concat());
    let base = logged(&folder, "base", "progress", "loss");
    let settings = ["start.run=base", "train.max_steps=5", "train.warmup_steps=1000", "model.dropout=0"];
    let told = train(&folder, "same", &[TINY, &settings].concat());
    assert!(told.contains("tensors are those of base; none is drawn"), "{told}");
    assert!(folder.read("same/tokenizer/source.json") == folder.read("base/tokenizer/source.json"));
    let same = logged(&folder, "same", "progress", "loss");
    assert!(same[0] < base[0] - 0.5, "{} {}", base[0], same[0]);
    // Another attention has weights of its own.
    let told = train(&folder, "other", &[TINY, &settings, &["attention.score=additive"]].concat());
    assert!(told.contains("decoder.attention.score") && told.contains("are drawn"), "{told}");
    assert!(
        refused(&folder, &[&settings[..], &["embedding.size=8", "encoder.hidden=8", "decoder.hidden=8"]].concat())
            .contains("nothing of its model has a place")
    );
    assert!(refused(&folder, &["start.run=nowhere"]).contains("no run is here"));
}

#[test]
fn words_start_from_vectors() {
    let folder = Folder::new();
    folder.write("en.vec", "3 16\ncat 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1\nunheard 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2\ndog 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3 3\n");
    let settings =
        ["start.source_vectors=en.vec", "train.max_steps=1", "train.learning_rate=0", "train.validate_every=1"];
    let told = train(&folder, "it", &[TINY, &settings].concat());
    assert!(told.contains("2 of the source's") && told.contains("vectors are those of en.vec"), "{told}");
    let (_, embedding) = tensors(&folder.path("it/model.safetensors"))
        .into_iter()
        .find(|(name, _)| name == "source_embedding.weight")
        .unwrap();
    let rows: Vec<Vec<f32>> = embedding
        .chunks(64)
        .map(|row| row.chunks(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect())
        .collect();
    assert_eq!(rows.iter().filter(|row| **row == [1.0; 16] || **row == [3.0; 16]).count(), 2);
    assert!(
        refused(&folder, &["start.target_vectors=en.vec", "embedding.size=16"])
            .contains("none of its words is in the vocabulary")
    );
    assert!(
        refused(&folder, &["start.source_vectors=en.vec"])
            .contains("en.vec:1: vectors of 16 numbers, but embedding.size is 64")
    );
}

/// Every key that changes what an update is changes what the first updates are, and by the seed alone.
#[test]
fn every_key_of_an_update_has_its_say() {
    let folder = Folder::new();
    let steps = ["train.max_steps=3", "train.warmup_steps=1", "train.validate_every=3"];
    let run = |name: &str, setting: &str| {
        train(&folder, name, &[TINY, &steps, &[setting]].concat());
        logged(&folder, name, "progress", "loss")
    };
    let plain = run("plain", "train.seed=1");
    assert_eq!(run("again", "train.seed=1"), plain);
    for (i, setting) in [
        "train.optimizer=sgd",
        "train.optimizer=adafactor",
        "train.accumulate=2",
        "train.label_smoothing=0.1",
        "train.scheduled_sampling=1.0",
        "model.dropout_kind=variational",
        "model.word_dropout=0.3",
        "train.decay=cosine",
        "train.decay=inverse-sqrt",
        "train.clip_norm=0.01",
    ]
    .into_iter()
    .enumerate()
    {
        let sampling = if setting.contains("sampling") { "train.sampling_warmup=1" } else { "search.beam=1" };
        train(&folder, &format!("{i}"), &[TINY, &steps, &[setting, sampling]].concat());
        let other = logged(&folder, &format!("{i}"), "progress", "loss");
        assert!(other != plain && other.iter().all(|loss| loss.is_finite()), "{setting}: {other:?}");
    }
    // Weights that decay go elsewhere only after the first update.
    let adamw = run("adamw", "train.optimizer=adamw");
    assert_eq!(adamw, plain, "without decay it is Adam");
    train(&folder, "decayed", &[TINY, &steps, &["train.optimizer=adamw", "train.weight_decay=0.5"]].concat());
    assert_ne!(logged(&folder, "decayed", "progress", "loss")[1..], plain[1..]);
}

#[test]
fn early_stopping_goes_by_the_chosen_score() {
    let folder = Folder::new();
    for choice in ["bleu", "chrf", "loss"] {
        let by = format!("train.choose_by={choice}");
        let settings = ["train.learning_rate=0", "train.validate_every=2", "train.patience=2", &by];
        train(&folder, choice, &[TINY, &settings].concat());
        let scores: Vec<Value> = folder
            .read(&format!("{choice}/log.jsonl"))
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .filter(|event| event["event"] == "validated")
            .collect();
        assert_eq!(scores.len(), 3, "{choice}");
        assert!(scores[0]["scores"]["chrf"].as_f64().unwrap() > 0.0);
    }
    // Of models that score differently each measure has its own best.
    let settings = ["train.max_steps=60", "train.validate_every=5"];
    for choice in ["bleu", "chrf", "loss"] {
        train(
            &folder,
            &format!("{choice}-long"),
            &[TINY, &settings, &[&format!("train.choose_by={choice}")]].concat(),
        );
        let log = folder.read(&format!("{choice}-long/log.jsonl"));
        let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let validated: Vec<&Value> = events.iter().filter(|event| event["event"] == "validated").collect();
        let score =
            |event: &Value| event["scores"][choice].as_f64().unwrap() * if choice == "loss" { -1.0 } else { 1.0 };
        let best = validated.iter().map(|event| score(event)).fold(f64::NEG_INFINITY, f64::max);
        let last_best = validated.iter().rev().find(|event| event["best"] == true).unwrap();
        assert_eq!(score(last_best), best, "{choice}");
    }
}

#[test]
fn filters_are_counted() {
    let folder = Folder::new();
    let pairs: String = (0..30).map(|i| format!("the {i} cat\t那 {i} 猫\n")).collect();
    let odd = "same\tsame\nthe 1 cat\t那 1 猫\na\t这是一个很长很长很长很长的句子\nПривет\t你好\n";
    folder.write("pairs.tsv", &(pairs + odd));
    let told = train(
        &folder,
        "it",
        &[
            TINY,
            &[
                "data.train=pairs.tsv",
                "data.dev=pairs.tsv",
                "data.source_language=en",
                "data.target_language=zh",
                "data.filter.drop_duplicates=true",
                "data.filter.drop_identical=true",
                "data.filter.max_ratio=9",
                "data.filter.drop_wrong_script=true",
                "train.max_steps=1",
                "text.source.size=60",
                "text.target.size=60",
            ],
        ]
        .concat(),
    );
    let right = "train: 30 of 34 pairs; dropped 1 with the same text on both sides (first: line 31), \
        1 with a pair that came before (first: line 32), 1 with a side more than 9 times as long as the other (first: line 33), \
        1 with a source that is not in the script of `en` (first: line 34)";
    assert!(told.contains(right), "{told}");
    assert!(told.contains("dev: 34 of 34 pairs"), "{told}");
    let shared =
        stdout(zhuyi(&folder).args(["data", "check", "pairs.tsv", "--test", "pairs.tsv", "--format", "json"]));
    let shared: Value = serde_json::from_str(&shared).unwrap();
    assert_eq!(
        shared["overlap"]["exact"],
        serde_json::json!({"sources": 34, "targets": 34, "pairs": 34, "first_line": 1})
    );
    stderr(
        zhuyi(&folder).args([
            "data",
            "clean",
            "pairs.tsv",
            "--drop-duplicates",
            "--drop-identical",
            "--out",
            "clean.tsv",
        ]),
        0,
    );
    assert_eq!(folder.read("clean.tsv").lines().count(), 32);
    stderr(zhuyi(&folder).args(["data", "split", "clean.tsv", "--dev", "4", "--test", "5", "--out", "split"]), 0);
    let parts = ["train", "dev", "test"].map(|name| folder.read(&format!("split/{name}.tsv")).lines().count());
    assert_eq!(parts, [23, 4, 5]);
    // What is there stays, whatever goes wrong; what is read may be what is written.
    let told = stderr(
        zhuyi(&folder).args(["data", "split", "clean.tsv", "--dev", "4", "--test", "5", "--out", "split"]),
        1,
    );
    assert!(told.contains("split/train.tsv: this file is there already"), "{told}");
    let before = folder.read("clean.tsv");
    folder.write("bad.tsv", "a\tb\nno tab\n");
    stderr(zhuyi(&folder).args(["data", "clean", "bad.tsv", "--out", "clean.tsv"]), 1);
    stderr(zhuyi(&folder).args(["data", "clean", "pairs.tsv", "--max-ratio", "0.5", "--out", "clean.tsv"]), 1);
    assert_eq!(folder.read("clean.tsv"), before);
    stderr(
        zhuyi(&folder).args([
            "data",
            "clean",
            "clean.tsv",
            "--drop-wrong-script",
            "--languages",
            "eng,zh",
            "--out",
            "clean.tsv",
        ]),
        0,
    );
    assert_eq!(folder.read("clean.tsv").lines().count(), 31);
    let told = stderr(
        zhuyi(&folder).args(["data", "check", "clean.tsv", "--drop-wrong-script", "--languages", "en,tlh"]),
        1,
    );
    assert!(told.contains("how `tlh` is written is not known"), "{told}");
    let shared = stdout(zhuyi(&folder).args(["data", "check", "split/train.tsv", "--test", "split/test.tsv"]));
    assert!(
        shared.contains("of 5 test pairs 0 stand among the others exactly; 0 sources and 0 targets do"),
        "{shared}"
    );
}

/// What an update needs is counted beforehand: it fits, and what was given is used.
#[test]
fn batches_fit_into_a_memory_budget() {
    let folder = Folder::new();
    for (attention, megabytes) in [("general", 300.0), ("bahdanau", 300.0), ("general", 700.0)] {
        let mut command = zhuyi(&folder);
        command.args(["bench", "--steps", "4", "--sentences", "0", "--format", "json", "--attention", attention]);
        for setting in [
            "data.train=toy:long/train",
            "data.dev=toy:long/dev",
            "embedding.size=128",
            "encoder.hidden=256",
            "decoder.hidden=512",
        ] {
            command.args(["--set", setting]);
        }
        command.args(["--set", &format!("batch.memory={megabytes}MB")]);
        let told: Value = serde_json::from_str(&stdout(&mut command)).unwrap();
        let peak = told["train"]["peak_rss_mib"].as_f64().unwrap() * 1.048_576;
        eprintln!("{attention}: {peak:.0} of {megabytes} MB");
        assert!(peak <= megabytes && peak > 0.45 * megabytes, "{attention}: {peak:.0} of {megabytes} MB");
    }
    train(&folder, "it", &[TINY, &["batch.memory=150MB", "train.max_steps=1"]].concat());
    let config = folder.read("it/config.toml");
    for line in ["batch_tokens = ", "memory = \"150MB\"", "# batch_sentences ="] {
        assert!(config.lines().any(|other| other.starts_with(line)), "{line}: {config}");
    }
    // One command for a job that is started again and again.
    for steps in ["train.max_steps=1", "train.max_steps=2"] {
        let mut command = zhuyi(&folder);
        command.args([
            "train",
            "-q",
            "--resume",
            "--run",
            "again",
            "--config",
            "toy",
            "--set",
            "batch.memory=150MB",
        ]);
        for setting in TINY.iter().chain([&steps]) {
            command.args(["--set", setting]);
        }
        stdout(&mut command);
    }
}

/// The records of an event file: a length, its checksum, the data, its checksum.
fn records(path: &Path) -> Vec<Vec<u8>> {
    let bytes = std::fs::read(path).unwrap();
    let masked = |bytes: &[u8]| crc32c::crc32c(bytes).rotate_right(15).wrapping_add(0xA282_EAD8).to_le_bytes();
    let (mut rest, mut found) = (bytes.as_slice(), Vec::new());
    while !rest.is_empty() {
        let length = u64::from_le_bytes(rest[..8].try_into().unwrap()) as usize;
        assert_eq!(rest[8..12], masked(&rest[..8]));
        let data = &rest[12..12 + length];
        assert_eq!(rest[12 + length..16 + length], masked(data));
        found.push(data.to_vec());
        rest = &rest[16 + length..];
    }
    found
}

#[test]
fn tensorboard_gets_curves_and_pictures() {
    let folder = Folder::new();
    let settings = ["log.tensorboard=true", "log.pictures=2", "train.max_steps=4", "train.validate_every=2"];
    train(&folder, "it", &[TINY, &settings].concat());
    let has = |record: &[u8], text: &str| record.windows(text.len()).any(|window| window == text.as_bytes());
    let files = || {
        let mut files: Vec<_> =
            folder.path("it/tensorboard").read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
        files.sort();
        files
    };
    let first = records(&files()[0]);
    assert!(has(&first[0], "brain.Event:2"));
    let count = |text: &str| first.iter().filter(|record| has(record, text)).count();
    assert_eq!((count("train/loss"), count("train/gradient_norm"), count("dev/chrf")), (4, 4, 2));
    assert_eq!((count("alignment/1"), count("alignment/2"), count("alignment/3")), (2, 2, 0));
    let drawn =
        first.iter().filter(|record| record.windows(8).any(|window| window == b"\x89PNG\r\n\x1a\n")).count();
    assert_eq!(drawn, 2);
    // Where it goes on, what was told of later updates counts no more: a session starts at step 5.
    std::thread::sleep(std::time::Duration::from_millis(1100));
    stdout(zhuyi(&folder).args(["train", "-q", "--resume", "--run", "it", "--set", "train.max_steps=6"]));
    let second = records(&files()[1]);
    assert!(second[1].ends_with(&[0x10, 5, 0x3a, 2, 8, 1]), "{:?}", second[1]);
    assert_eq!(second.iter().filter(|record| has(record, "train/loss")).count(), 2);
}

/// Defaults, then the file, then `--set`, then flags.
#[test]
fn flags_have_the_last_word() {
    let folder = Folder::new();
    let mut command = zhuyi(&folder);
    command.args(["train", "--run", "it", "--seed", "3", "--attention", "dot"]);
    for setting in ["train.seed=4", "attention.score=additive", "train.max_steps=1"] {
        command.args(["--set", setting]);
    }
    let told = stderr(&mut command, 0);
    assert!(told.contains("--seed 3 stands for train.seed=3, in place of --set train.seed=4"), "{told}");
    assert!(told.contains("--attention dot stands for attention.score=dot, in place of"), "{told}");
    let config = folder.read("it/config.toml");
    assert!(config.contains("\nseed = 3\n") && config.contains("\nscore = \"dot\"\n"), "{config}");
}
