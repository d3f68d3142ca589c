//! The whole program as a person meets it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::LazyLock;

use serde_json::Value;
use zhuyi::alignment::{AlignmentErrorRate, SentenceLinks};

use super::person::{Folder, PROGRAM, lines, stderr, stdout, zhuyi};

/// A folder with one run, trained a little; it knows the sentences that tests use.
static TRAINED: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new();
    let arguments = [
        "train",
        "--attention",
        "luong",
        "--run",
        "runs/small",
        "--set",
        "train.max_steps=1400",
        "--set",
        "model.dropout=0.2",
    ];
    zhuyi(&folder).args(arguments).assert().success();
    folder
});

#[test]
fn the_help_lists_every_command_and_attention() {
    let folder = Folder::new();
    insta::assert_snapshot!("help", stdout(zhuyi(&folder).arg("--help")));
    insta::assert_snapshot!("help_train", stdout(zhuyi(&folder).args(["train", "--help"])));
    for command in [
        "train",
        "translate",
        "evaluate",
        "align",
        "lesson",
        "serve",
        "plot lines",
        "runs",
        "devices",
        "data toy",
        "data check",
        "config show",
    ] {
        let help = stdout(zhuyi(&folder).args(command.split(' ')).arg("--help"));
        assert!(help.contains("Example:"), "{command} has no example");
    }
    assert!(stdout(zhuyi(&folder).arg("--version")).starts_with("zhuyi "));
    assert!(stdout(zhuyi(&folder).args(["completions", "bash"])).contains("scaled-dot"));
    assert!(stdout(zhuyi(&folder).arg("man")).contains(".TH zhuyi"));
}

#[test]
fn what_was_typed_is_met_halfway() {
    for typed in ["welcome to shenzhen", "Welcome to Shenzhen!", "  WELCOME  to shenzhen ."] {
        assert_eq!(stdout(zhuyi(&TRAINED).args(["translate", typed])), "欢迎 来 深圳\n");
    }
    let shown = stdout(zhuyi(&TRAINED).args(["translate", "the cat eats fish", "--show"]));
    assert!(shown.starts_with("猫 吃 鱼\n") && shown.contains("eats") && lines(&shown).len() == 5, "{shown}");
}

#[test]
fn unknown_words_are_named_once() {
    let mut command = zhuyi(&TRAINED);
    let output = command.args(["translate", "the zebra eats fish", "a zebra sleeps"]).assert().success();
    let told = String::from_utf8(output.get_output().stderr.clone()).unwrap();
    assert_eq!(told, "warning: the model does not know `zebra`\n");
    assert_eq!(lines(&String::from_utf8(output.get_output().stdout.clone()).unwrap()).len(), 2);
}

/// Known faults D1, D2 and X8: a line out for every line in, blank ones blank, in their places.
#[test]
fn every_line_has_its_answer() {
    let input = "the cat eats fish\n\n \ntom\u{2028}sleeps\n\u{3000}\n\u{a0}\u{200b}\t\nwelcome to\u{85}shenzhen\u{b}\n\u{c}\ni love deep learning";
    let expected = "猫 吃 鱼\n\n\n汤姆 睡觉\n\n\n欢迎 来 深圳\n\n我 爱 深度 学习\n";
    assert_eq!(stdout(zhuyi(&TRAINED).arg("translate").write_stdin(input)), expected);
    TRAINED.write("in.txt", input);
    assert_eq!(stdout(zhuyi(&TRAINED).args(["translate", "--input", "in.txt"])), expected);
    zhuyi(&TRAINED).args(["translate", "--input", "in.txt", "--output", "out.txt"]).assert().success().stdout("");
    assert_eq!(TRAINED.read("out.txt"), expected);
    assert_eq!(stdout(zhuyi(&TRAINED).arg("translate").write_stdin("")), "");
}

