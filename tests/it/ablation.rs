//! `zhuyi ablate` as a person meets it, and its report in a browser.

use std::path::Path;
use std::process::{Command as Process, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::browser::chromium;
use crate::person::{Folder, stderr, stdout, zhuyi};

/// Small models and few updates.
const SMALL: [&str; 12] = [
    "--set",
    "embedding.size=16",
    "--set",
    "encoder.hidden=16",
    "--set",
    "decoder.hidden=32",
    "--set",
    "attention.size=16",
    "--set",
    "train.max_epochs=1",
    "--set",
    "search.beam=1",
];

fn small(folder: &Folder, arguments: &[&str]) -> assert_cmd::Command {
    let mut command = zhuyi(folder);
    command.arg("ablate").args(arguments).args(SMALL);
    command
}

/// What the source holds that a page must show as text (known fault P8), and Chinese.
const HOSTILE: [&str; 5] = [
    "a\" onmouseover=\"alert(1)",
    "<script>alert(1)</script>",
    "R&D <3",
    "x\u{1}y `code` *bold* |cell|",
    "我爱北京",
];

/// A folder with an ablation of data that no page expects, several variants and seeds.
static ODD: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new();
    let pair = |i: usize| {
        let (words, text) = (["the cat", "a dog", "my fish"][i % 3], HOSTILE.join(" "));
        let [eats, eat] = ["eats ", "吃 "].map(|word| word.repeat(i % 9));
        format!("{words} {eats}{text}\t猫 {eat}{text}\n")
    };
    for (name, pairs) in [("train.tsv", 0..90), ("dev.tsv", 90..110), ("test.tsv", 110..160)] {
        folder.write(name, &pairs.map(pair).collect::<String>());
    }
    let text = include_str!("../../configs/long.toml");
    let config = ["train", "dev", "test"]
        .iter()
        .fold(text.to_owned(), |text, part| text.replace(&format!("toy:long/{part}"), &format!("{part}.tsv")));
    folder.write("odd.toml", &config);
    let arguments = ["--config", "odd.toml", "--attention", "none,additive,linear,location,multi-head"];
    let more = ["--seeds", "2", "--sizes", "16,64", "--set", "attention.size=16"];
    small(&folder, &[&arguments[..], &more].concat()).assert().success();
    folder
});

