//! Every attention by name, heads, coverage and the course, as a person meets them.

use serde_json::Value;
use zhuyi::config::AttentionName;
use zhuyi::lesson::LESSONS;

use super::person::{Folder, lines, stderr, stdout, zhuyi};

/// The run that is part of the program has eight heads.
const HEADS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/lesson/run");

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Every name trains, is listed, translates and aligns; all but `none` tell where they looked.
#[test]
fn every_attention_can_be_named() {
    let folder = Folder::new();
    let words = ["a", "b", "c", "d", "e"];
    let pairs = (0..24).map(|i| {
        let sentence: Vec<&str> = (0..2 + i % 4).map(|k| words[(i * 3 + k * 2) % 5]).collect();
        format!("{}\t{}\n", sentence.join(" "), sentence.join(" ").to_uppercase())
    });
    folder.write("pairs.tsv", &pairs.collect::<String>());
    for attention in AttentionName::all() {
        let (name, run) = (attention.name(), format!("runs/{}", attention.name()));
        let mut train = zhuyi(&folder);
        train.args(["train", "--quiet", "--attention", name, "--run", &run]);
        for setting in [
            "data.train=pairs.tsv",
            "data.dev=pairs.tsv",
            "text.source.kind=word",
            "text.target.kind=word",
            "embedding.size=8",
            "encoder.hidden=8",
            "decoder.hidden=16",
            "attention.size=16",
            "train.max_steps=3",
        ] {
            train.args(["--set", setting]);
        }
        train.assert().success();
        let told = json(&stdout(zhuyi(&folder).args(["translate", "a b c", "--run", &run, "--format", "json"])));
        assert!(told["translation"].is_string(), "{name}");
        if name == "none" {
            assert!(told["weights"].as_array().unwrap().is_empty());
            continue;
        }
        let aligned =
            stdout(zhuyi(&folder).args(["align", "--tsv", "pairs.tsv", "--run", &run, "--format", "json"]));
        assert_eq!(lines(&aligned).len(), 24, "{name}");
        // A row for each target word, a column for each source word.
        for aligned in lines(&aligned).into_iter().map(json) {
            let count = |what: &str| aligned[what].as_array().unwrap().len();
            assert!(count("target") > 0 && count("weights") == count("target"), "{name}: {aligned}");
            let rows = aligned["weights"].as_array().unwrap().iter();
            assert!(
                rows.into_iter().all(|row| row.as_array().unwrap().len() == count("source")),
                "{name}: {aligned}"
            );
            assert_eq!(aligned["heads"].as_array().map_or(1, Vec::len), if name == "multi-head" { 8 } else { 1 });
        }
    }
    let listed = stdout(zhuyi(&folder).arg("runs"));
    for told in ["general + local-p", "scaled-dot × 8", "additive + coverage", "general + sparsemax"] {
        assert!(listed.contains(told), "{told} is missing in\n{listed}");
    }
}

#[test]
fn heads_are_told_drawn_and_switched_off() {
    let folder = Folder::new();
    let translate = |more: &[&str]| {
        let mut command = zhuyi(&folder);
        command.args(["translate", "the cat eats fish", "--run", HEADS, "--format", "json"]).args(more);
        json(&stdout(&mut command))
    };
    let whole = translate(&[]);
    assert_eq!(whole["translation"], "猫 吃 鱼");
    let heads = whole["heads"].as_array().unwrap();
    assert_eq!(heads.len(), 8);
    for (t, row) in whole["weights"].as_array().unwrap().iter().enumerate() {
        for (s, weight) in row.as_array().unwrap().iter().enumerate() {
            let mean = heads.iter().map(|head| head[t][s].as_f64().unwrap()).sum::<f64>() / 8.0;
            assert!((weight.as_f64().unwrap() - mean).abs() < 1e-6);
        }
    }
    let seven = translate(&["--without-head", "3"]);
    assert!(seven["score"].as_f64().unwrap() != whole["score"].as_f64().unwrap());
    let two = translate(&["--without-head", "3", "--without-head", "4"]);
    assert!(two["score"].as_f64().unwrap() != seven["score"].as_f64().unwrap());

    let told =
        |arguments: &[&str]| stderr(zhuyi(&folder).args(["translate", "a", "--run", HEADS]).args(arguments), 2);
    assert!(told(&["--without-head", "9"]).contains("the heads 1 to 8"));
    assert!(told(&["--without-head", "0"]).contains("the heads 1 to 8"));
    let all: Vec<String> = (1..=8).flat_map(|n| ["--without-head".to_owned(), n.to_string()]).collect();
    assert!(told(&all.iter().map(String::as_str).collect::<Vec<_>>()).contains("at least one of the 8 heads"));

    folder.write("x", "x\n");
    for arguments in
        [&["evaluate", "--hypothesis", "x", "--reference", "x"][..], &["align", "--links", "x", "--gold", "x"]]
    {
        let told = stderr(zhuyi(&folder).args(arguments).args(["--without-head", "1"]), 2);
        assert!(told.contains("cannot be used with"), "{told}");
    }

    translate(&["--plot", "heads.svg"]);
    let svg = folder.read("heads.svg");
    let document = roxmltree::Document::parse(&svg).unwrap();
    for name in ["mean", "head 1", "head 8"] {
        assert!(
            document.descendants().any(|node| node.has_tag_name("text") && node.text() == Some(name)),
            "{name}"
        );
    }
}