/// X8: whatever the batches, line k answers line k.
#[test]
fn blank_lines_do_not_move_translations() {
    use zhuyi::translator::Translator;
    let device = burn::tensor::Device::flex();
    let run = zhuyi::run::RunDir::find(Some(&TRAINED.path("runs/small")), Path::new("runs")).unwrap();
    let translator = Translator::open(&run, &device).unwrap();
    let known =
        ["the cat eats fish", "", "tom sleeps", "welcome to shenzhen", " ", "i love deep learning", "mary sings"];
    let source: Vec<&str> = (0..20).map(|i| known[i * 3 % known.len()]).collect();
    let told = |batch: usize| -> Vec<String> {
        let mut options = translator.options();
        options.search.batch = batch;
        let translations = translator.translate(&source, &options, 0).unwrap();
        assert!(translations.iter().enumerate().all(|(i, translation)| translation.id == i));
        translations.iter().map(|translation| translation.best().translation.clone()).collect()
    };
    let whole = told(20);
    assert_eq!((told(4), told(5)), (whole.clone(), whole.clone()));
    for (source, translation) in source.iter().zip(&whole) {
        assert_eq!(source.trim().is_empty(), translation.is_empty());
    }
    assert_eq!(whole[0], "猫 吃 鱼");
}

/// A line in gives a line out before the next one comes.
#[test]
fn standard_input_is_streamed() {
    let mut child = Process::new(PROGRAM)
        .current_dir(TRAINED.root())
        .arg("translate")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    for (sentence, expected) in
        [("the cat eats fish\n", "猫 吃 鱼\n"), ("welcome to shenzhen\n", "欢迎 来 深圳\n")]
    {
        input.write_all(sentence.as_bytes()).unwrap();
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, expected);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

/// Known fault P2: a reader that goes away is no error and no panic.
#[test]
fn a_broken_pipe_is_quiet() {
    TRAINED.write("many.txt", &"tom sleeps\n".repeat(10_000));
    for arguments in [&["translate", "--input", "many.txt", "--beam", "1"][..], &["--help"], &["config", "show"]] {
        let mut child = Process::new(PROGRAM)
            .current_dir(TRAINED.root())
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
        assert!(matches!(output.status.code(), Some(0 | 141)), "{arguments:?}: {:?}", output.status);
    }
}

#[test]
fn a_full_disk_is_told() {
    let told = stderr(zhuyi(&TRAINED).args(["translate", "tom sleeps", "--output", "/dev/full"]), 1);
    assert!(told.contains("No space left") && !told.contains("panicked"), "{told}");
    let told = stderr(zhuyi(&TRAINED).args(["train", "--run", "/dev/full/x"]), 1);
    assert!(told.starts_with("error: /dev/full/x: ") || told.contains("\nerror: /dev/full/x: "), "{told}");
}

#[test]
fn answers_for_programs() {
    let json = stdout(zhuyi(&TRAINED).args(["translate", "welcome to shenzhen", "", "--format", "json"]));
    let answers: Vec<Value> = lines(&json).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = &answers[0];
    assert_eq!(answer["source"], serde_json::json!(["welcome", "to", "shenzhen"]));
    assert_eq!(answer["target"], serde_json::json!(["欢迎", "来", "深圳"]));
    assert_eq!(
        (&answer["translation"], &answer["id"], &answer["cut"]),
        (&"欢迎 来 深圳".into(), &0.into(), &false.into())
    );
    let weights = answer["weights"].as_array().unwrap();
    assert!(weights.len() == 3 && weights.iter().all(|row| row.as_array().unwrap().len() == 3));
    assert_eq!((&answers[1]["translation"], &answers[1]["id"]), (&"".into(), &1.into()));

    // Known fault A5: rows are output tokens, columns source tokens; not square, so that a transpose shows.
    let uneven = stdout(zhuyi(&TRAINED).args(["translate", "the cat eats fish", "--format", "json"]));
    let uneven: Value = serde_json::from_str(&uneven).unwrap();
    assert_eq!(uneven["target"].as_array().unwrap().len(), 3);
    let rows = uneven["weights"].as_array().unwrap();
    assert!(rows.len() == 3 && rows.iter().all(|row| row.as_array().unwrap().len() == 4), "{uneven}");

    let ends = stdout(zhuyi(&TRAINED).args(["translate", "welcome to shenzhen", "--ends", "--format", "json"]));
    let ends: Value = serde_json::from_str(&ends).unwrap();
    assert_eq!((&ends["source"][3], &ends["target"][3]), (&"</s>".into(), &"</s>".into()));
    let sums = ends["weights"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row.as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).sum::<f64>());
    assert!(sums.into_iter().all(|sum| (sum - 1.0).abs() < 1e-5));

    let best = stdout(zhuyi(&TRAINED).args([
        "translate",
        "tom sleeps",
        "--n-best",
        "3",
        "--beam",
        "3",
        "--format",
        "json",
    ]));
    let best: Value = serde_json::from_str(&best).unwrap();
    let scores: Vec<f64> =
        best["hypotheses"].as_array().unwrap().iter().map(|h| h["score"].as_f64().unwrap()).collect();
    assert!(scores.len() == 3 && scores.windows(2).all(|pair| pair[0] >= pair[1]));
    assert_eq!(best["hypotheses"][0]["translation"], best["translation"]);

    let links = stdout(zhuyi(&TRAINED).args(["translate", "welcome to shenzhen", "--format", "pharaoh"]));
    // The strongest weight of each row, whatever this run has learnt.
    let strongest = |row: &Value| {
        let row: Vec<f64> = row.as_array().unwrap().iter().map(|weight| weight.as_f64().unwrap()).collect();
        (0..row.len()).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap()
    };
    let mut expected: Vec<(usize, usize)> =
        weights.iter().enumerate().map(|(t, row)| (strongest(row), t)).collect();
    expected.sort_unstable();
    let expected: Vec<String> = expected.iter().map(|(s, t)| format!("{s}-{t}")).collect();
    assert_eq!(links, expected.join(" ") + "\n");
    let runs: Value = serde_json::from_str(&stdout(zhuyi(&TRAINED).args(["runs", "--format", "json"]))).unwrap();
    assert_eq!((&runs["latest"], &runs["attention"]), (&true.into(), &"general".into()));
}