fn json(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

#[test]
fn rows_hold_what_scripts_read() {
    let rows = json(&ODD, "ablation/odd/results.json");
    let rows = rows.as_array().unwrap();
    let told: Vec<(&str, u64)> =
        rows.iter().map(|row| (row["variant"].as_str().unwrap(), row["seed"].as_u64().unwrap())).collect();
    let names = ["none", "none-wide", "none-16", "none-64", "additive", "linear", "location", "multi-head"];
    let right: Vec<(&str, u64)> = [1, 2].iter().flat_map(|&seed| names.map(|name| (name, seed))).collect();
    assert_eq!(told, right);
    let by_name = |name: &str| rows.iter().find(|row| row["variant"] == name).unwrap();
    let parameters = |name: &str| by_name(name)["parameters"].as_u64().unwrap();
    let most = ["additive", "linear", "location", "multi-head"].map(parameters).into_iter().max().unwrap();
    assert!(parameters("none-wide") >= most && parameters("none") < most);
    assert_eq!(
        ["none", "none-16", "none-64"].map(|name| by_name(name)["context"].as_u64().unwrap()),
        [32, 16, 64]
    );
    for row in rows {
        for key in ["bleu", "chrf", "exact_match", "loss", "perplexity"] {
            assert!(row[key].is_f64(), "{key}");
        }
        // No gold links, and no single right answer.
        assert!(row["aer"].is_null() && row["token_accuracy"].is_null());
        assert_eq!(row["entropy"].is_null(), row["attention"] == "none");
        assert_eq!(row["train"]["steps"], 90_u64.div_ceil(32), "the same budget for all");
        assert_eq!(row["train"]["curve"].as_array().unwrap().len(), 1);
        let sentences: u64 =
            row["by_length"].as_array().unwrap().iter().map(|bin| bin["sentences"].as_u64().unwrap()).sum();
        assert_eq!((sentences, &row["sentences"]), (50, &Value::from(50)));
        let bytes = serde_json::to_string(row).unwrap();
        assert!(!bytes.contains("seconds"), "times stand apart");
    }
    let times = json(&ODD, "ablation/odd/timings.json");
    assert_eq!(times.as_array().unwrap().len(), rows.len());
    assert!(times[0]["train_seconds"].as_f64().unwrap() > 0.0);
    // Every two of eight variants, over all lengths and over the longest.
    assert_eq!(json(&ODD, "ablation/odd/comparisons.json").as_array().unwrap().len(), 8 * 7);
    let table = ODD.read("ablation/odd/results.csv");
    let columns = table.lines().next().unwrap().split(',').count();
    assert!(table.lines().all(|line| line.split(',').count() == columns));
}

/// After a kill, finished runs are used again, the unfinished one starts anew, and the figures are those of an ablation
/// that nobody stopped.
#[test]
fn a_killed_ablation_goes_on_where_it_was() {
    let folder = Folder::new();
    small(&folder, &["--quick", "--out", "straight"]).assert().success();
    let mut killed = Process::new(env!("CARGO_BIN_EXE_zhuyi"))
        .current_dir(folder.path(""))
        .args(["ablate", "--quick", "--out", "killed"])
        .args(SMALL)
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let run = |name: &str| {
        let mut runs = std::fs::read_dir(folder.path("killed/runs")).into_iter().flatten().flatten();
        runs.find(|entry| entry.file_name().to_string_lossy().starts_with(name)).map(|entry| entry.path())
    };
    let started = Instant::now();
    while !run("none-wide-1-").is_some_and(|path| path.join("log.jsonl").exists()) {
        assert!(started.elapsed() < Duration::from_secs(120), "the second run never began");
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let finished = run("none-1-").unwrap();
    let unfinished = run("none-wide-1-").unwrap();
    assert!(finished.join("judgement.json").exists() && !unfinished.join("judgement.json").exists());
    let written = |path: &Path| std::fs::metadata(path.join("model.safetensors")).unwrap().modified().unwrap();
    let before = written(&finished);
    let told = stderr(&mut small(&folder, &["--quick", "--out", "killed"]), 0);
    assert_eq!(told.matches("done before").count(), 1, "{told}");
    assert_eq!(written(&finished), before);
    for name in ["results.json", "comparisons.json", "results.csv"] {
        assert_eq!(folder.read(&format!("killed/{name}")), folder.read(&format!("straight/{name}")), "{name}");
    }
    // Another config is another run; what was there stays.
    let told = stderr(&mut small(&folder, &["--quick", "--out", "killed", "--set", "train.seed=7"]), 0);
    assert!(!told.contains("done before"), "{told}");
    assert_eq!(std::fs::read_dir(folder.path("killed/runs")).unwrap().count(), 6 + 1, "with the lock");
}

#[test]
fn what_cannot_be_meant_is_told_before_anything_is_trained() {
    let folder = Folder::new();
    for (arguments, code, message) in [
        (&["--attention", "genral"][..], 2, "general"),
        (&["--quick", "--config", "reverse"], 2, "--config"),
        (&["--seeds", "0"], 2, "0"),
        (&["--sizes", "63"], 2, "even"),
        (&["--attention", "general", "--sizes", "64"], 2, "add none"),
        (&["--set", "train.epochs=3"], 2, "max_epochs"),
        (
            &["--set", "attention.max_positions=20", "--attention", "none,location"],
            1,
            "location: the data has sources",
        ),
        (&["--set", "search.max_source=40"], 1, "none: pair"),
        (&["--config", "no.toml"], 1, "no.toml"),
    ] {
        let told = stderr(zhuyi(&folder).args(["ablate", "--out", "out"]).args(arguments), code);
        assert!(told.contains(message), "{arguments:?}: {told}");
        let runs = std::fs::read_dir(folder.path("out/runs"));
        assert!(!runs.into_iter().flatten().flatten().any(|run| run.path().is_dir()), "{arguments:?}");
    }
    // Nothing of somebody else's is written over.
    folder.write("report.md", "mine");
    let told = stderr(zhuyi(&folder).args(["ablate", "--quick", "--out", "."]), 1);
    assert!(told.contains("no ablation's") && folder.read("report.md") == "mine", "{told}");
}

/// Known fault P8: whatever the data holds, pages and pictures are well-formed and show it as text.
#[test]
fn reports_show_any_text_as_text() {
    for name in ["index.html", "index.zh.html"] {
        let page = ODD.read(&format!("ablation/odd/report/{name}"));
        let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
        let document = roxmltree::Document::parse_with_options(&page, options).unwrap();
        for node in document.descendants() {
            assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{name}");
            assert!(!["script", "img", "link", "iframe"].contains(&node.tag_name().name()), "{name}");
            let loads = |name: &str| node.attribute(name).is_some_and(|to| to.contains("//"));
            assert!(!loads("href") && !loads("src"), "{name} reaches out");
        }
        let texts: String =
            document.descendants().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect();
        for text in HOSTILE.map(|text| text.replace('\u{1}', "\u{FFFD}")) {
            assert!(texts.contains(&text), "{name}: {text}");
        }
    }
    let figures = std::fs::read_dir(ODD.path("ablation/odd/report/figures")).unwrap();
    let mut pictures = 0;
    for path in figures.map(|entry| entry.unwrap().path()).filter(|path| path.extension().unwrap() == "svg") {
        assert!(
            roxmltree::Document::parse(&std::fs::read_to_string(&path).unwrap()).is_ok(),
            "{}",
            path.display()
        );
        assert!(std::fs::read(path.with_extension("png")).unwrap().starts_with(b"\x89PNG"), "{}", path.display());
        pictures += 1;
    }
    // In two languages: four charts, and of each sentence shown the four variants that look.
    assert!(pictures >= 2 * (4 + 4), "{pictures}");
    let markdown = ODD.read("ablation/odd/report.md");
    assert!(markdown.contains("&lt;script&gt;") && !markdown.contains("<script>"), "{markdown}");
    for line in markdown.lines().filter(|line| line.starts_with("![")) {
        let file = line.rsplit_once('(').unwrap().1.trim_end_matches(')');
        assert!(ODD.path("ablation/odd").join(file).is_file(), "{file}");
    }
}

/// `plot curves` draws the report's pictures from its figures alone, and learning curves from runs.
#[test]
fn pictures_come_from_the_figures_alone() {
    let results = ["plot", "curves", "ablation/odd/results.json"];
    for (show, name) in
        [("length", "length"), ("loss", "learning-loss"), ("bleu", "learning-bleu"), ("sizes", "sizes")]
    {
        for (language, ending) in [("en", ""), ("zh", ".zh")] {
            zhuyi(&ODD)
                .args(results)
                .args(["--show", show, "--language", language, "--out", "it.svg"])
                .assert()
                .success();
            assert_eq!(
                ODD.read("it.svg"),
                ODD.read(&format!("ablation/odd/report/figures/{name}{ending}.svg")),
                "{name}"
            );
        }
    }
    // A variant has one colour, whatever stands before it in a picture.
    let colour = |name: &str, label: &str| {
        let svg = ODD.read(&format!("ablation/odd/report/figures/{name}.svg"));
        let document = roxmltree::Document::parse(&svg).unwrap();
        let label =
            document.descendants().find(|node| node.has_tag_name("text") && node.text() == Some(label)).unwrap();
        let line = label.prev_siblings().find(|node| node.has_tag_name("polyline")).unwrap();
        line.attribute("stroke").unwrap().to_owned()
    };
    assert_eq!(colour("sizes", "additive (32)"), colour("length", "additive"));
    assert_ne!(colour("length", "additive"), colour("length", "linear"));
    let runs = std::fs::read_dir(ODD.path("ablation/odd/runs")).unwrap().map(|entry| entry.unwrap().path());
    let run = runs.filter(|path| path.is_dir()).min().unwrap();
    zhuyi(&ODD).args(["plot", "curves", "--out", "run.svg"]).arg(&run).assert().success();
    assert!(ODD.read("run.svg").contains(&*run.file_name().unwrap().to_string_lossy()));
    let told = stderr(zhuyi(&ODD).args(["plot", "curves", "--show", "length"]).arg(&run), 2);
    assert!(told.contains("--show loss or bleu"), "{told}");
    // Of two ablations, what has one name is not one variant.
    let two = ["plot", "curves", "ablation/odd/results.json", "ablation/odd/results.json", "--out", "two.svg"];
    zhuyi(&ODD).args(two).assert().success();
    assert!(ODD.read("two.svg").contains(">odd: additive<"));
    let told = stderr(zhuyi(&ODD).args(["plot", "curves", "test.tsv"]), 1);
    assert!(told.contains("test.tsv: not the results.json"), "{told}");
}

/// Gold links travel with alignments as JSON, so that a picture can frame them.
#[test]
fn gold_links_are_in_the_json_and_in_the_picture() {
    let run = std::fs::read_dir(ODD.path("ablation/odd/runs")).unwrap().map(|entry| entry.unwrap().path());
    let run = run.filter(|path| path.to_string_lossy().contains("additive-1-")).min().unwrap();
    ODD.write("gold.tsv", "the cat eats\t猫 吃\t1-0 2p1\n");
    let align = ["align", "--tsv", "gold.tsv", "--format", "json", "--run"];
    let told = stdout(zhuyi(&ODD).args(align).arg(&run));
    let line = told.lines().next().unwrap();
    assert_eq!(serde_json::from_str::<Value>(line).unwrap()["gold"], "1-0 2p1");
    ODD.write("gold.json", line);
    zhuyi(&ODD).args(["plot", "heatmap", "gold.json", "--out", "gold.svg"]).assert().success();
    assert_eq!(ODD.read("gold.svg").matches("class=\"frame\"").count(), 2);
}

/// What a browser finds wrong with a page, at a width, on a light or a dark screen.
fn faults(browser: &str, page: &str, width: u32, dark: bool) -> Vec<String> {
    let folder = Folder::new();
    let script = format!("{}{}", include_str!("page_check.js"), ON_LOAD.replace("DARK", &dark.to_string()));
    let watched = page.replacen("<head>", &format!("<head><script>{script}</script>"), 1);
    folder.write("page.html", &watched);
    let output = Process::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=3000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.path("profile").display()))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .arg(format!("--window-size={width},900"))
        .arg(format!("file://{}", folder.path("page.html").display()))
        .output()
        .unwrap();
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split_once("data-faults=\"").and_then(|(_, rest)| rest.split_once('"'));
    let (found, _) = found.unwrap_or_else(|| panic!("no verdict: {}", String::from_utf8_lossy(&output.stderr)));
    let found = found.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    serde_json::from_str(&found).unwrap()
}

