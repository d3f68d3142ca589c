//! The page, as a person meets it: each view in a real browser. What is done and seen is in `tests/page/*.mjs`.

use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use super::browser::chromium;
use super::http::Served;
use super::person::{Folder, stdout, zhuyi};

/// The single vector, two ways to look, eight heads, and the way back.
const RUNS: [(&str, &[&str]); 5] = [
    ("general", &["--attention", "general"]),
    ("additive", &["--attention", "additive"]),
    ("none", &["--attention", "none"]),
    ("multi-head", &["--attention", "multi-head"]),
    ("zh-en", &["--set", "data.reverse=true"]),
];

static TRAINED: LazyLock<Folder> = LazyLock::new(|| {
    let folder = Folder::new();
    for (run, settings) in RUNS {
        let run = format!("runs/{run}");
        let steps = ["--set", "train.max_steps=400", "--set", "train.learning_rate=5e-3"];
        zhuyi(&folder).args(["train", "--run", &run]).args(steps).args(settings).assert().success();
    }
    folder
});

/// Where Playwright is: `ZHUYI_PLAYWRIGHT` names the folder that npm has installed `playwright-core` into. Without it a test says
/// so and passes; under `ZHUYI_REQUIRE_BROWSER` (CI) it fails.
fn playwright() -> Option<PathBuf> {
    let module = std::env::var_os("ZHUYI_PLAYWRIGHT")
        .map(|folder| PathBuf::from(folder).join("node_modules/playwright-core/index.mjs"));
    if let Some(module) = module.filter(|module| module.is_file()) {
        return Some(module);
    }
    assert!(
        std::env::var_os("ZHUYI_REQUIRE_BROWSER").is_none(),
        "ZHUYI_PLAYWRIGHT names no folder with playwright-core"
    );
    eprintln!("skipped: no playwright-core (set ZHUYI_PLAYWRIGHT)");
    None
}

/// A person does what a script says, at a server of their own.
fn visit(script: &str, runs: &[&str], arguments: &[&str]) {
    let (Some(chromium), Some(playwright)) = (chromium(), playwright()) else { return };
    let runs: Vec<String> = runs.iter().flat_map(|run| ["--run".into(), format!("runs/{run}")]).collect();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let served = Served::start(&TRAINED, &[&runs, arguments].concat());
    let output = Command::new("node")
        .arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("tests/page/{script}.mjs")))
        .env("ZHUYI_ADDRESS", format!("http://{}", served.address))
        .env("ZHUYI_SERVER", served.id().to_string())
        .env("ZHUYI_PLAYWRIGHT_MODULE", playwright)
        .env("CHROMIUM", chromium)
        .output()
        .expect("node is there");
    let told = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "{script}: {}", String::from_utf8_lossy(&told));
}

const ALL: [&str; 5] = ["general", "additive", "none", "multi-head", "zh-en"];

#[test]
fn a_sentence_and_where_its_words_look() {
    let right = stdout(zhuyi(&TRAINED).args(["translate", "--run", "runs/general", "the dog drinks water"]));
    assert!(right.trim().starts_with("狗"), "{right}");
    visit("look", &ALL, &[]);
}

#[test]
fn steps_are_gone_through_and_changed() {
    visit("steps", &ALL, &[]);
}

#[test]
fn a_beam_is_a_tree() {
    visit("tree", &ALL, &[]);
}

#[test]
fn two_models_stand_side_by_side() {
    visit("compare", &ALL, &[]);
}

#[test]
fn every_lesson_is_a_page() {
    visit("lessons", &ALL, &[]);
}

#[test]
fn training_is_watched() {
    visit("runs", &ALL, &[]);
}

/// Languages, keyboard, light and dark, a telephone; what is typed stays when something fails.
#[test]
fn whoever_comes_finds_their_way() {
    visit("frame", &ALL, &["--max-characters", "2000"]);
}

#[test]
fn a_key_is_asked_for_where_one_is_needed() {
    TRAINED.write("keys.txt", "open sesame\n");
    visit("key", &["general"], &["--api-keys", "keys.txt"]);
}