/// The fields that outside scripts read; what `bench --export` writes is enough to do the same elsewhere.
#[test]
fn speed_is_measured() {
    let folder = Folder::new();
    let small = ["--set", "embedding.size=8", "--set", "encoder.hidden=8", "--set", "decoder.hidden=8"];
    let bench = |more: &[&str]| stdout(zhuyi(&folder).arg("bench").args(small).args(["--steps", "2"]).args(more));
    let told: Value = serde_json::from_str(&bench(&["--sentences", "3", "--format", "json"])).unwrap();
    for field in [
        "/product_gflops",
        "/train/target_tokens_per_second",
        "/train/arithmetic_utilisation",
        "/translate/greedy_sentences_per_second",
        "/translate/beam5_sentences_per_second",
    ] {
        assert!(told.pointer(field).and_then(Value::as_f64).unwrap() > 0.0, "{field}: {told}");
    }
    assert!(told.pointer("/train/peak_rss_mib").is_some());
    bench(&["--export", "out"]);
    let batches = folder.read("out/batches.jsonl");
    assert_eq!(batches.lines().count(), 2);
    let first: Value = serde_json::from_str(batches.lines().next().unwrap()).unwrap();
    assert_eq!(first["source"].as_array().unwrap().len(), first["target"].as_array().unwrap().len());
    assert!(first["rate"].as_f64().unwrap() > 0.0 && folder.path("out/model.safetensors").exists());
}

/// Eight bits may change a word; a trained model's translations of its own sentences stay.
#[test]
fn translates_in_eight_bits() {
    let translate = |more: &[&str]| {
        stdout(zhuyi(&TRAINED).args(["translate", "welcome to shenzhen", "the cat eats fish"]).args(more))
    };
    assert_eq!(translate(&["--int8"]), translate(&[]));
}