/// Leaves what is wrong, as a list, in the body's `data-faults`.
const ON_LOAD: &str = "
addEventListener('error', event => faults.push('error: ' + event.message));
addEventListener('load', () => {
  try {
    check(DARK);
  } catch (why) {
    faults.push('the check failed: ' + why);
  }
  document.body.setAttribute('data-faults', JSON.stringify(faults));
});";

/// Known faults A8 and P8, and that pages fit their screens: no missing glyph, no overflow, no script error, in both
/// languages, on light and dark screens, on a desk and on a telephone.
#[test]
fn a_browser_finds_no_fault_in_reports() {
    let Some(browser) = chromium() else { return };
    for name in ["index.html", "index.zh.html"] {
        let page = ODD.read(&format!("ablation/odd/report/{name}"));
        for (width, dark) in [(1280, false), (1280, true), (500, true)] {
            assert_eq!(faults(&browser, &page, width, dark), [""; 0], "{name}, {width} pixels, dark: {dark}");
        }
    }
    // It does find them where they are.
    let wrong = "<!DOCTYPE html><html><head></head><body style=\"background:#fff\"><div style=\"width:3000px\">x</div>\
                 <p>\u{378}</p><svg class=\"zhuyi\" width=\"20\" height=\"20\"><text x=\"15\" y=\"15\">outside</text>\
                 <text x=\"0\" y=\"10\">one</text><text x=\"2\" y=\"10\">upon</text></svg>\
                 <script>nothing.here()</script></body></html>";
    let found = faults(&browser, wrong, 1280, true).join("\n");
    for fault in
        ["the page is 3", "no glyph for U+378", "leaves its picture", "lie on each other", "error", "not dark"]
    {
        assert!(found.contains(fault), "{fault} in {found}");
    }
}