/// What a beam ranks by is the penalty's to change; what a number is not, is said.
#[test]
fn coverage_is_a_penalty_of_search() {
    let folder = Folder::new();
    let score = |beta: &str| {
        let arguments = ["translate", "the cat eats fish", "--run", HEADS, "--format", "json"];
        let told = stdout(zhuyi(&folder).args(arguments).args(["--coverage-penalty", beta]));
        json(&told)["score"].as_f64().unwrap()
    };
    assert!(score("1") < score("0.1") && score("0.1") < score("0"));
    for beta in ["-1", "nan", "1e9"] {
        let told = stderr(
            zhuyi(&folder).args(["translate", "x", "--run", HEADS]).arg(format!("--coverage-penalty={beta}")),
            2,
        );
        assert!(told.contains("a number from 0 to 100"), "{told}");
    }
    let none = ["train", "--set", "attention.score=none", "--set", "search.coverage_penalty=0.2"];
    assert!(
        stderr(zhuyi(&folder).args(none), 1).contains("search.coverage_penalty counts where attention looked")
    );
}

#[test]
fn what_does_not_go_together_is_said_with_a_way_out() {
    let folder = Folder::new();
    for (settings, told) in [
        (&["attention.heads=3"][..], "can't be split into attention.heads = 3: make it 129"),
        (&["attention.score=location", "attention.coverage=true"], "never sees them"),
        (&["attention.window_size=0"], "attention.window_size must be at least 1"),
        (&["attention.temperature=0"], "it must be 0.001 to 1000"),
        (&["train.baseline_decay=1"], "train.baseline_decay must be at least 0 and less than 1"),
    ] {
        let arguments = settings.iter().flat_map(|setting| ["--set", setting]);
        let message = stderr(zhuyi(&folder).arg("train").args(arguments), 1);
        assert!(message.contains(told) && lines(&message).len() == 1, "{message}");
    }
    let message = stderr(zhuyi(&folder).args(["train", "--set", "attention.window=local-q"]), 2);
    assert!(
        message.contains("did you mean `local-m`?") || message.contains("did you mean `local-p`?"),
        "{message}"
    );
}

#[test]
fn the_course_is_listed_told_and_drawn() {
    let folder = Folder::new();
    insta::assert_snapshot!("lessons", stdout(zhuyi(&folder).arg("lesson")));
    insta::assert_snapshot!("lesson_figure", stdout(zhuyi(&folder).args(["lesson", "figure"])));
    insta::assert_snapshot!("lesson_qkv_zh", stdout(zhuyi(&folder).args(["lesson", "qkv", "--language", "zh"])));
    let list = json(&stdout(zhuyi(&folder).args(["lesson", "--format", "json"])));
    assert_eq!(list.as_array().unwrap().len(), LESSONS.len());
    let told = json(&stdout(zhuyi(&folder).args(["lesson", "masks", "--format", "json"])));
    assert!(told["mask"].is_object() && told["causal"].is_object());
    let page = stdout(zhuyi(&folder).args(["lesson", "saturation", "--language", "zh", "--format", "html"]));
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<svg") && page.contains("lang=\"zh-Hans\""));
    zhuyi(&folder).args(["lesson", "qkv", "--plot", "qkv.svg"]).assert().success();
    assert!(folder.read("qkv.svg").contains("scaled by 1/√4"));

    let told = |arguments: &[&str]| stderr(zhuyi(&folder).arg("lesson").args(arguments), 2);
    assert!(told(&["figure", "--plot", "x.svg"]).contains("has no picture; these have: bottleneck"));
    assert!(told(&["qkv", "--run", HEADS]).contains("--run belongs to `bottleneck` and `heads`, not to `qkv`"));
    assert!(told(&["qkv", "--attention", "luong"]).contains("--attention belongs to `dataflow`, not to `qkv`"));
    assert!(told(&["nothing"]).contains("three-by-three"));
    let told = stderr(zhuyi(&folder).args(["lesson", "qkv", "--plot", "nowhere/x.svg"]), 1);
    assert_eq!(told, "error: nowhere/x.svg: No such file or directory (os error 2)\n");
    assert!(!folder.path("x.svg").exists());
}