#[test]
fn evaluation_of_a_run_and_of_files() {
    let json = stdout(zhuyi(&TRAINED).args(["evaluate", "--format", "json"]));
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(answer["sentences"], 500);
    assert!(answer["bleu"]["score"].as_f64().unwrap() > 80.0, "{answer}");
    assert_eq!(answer["bleu"]["signature"], "nrefs:1|case:mixed|eff:no|tok:zh|smooth:exp|version:2.6.0");
    assert!(answer["alignment"]["aer"].as_f64().unwrap() < 0.3, "{answer}");
    assert_eq!(answer["by_length"][0]["from"], 1);

    let folder = Folder::new();
    folder.write("hyp", "我们今天去图书馆看书。\n她喜欢红茶。\n");
    folder.write("ref", "我们明天去图书馆看书。\n她喜欢绿茶。\n");
    folder.write("short", "我们明天去图书馆看书。\n");
    let arguments = ["evaluate", "--hypothesis", "hyp", "--reference", "ref", "--format", "json"];
    let score = |more: &[&str]| {
        let answer: Value = serde_json::from_str(&stdout(zhuyi(&folder).args(arguments).args(more))).unwrap();
        answer["bleu"]["score"].as_f64().unwrap()
    };
    assert!((score(&["--target-language", "zh"]) - 63.08).abs() < 0.005);
    assert_eq!(score(&["--tokenize", "13a"]), 0.0);
    let told = stderr(zhuyi(&folder).args(["evaluate", "--hypothesis", "hyp", "--reference", "short"]), 1);
    assert!(told.contains("2 lines") && told.contains("has 1"), "{told}");
}

#[test]
fn links_are_scored_with_and_without_a_model() {
    let folder = Folder::new();
    folder.write("system", "0-0 1-3 2-1 4-4\n");
    folder.write("gold", "0-0 1-3 2p1 2p2\n");
    folder.write("one-based", "1-1 2-4\n");
    let arguments = ["align", "--links", "system", "--gold", "gold", "--format", "json"];
    let answer: Value = serde_json::from_str(&stdout(zhuyi(&folder).args(arguments))).unwrap();
    assert!((answer["aer"].as_f64().unwrap() - 1.0 / 6.0).abs() < 1e-12);
    assert_eq!(answer["links"], 4);
    let told = zhuyi(&folder).args(["align", "--links", "one-based", "--gold", "gold"]).assert().success();
    let told = String::from_utf8(told.get_output().stderr.clone()).unwrap();
    assert!(told.contains("one-based: no word has the index 0") && told.contains("--index-base 1"), "{told}");

    TRAINED.write(
        "pairs.tsv",
        "the cat eats fish\t猫 吃 鱼\t0p0 1-0 2-1 3-2\nwelcome to shenzhen\t欢迎 来 深圳\t0-0 1-1 2-2\n",
    );
    let output = zhuyi(&TRAINED).args(["align", "--tsv", "pairs.tsv"]).assert().success();
    let (links, told) = (output.get_output().stdout.clone(), output.get_output().stderr.clone());
    let (links, told) = (String::from_utf8(links).unwrap(), String::from_utf8(told).unwrap());
    let gold = ["0p0 1-0 2-1 3-2", "0-0 1-1 2-2"].map(|gold| SentenceLinks::parse(gold, 0).unwrap());
    let ours = lines(&links).into_iter().map(|links| SentenceLinks::parse(links, 0).unwrap());
    let counts: AlignmentErrorRate = ours.zip(&gold).map(|(ours, gold)| AlignmentErrorRate::of(&ours, gold)).sum();
    assert!(told.starts_with(&format!("AER {:.4}", counts.aer())), "{told}");
    assert!(told.ends_with("one link a target word: AER 0.0000\n"), "{told}");
    TRAINED.write("bad.tsv", "tom sleeps\t汤姆 睡觉\t0-0 2-1\n");
    let told = stderr(zhuyi(&TRAINED).args(["align", "--tsv", "bad.tsv"]), 1);
    assert!(told.starts_with("error: bad.tsv:1: link 2-1 is outside the pair of 2 and 2 words"), "{told}");
}

#[test]
fn pictures_are_drawn() {
    let arguments = ["translate", "the cat eats fish", "tom sleeps", "--plot", "plot-{n}.svg"];
    zhuyi(&TRAINED).args(arguments).assert().success();
    let svg = TRAINED.read("plot-1.svg");
    let document = roxmltree::Document::parse(&svg).unwrap();
    let texts: Vec<&str> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    for label in ["the", "cat", "eats", "fish", "猫", "吃", "鱼"] {
        assert!(texts.contains(&label), "{label} is missing in {texts:?}");
    }
    assert!(TRAINED.path("plot-2.svg").exists());
    zhuyi(&TRAINED).args(["translate", "tom sleeps", "--plot", "plot.png"]).assert().success();
    assert!(std::fs::read(TRAINED.path("plot.png")).unwrap().starts_with(b"\x89PNG"));
    let told = stderr(zhuyi(&TRAINED).args(["translate", "tom sleeps", "mary sings", "--plot", "plot.svg"]), 2);
    assert!(told.contains("plot-{n}.svg"), "{told}");
    let json = stdout(zhuyi(&TRAINED).args(["translate", "the cat eats fish", "tom sleeps", "--format", "json"]));
    TRAINED.write("told.json", &json);
    for kind in ["heatmap", "lines"] {
        let out = format!("{kind}-{{n}}.svg");
        zhuyi(&TRAINED).args(["plot", kind, "told.json", "--out", &out]).assert().success();
        assert!(
            TRAINED.read(&format!("{kind}-1.svg")).contains("fish")
                && TRAINED.path(&format!("{kind}-2.svg")).exists()
        );
        let told = stderr(zhuyi(&TRAINED).args(["plot", kind, "told.json", "--out", "one.svg"]), 2);
        assert!(told.contains("one-{n}.svg"), "{told}");
    }
    assert_eq!(TRAINED.read("heatmap-1.svg"), TRAINED.read("plot-1.svg"), "from JSON alone");
    TRAINED.write("bad.json", "\n{\"source\": [\"a\"], \"target\": [\"b\"], \"weights\": [[0.5, 0.5]]}\n");
    let told = stderr(zhuyi(&TRAINED).args(["plot", "lines", "bad.json"]), 1);
    assert_eq!(told, "error: bad.json:2: weights must be 1 rows (target) of 1 numbers (source), heads too\n");
    TRAINED.write("bad.json", "no json\n");
    let told = stderr(zhuyi(&TRAINED).args(["plot", "lines", "bad.json"]), 1);
    assert!(told.starts_with("error: bad.json:1: not an alignment as --format json tells it"), "{told}");
    let told = stderr(zhuyi(&TRAINED).args(["translate", "tom sleeps", "--plot", "plot.gif"]), 2);
    assert!(told.contains(".svg, .png or .html"), "{told}");
}

/// Known fault P4: a run can be moved, without its data, and knows no absolute path.
#[test]
fn a_run_can_be_moved() {
    let folder = Folder::new();
    folder.write("train.tsv", "a b\tx y\nb a\ty x\na\tx\nb\ty\n");
    let arguments = [
        "train",
        "--quiet",
        "--run",
        "here/run",
        "--set",
        "data.train=train.tsv",
        "--set",
        "data.dev=train.tsv",
        "--set",
        "train.max_steps=3",
    ];
    zhuyi(&folder).args(arguments).assert().success();
    std::fs::create_dir(folder.path("there")).unwrap();
    std::fs::rename(folder.path("here/run"), folder.path("there/moved")).unwrap();
    std::fs::remove_file(folder.path("train.tsv")).unwrap();
    let elsewhere = Folder::new();
    let moved = folder.path("there/moved");
    zhuyi(&elsewhere).args(["translate", "a b", "--run", moved.to_str().unwrap()]).assert().success();
    for name in ["config.toml", "manifest.json", "log.jsonl", "tokenizer/source.json"] {
        let text = folder.read(&format!("there/moved/{name}"));
        assert!(!text.contains(folder.path("").to_str().unwrap()), "{name}");
    }
    std::fs::remove_file(moved.join("tokenizer/target.json")).unwrap();
    let told = stderr(zhuyi(&elsewhere).args(["translate", "a", "--run", moved.to_str().unwrap()]), 1);
    assert!(told.contains("tokenizer/target.json"), "{told}");
}

/// Known fault T10: a tokenizer that is not the model's own is refused, larger or of the same size.
#[test]
fn a_foreign_tokenizer_is_refused() {
    let folder = Folder::new();
    let copy = |name: &str| {
        std::fs::create_dir_all(folder.path("run/tokenizer")).unwrap();
        std::fs::copy(TRAINED.path(&format!("runs/small/{name}")), folder.path(&format!("run/{name}"))).unwrap();
    };
    for name in
        ["config.toml", "manifest.json", "model.safetensors", "tokenizer/source.json", "tokenizer/target.json"]
    {
        copy(name);
    }
    let translate = ["translate", "tom sleeps", "--run", "run"];
    zhuyi(&folder).args(translate).assert().success();
    let json = folder.read("run/tokenizer/target.json");
    let exchanged = json.replace("\"猫\"", "\"\u{1}\"").replace("\"狗\"", "\"猫\"").replace("\"\u{1}\"", "\"狗\"");
    assert_ne!(exchanged, json);
    for wrong in [exchanged, folder.read("run/tokenizer/source.json")] {
        folder.write("run/tokenizer/target.json", &wrong);
        let told = stderr(zhuyi(&folder).args(translate), 1);
        assert!(told.contains("not the tokenizer that this model was trained with"), "{told}");
    }
    copy("tokenizer/target.json");
    folder
        .write("run/manifest.json", &folder.read("run/manifest.json").replace("\"format\": 1", "\"format\": 99"));
    let told = stderr(zhuyi(&folder).args(translate), 1);
    assert!(told.contains("run format 99") && told.contains("reads format 1"), "{told}");
    copy("manifest.json");
    std::fs::write(folder.path("run/model.safetensors"), b"nothing").unwrap();
    let told = stderr(zhuyi(&folder).args(translate), 1);
    assert!(told.contains("model.safetensors") && !told.contains("panicked"), "{told}");
}

#[test]
fn mistakes_are_one_clear_line() {
    let folder = Folder::new();
    let told = |arguments: &[&str], code| {
        let told = stderr(zhuyi(&folder).args(arguments), code);
        assert_eq!(lines(&told).len(), 1, "{told}");
        told
    };
    assert!(told(&["translate", "hello"], 1).contains("train one with `zhuyi train`"));
    assert!(told(&["train", "--config", "no.toml"], 1).starts_with("error: no.toml: "));
    folder.write("bad.toml", "[train]\nmax_step = 3\n");
    let message = told(&["train", "--config", "bad.toml"], 1);
    assert!(
        message.starts_with("error: bad.toml:2: unknown key `max_step`: did you mean `max_steps`?"),
        "{message}"
    );
    assert!(told(&["train", "--set", "train.max_step=3"], 2).contains("did you mean `max_steps`?"));
    assert!(told(&["train", "--device", "gpu9"], 2).contains("it has: cpu, ndarray, auto"));
    assert!(told(&["train", "--set", "data.train=x.tsv"], 1).contains("data.dev is the toy corpus"));
    let own = ["train", "--set", "data.train=${ZHUYI_DATA}/x.tsv", "--set", "data.dev=y.tsv"];
    let message = told(&own, 1);
    assert!(message.contains("ZHUYI_DATA is not set") && message.contains("Multi30k"), "{message}");
    assert!(
        told(&["train", "--attention", "dot", "--set", "decoder.hidden=100"], 1)
            .contains("make decoder.hidden 128")
    );
    assert!(told(&["train", "--set", "train.batch_tokens=100"], 1).contains("can't both be set"));
    folder.write("five", "1\n2\n3\n4\n5\n");
    folder.write("four", "1\n2\n3\n4\n");
    folder.write("y.tsv", "a\tb\n");
    for command in [
        &["train", "--set", "data.train=[\"five\", \"four\"]", "--set", "data.dev=y.tsv"][..],
        &["align", "--source", "five", "--target", "four"],
        &["data", "check", "five", "four"],
    ] {
        let message = told(command, 1);
        assert!(message.contains("5 lines") && message.contains("has 4"), "{message}");
    }
    assert!(!folder.path("runs").exists(), "a mistake must leave nothing behind");
    folder.write("kept", "");
    std::fs::create_dir(folder.path("full")).unwrap();
    folder.write("full/mine", "precious");
    let quiet = ["train", "--quiet", "--run", "full"];
    assert!(told(&quiet, 1).contains("there is something in this directory already"));
    assert_eq!(folder.read("full/mine"), "precious");
    zhuyi(&folder).args(["train", "--attention", "lunog"]).assert().code(2);
}

/// Known fault P10's first half: the best model so far is kept, and the exit code says what happened.
#[cfg(unix)]
#[test]
fn interrupted_training_keeps_its_best_model() {
    let folder = Folder::new();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let run = format!("run{signal}");
        let mut child = Process::new(PROGRAM)
            .current_dir(folder.root())
            .args(["train", "--run", &run, "--set", "train.validate_every=5", "--set", "train.max_epochs=1000"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let model = folder.path(&format!("{run}/model.safetensors"));
        while !model.exists() {
            assert!(child.try_wait().unwrap().is_none(), "ended by itself");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        Process::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("interrupted: "));
        zhuyi(&folder).args(["translate", "tom sleeps", "--run", &run]).assert().success();
    }
}

/// The same seed gives the same numbers, another seed others. In processes of their own: a device's seed is the
/// process's.
#[test]
fn training_repeats_by_seed() {
    let folder = Folder::new();
    let trace = |attention: &str, run: &str, seed: &str| {
        let run = format!("{attention}-{run}");
        let arguments = [
            "train",
            "-q",
            "--attention",
            attention,
            "--run",
            &run,
            "--seed",
            seed,
            "--set",
            "train.max_steps=8",
            "--set",
            "train.report_every=1",
        ];
        zhuyi(&folder).args(arguments).assert().success();
        let log = folder.read(&format!("{run}/log.jsonl"));
        let events = lines(&log).into_iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let told = events.filter(|event| event["event"] == "progress");
        told.map(|event| [event["loss"].to_string(), event["gradient_norm"].to_string()]).collect::<Vec<_>>()
    };
    for attention in ["general", "hard", "gumbel"] {
        let first = trace(attention, "a", "1");
        assert_eq!(first.len(), 8);
        assert_eq!(trace(attention, "b", "1"), first);
        assert_ne!(trace(attention, "c", "2"), first);
    }
}

#[test]
fn the_toy_corpus_is_written_byte_for_byte() {
    let folder = Folder::new();
    zhuyi(&folder).args(["data", "toy", "--seed", "1", "--out", "toy"]).assert().success();
    let names = ["train.tsv", "dev.tsv", "test.tsv"];
    for name in names.map(str::to_owned).into_iter().chain(names.map(|name| format!("long/{name}"))) {
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/toy").join(&name);
        assert!(folder.read(&format!("toy/{name}")) == std::fs::read_to_string(shipped).unwrap(), "{name}");
    }
    let told = stdout(zhuyi(&folder).args(["data", "check", "toy/train.tsv"]));
    assert_eq!(told, "5000 of 5000 pairs\n");
}

/// A run trained on one device translates alike on another; both directions train.
#[test]
fn devices_agree_and_the_reverse_direction_trains() {
    let translate = |device: &str| {
        stdout(zhuyi(&TRAINED).args([
            "translate",
            "the cat eats fish",
            "tom sleeps in the park",
            "--device",
            device,
        ]))
    };
    assert_eq!(translate("cpu"), translate("ndarray"));
    assert_eq!(translate("cpu"), translate("auto"));
    let folder = Folder::new();
    let arguments =
        ["train", "--quiet", "--device", "ndarray", "--set", "data.reverse=true", "--set", "train.max_steps=3"];
    zhuyi(&folder).args(arguments).assert().success();
    let runs: Value = serde_json::from_str(&stdout(zhuyi(&folder).args(["runs", "--format", "json"]))).unwrap();
    assert_eq!((&runs["source_language"], &runs["target_language"]), (&"zh".into(), &"en".into()));
    zhuyi(&folder).args(["translate", "猫 吃 鱼"]).assert().success();
}

/// A build that can't let processes work together refuses to do the same several times; one process is no company.
#[cfg(not(feature = "mpi"))]
#[test]
fn several_processes_are_refused_by_a_build_that_cannot_meet_them() {
    let folder = Folder::new();
    let started = |processes: &str, rank: &str| {
        let mut command = zhuyi(&folder);
        command.args(["config", "show"]).env("OMPI_COMM_WORLD_SIZE", processes).env("OMPI_COMM_WORLD_RANK", rank);
        command
    };
    let told = stderr(&mut started("2", "0"), 1);
    assert!(told.starts_with("error: started as 2 processes") && told.contains("--features mpi"), "{told}");
    assert_eq!(stderr(&mut started("2", "1"), 1), "");
    assert!(stdout(&mut started("1", "0")).contains("[train]"));
}
