//! Training that is stopped, killed, or out of room, and goes on: as if nothing had been.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use zhuyi::hash::sha256_hex;
use zhuyi::rng::Rng;

use super::person::{Folder, PROGRAM, stderr, stdout, zhuyi};

/// A small model of everything that a state can hold: dropout, a moving average, a plateau, kept models, several batches an
/// update, draws with a baseline; data that goes through a file; epochs of 79 updates.
const SMALL: &[&str] = &[
    "data.buffer=700",
    "embedding.size=16",
    "encoder.hidden=16",
    "decoder.hidden=16",
    "attention.choice=hard",
    "train.accumulate=2",
    "train.ema=0.9",
    "train.decay=plateau",
    "train.plateau_patience=1",
    "train.max_steps=200",
    "train.validate_every=60",
    "train.report_every=1",
    "checkpoint.every=7",
    "checkpoint.keep_last=2",
    "checkpoint.keep_best=2",
];

/// `zhuyi train` with settings, on two threads whatever the machine has.
fn train(folder: &Folder, run: &str, settings: &[&str], more: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.current_dir(folder.root()).env("RAYON_NUM_THREADS", "2").env("NO_COLOR", "1").env_remove("ZHUYI_DATA");
    command.args(["train", "--run", run]).args(more).stdout(Stdio::null()).stderr(Stdio::null());
    settings.iter().for_each(|setting| {
        command.args(["--set", setting]);
    });
    command
}

fn done(mut command: Command) {
    let output = command.stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The events of a kind in a run's log.
fn events(run: &Path, kind: &str) -> Vec<Value> {
    let log = std::fs::read_to_string(run.join("log.jsonl")).unwrap_or_default();
    let events = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    events.filter(|event| event["event"] == kind).collect()
}

fn last_step(run: &Path) -> u64 {
    events(run, "progress").last().map_or(0, |event| event["step"].as_u64().unwrap())
}

fn checkpoints(run: &Path) -> Vec<usize> {
    let entries = std::fs::read_dir(run.join("checkpoints")).into_iter().flatten();
    let mut steps: Vec<usize> =
        entries.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse().ok()).collect();
    steps.sort_unstable();
    steps
}

/// All that two runs must have in common: every file of numbers, the state but for the time it took, and what was told of
/// every update.
fn assert_same(a: &Path, b: &Path) {
    let steps = checkpoints(a);
    assert!(!steps.is_empty() && steps == checkpoints(b), "{steps:?}, {:?}", checkpoints(b));
    let mut names = vec!["model.safetensors".to_owned()];
    for step in steps {
        let files =
            ["weights", "optimizer", "average"].map(|name| format!("checkpoints/{step}/{name}.safetensors"));
        names.extend(files.into_iter().filter(|name| a.join(name).exists()));
        let state = |run: &Path| {
            let text = std::fs::read_to_string(run.join(format!("checkpoints/{step}/state.json"))).unwrap();
            let mut state: Value = serde_json::from_str(&text).unwrap();
            for key in ["elapsed", "busy", "tokens_per_second"] {
                state["progress"][key].take();
            }
            state["progress"]["since_report"]["busy"].take();
            state
        };
        assert_eq!(state(a), state(b));
    }
    let best = |run: &Path| {
        let entries = std::fs::read_dir(run.join("best")).into_iter().flatten();
        let mut names: Vec<String> =
            entries.map(|entry| format!("best/{}", entry.unwrap().file_name().to_str().unwrap())).collect();
        names.sort();
        names
    };
    assert_eq!(best(a), best(b));
    names.extend(best(a));
    for name in names {
        let [a, b] = [a, b].map(|run| std::fs::read(run.join(&name)).unwrap());
        assert!(a == b, "{name} differs");
    }
    for kind in ["progress", "validated"] {
        let told = |run: &Path| {
            let mut events = events(run, kind);
            for event in &mut events {
                for key in ["seconds", "tokens_per_second"] {
                    event[key].take();
                }
            }
            events
        };
        assert_eq!(told(a), told(b));
    }
}

/// Starts a command and kills it as soon as something holds; its status if it ended before.
fn killed_when(mut command: Command, holds: impl Fn() -> bool) -> Option<ExitStatus> {
    let mut child = command.spawn().unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        if holds() {
            child.kill().unwrap();
            child.wait().unwrap();
            return None;
        }
        sleep(Duration::from_micros(300));
    }
}

/// Known fault T5: weights, optimizer, average, schedule, order of examples, draws, scores, patience.
#[test]
fn killed_twenty_times_it_ends_with_the_same_bytes() {
    let folder = Folder::new();
    done(train(&folder, "straight", SMALL, &[]));
    let run = folder.path("killed");
    let seed = u64::from(std::process::id());
    eprintln!("seed {seed}");
    let mut rng = Rng::new(seed, 0);
    let mut kills = 0;
    while kills < 20 {
        // Every part goes a little further: somewhere in the ten updates after the last.
        let until = last_step(&run) + rng.below(10) as u64;
        let command = train(&folder, "killed", SMALL, &["--resume"]);
        let started = Instant::now();
        let ended = killed_when(command, || {
            assert!(started.elapsed() < Duration::from_secs(60), "it does not go on");
            last_step(&run) >= until && started.elapsed() > Duration::from_millis(50)
        });
        assert!(ended.is_none(), "it ended before it was killed {kills} times: {ended:?}");
        kills += 1;
    }
    done(train(&folder, "killed", &[], &["--resume"]));
    assert_same(&folder.path("straight"), &run);
    let learning_rates: Vec<f64> =
        events(&run, "progress").iter().map(|event| event["learning_rate"].as_f64().unwrap()).collect();
    assert_eq!(learning_rates.len(), 200);
    assert_eq!(folder.path("straight/best").read_dir().unwrap().count(), 2);
}

/// Killed between a validation and the next checkpoint, with fewer updates to come than it had made: the models that the checkpoint
/// knows are still there, and the best of them is the run's again. Stopped by a signal, its checkpoint takes nobody's place.
#[test]
fn kept_models_and_checkpoints_are_those_of_the_state() {
    let folder = Folder::new();
    let settings = [
        "embedding.size=16",
        "encoder.hidden=16",
        "decoder.hidden=16",
        "train.report_every=1",
        "train.validate_every=10",
        "checkpoint.every=50",
        "checkpoint.keep_best=2",
        "checkpoint.keep_last=2",
    ];
    let with = |steps: &'static str| [&settings[..], &[steps]].concat();
    let run = folder.path("killed");
    let ended = killed_when(train(&folder, "killed", &with("train.max_steps=200"), &[]), || last_step(&run) >= 85);
    assert!(ended.is_none());
    assert_eq!(checkpoints(&run), [50]);
    done(train(&folder, "killed", &["train.max_steps=57"], &["--resume"]));
    done(train(&folder, "straight", &with("train.max_steps=57"), &[]));
    assert_same(&folder.path("straight"), &run);
    assert_eq!(run.join("best").read_dir().unwrap().count(), 2);

    let mut child = started(&folder, "stopped", &with("train.max_steps=160"), 112);
    signal(&child, "-INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let stopped = folder.path("stopped");
    let at = last_step(&stopped) as usize;
    assert_eq!(checkpoints(&stopped), if at == 150 { vec![100, 150] } else { vec![100, at] });
    done(train(&folder, "stopped", &[], &["--resume"]));
    done(train(&folder, "whole", &with("train.max_steps=160"), &[]));
    assert_same(&folder.path("whole"), &stopped);
}

/// Two trainings in one directory would write over each other.
#[test]
fn a_directory_is_one_trainings_at_a_time() {
    let folder = Folder::new();
    let mut child = started(&folder, "it", &["checkpoint.every=1", "train.report_every=1"], 3);
    let told = stderr(zhuyi(&folder).args(["train", "-q", "--resume", "--run", "it"]), 1);
    assert!(told.contains("another process is training in this directory"), "{told}");
    child.kill().unwrap();
    child.wait().unwrap();
    done(train(&folder, "it", &["train.max_steps=40"], &["--resume"]));
}

/// Weights that hold no numbers never take the place of good ones.
#[test]
fn broken_weights_are_not_written_down() {
    let folder = Folder::new();
    let settings = [
        "embedding.size=8",
        "encoder.hidden=8",
        "decoder.hidden=8",
        "checkpoint.every=1",
        "train.optimizer=sgd",
        "train.learning_rate=1e39",
        "train.clip_norm=0",
        "train.warmup_steps=1",
        "train.report_every=1",
    ];
    let output = train(&folder, "it", &settings, &[]).stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("the last 50 updates, to step "), "{told}");
    assert_eq!(checkpoints(&folder.path("it")), [0; 0]);
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

/// Starts a training and returns once it has made some updates.
fn started(folder: &Folder, run: &str, settings: &[&str], steps: u64) -> Child {
    let child = train(folder, run, settings, &["--resume"]).spawn().unwrap();
    while last_step(&folder.path(run)) < steps {
        sleep(Duration::from_millis(1));
    }
    child
}

/// Known fault P10: the step is finished and saved; and the state of an optimizer of every kind goes on.
#[test]
fn stopped_by_a_signal_it_saves_and_goes_on() {
    let folder = Folder::new();
    let plain = [
        "embedding.size=16",
        "encoder.hidden=16",
        "decoder.hidden=16",
        "train.max_steps=150",
        "train.validate_every=100",
        "train.report_every=1",
    ];
    for (kind, name, code) in [("adamw", "-INT", 130), ("sgd", "-TERM", 143), ("adafactor", "-INT", 130)] {
        let optimizer = format!("train.optimizer={kind}");
        let settings = [&plain[..], &[&optimizer, "train.weight_decay=0.01"]].concat();
        let (straight, stopped) = (format!("{kind}-straight"), format!("{kind}-stopped"));
        done(train(&folder, &straight, &settings, &[]));
        let mut child = started(&folder, &stopped, &settings, 5);
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{kind}");
        // Nothing was scored yet and no checkpoint was due: the one of the signal it is.
        let at = checkpoints(&folder.path(&stopped));
        assert_eq!(at, [last_step(&folder.path(&stopped)) as usize]);
        assert!(at[0] < 100);
        done(train(&folder, &stopped, &[], &["--resume"]));
        assert_same(&folder.path(&straight), &folder.path(&stopped));
    }
}

/// Known fault P10: who is asked twice leaves at once, and what was saved before is whole.
#[test]
fn a_second_signal_ends_it_at_once() {
    let folder = Folder::new();
    // A validation of many long sentences is what it might be busy with.
    let settings = [
        "data.train=toy:long/train",
        "data.dev=toy:long/dev",
        "train.report_every=1",
        "checkpoint.every=5",
        "train.validate_every=12",
        "embedding.size=256",
        "decoder.hidden=512",
    ];
    let mut child = started(&folder, "it", &settings, 12);
    signal(&child, "-INT");
    sleep(Duration::from_millis(20));
    signal(&child, "-INT");
    let asked = Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(asked.elapsed() < Duration::from_secs(2), "{:?}", asked.elapsed());
    assert_eq!(checkpoints(&folder.path("it")), [10]);
    done(train(&folder, "it", &["train.max_steps=15"], &["--resume"]));
    assert_eq!(checkpoints(&folder.path("it")), [15]);
}

/// A model that takes a while to write: some 70 MB a checkpoint.
const LARGE: &[&str] = &[
    "embedding.size=16",
    "encoder.hidden=16",
    "decoder.hidden=1300",
    "train.batch_sentences=1",
    "train.report_every=1",
    "train.validate_every=1000",
    "checkpoint.every=1",
];

fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some(entry.metadata().ok()?.len())).sum()
}

/// The checkpoint that is being written, if there is one.
fn part(run: &Path) -> Option<std::path::PathBuf> {
    let entries = std::fs::read_dir(run.join("checkpoints")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|extension| extension == "part"))
}

/// Known fault T7: killed while it writes, at several places; what was whole before is what it goes on from.
#[test]
fn killed_while_it_saves_it_keeps_the_last_whole_checkpoint() {
    let folder = Folder::new();
    let run = folder.path("it");
    done(train(&folder, "it", &[LARGE, &["train.max_steps=1"]].concat(), &[]));
    let whole = size(&run.join("checkpoints/1"));
    assert!(whole > 50_000_000, "{whole}");
    let (mut step, mut caught) = (1, 0);
    // From the first bytes to the very last ones: what is left is to sync and to rename.
    for percent in [0, 20, 40, 60, 80, 99] {
        let enough = || part(&run).is_some_and(|part| size(&part) * 100 >= whole * percent);
        let ended = killed_when(train(&folder, "it", &["train.max_steps=1000000"], &["--resume"]), enough);
        assert!(ended.is_none());
        let saved = checkpoints(&run);
        caught += usize::from(part(&run).is_some());
        assert!(saved.len() == 1 && saved[0] >= step, "{percent}: {saved:?} after {step}");
        step = saved[0] + 1;
        let settings = [format!("train.max_steps={step}")];
        done(train(&folder, "it", &[&settings[0]], &["--resume"]));
        assert_eq!(checkpoints(&run), [step]);
        let entries: Vec<_> = std::fs::read_dir(run.join("checkpoints")).unwrap().collect();
        assert_eq!(entries.len(), 1, "what was half is removed: {entries:?}");
    }
    assert!(caught >= 4, "it was killed while it saved only {caught} times of 6");
    let straight = format!("train.max_steps={step}");
    done(train(&folder, "straight", &[LARGE, &[&straight, "train.validate_every=1"]].concat(), &[]));
    let weights = |run: &str| {
        std::fs::read(folder.path(run).join(format!("checkpoints/{step}/weights.safetensors"))).unwrap()
    };
    assert!(weights("it") == weights("straight"), "weights and optimizer were of one update each time");
}

/// A file system of its own, for as long as it lives.
struct Disk<'a>(&'a Path);

impl Disk<'_> {
    fn mount(path: &Path, size: u64) -> Option<Disk<'_>> {
        std::fs::create_dir(path).unwrap();
        let options = format!("size={size}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(path).output();
        let mounted = mounted.is_ok_and(|output| output.status.success());
        assert!(mounted || std::env::var_os("ZHUYI_REQUIRE_DATA").is_none(), "no file system could be mounted");
        mounted.then_some(Disk(path))
    }

    fn grow(&self, size: u64) {
        let options = format!("remount,size={size}");
        assert!(Command::new("mount").args(["-o", &options]).arg(self.0).status().unwrap().success());
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

/// Known fault T7: room for one checkpoint and not for two.
#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let folder = Folder::new();
    let path = folder.path("disk");
    let Some(disk) = Disk::mount(&path, 100_000_000) else {
        eprintln!("skipped: only root may mount a small file system");
        return;
    };
    let output = train(&folder, "disk/it", LARGE, &[]).stderr(Stdio::piped()).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(
        told.contains("disk/it/checkpoints/2: the checkpoint can't be written (") && told.contains("No space"),
        "{told}"
    );
    assert!(told.contains("the checkpoint of step 1 is kept: make room and go on with --resume"), "{told}");
    assert_eq!(checkpoints(&path.join("it")), [1]);
    assert!(!path.join("it/checkpoints/2.part").exists());
    disk.grow(400_000_000);
    done(train(&folder, "disk/it", &["train.max_steps=3"], &["--resume"]));
    done(train(&folder, "straight", &[LARGE, &["train.max_steps=3"]].concat(), &[]));
    assert_same(&folder.path("straight"), &path.join("it"));
}

/// A run of three updates with two checkpoints.
fn short(folder: &Folder) {
    let settings = [
        "embedding.size=8",
        "encoder.hidden=8",
        "decoder.hidden=8",
        "train.max_steps=3",
        "checkpoint.every=1",
        "checkpoint.keep_last=2",
        "train.report_every=1",
    ];
    done(train(folder, "it", &settings, &[]));
    assert_eq!(checkpoints(&folder.path("it")), [2, 3]);
}

#[test]
fn what_does_not_belong_to_the_run_is_refused() {
    let folder = Folder::new();
    short(&folder);
    let resume = |more: &[&str]| {
        stderr(
            zhuyi(&folder).args(["train", "-q", "--run", "it", "--resume"]).args(more),
            if more.is_empty() { 1 } else { 2 },
        )
    };
    let told = stderr(zhuyi(&folder).args(["train", "--run", "it"]), 1);
    assert!(
        told.contains("there is something in this directory already: name another, or go on with --resume"),
        "{told}"
    );
    let told = resume(&["--set", "train.learning_rate=0.5", "--attention", "additive"]);
    assert!(told.contains("attention.score was \"general\" and would be \"additive\""), "{told}");
    assert!(told.contains("train.learning_rate was 0.004 and would be 0.5"), "{told}");
    let told = stderr(zhuyi(&folder).args(["train", "--resume", "--run", "nothing"]), 1);
    assert!(told.contains("no run is here"), "{told}");
    // Nothing is removed that a run's beginning is not, nor before all else is known to be right.
    std::fs::create_dir(folder.path("mine")).unwrap();
    folder.write("mine/log.jsonl", "precious");
    for (settings, part) in
        [("train.max_steps=1", "`log.jsonl` is none of the files"), ("train.max_stps=1", "max_steps")]
    {
        let mut command = zhuyi(&folder);
        let output =
            command.args(["train", "-q", "--resume", "--run", "mine", "--set", settings]).output().unwrap();
        assert!(!output.status.success() && String::from_utf8_lossy(&output.stderr).contains(part));
        assert_eq!(folder.read("mine/log.jsonl"), "precious");
    }
    let config = folder.read("it/config.toml");
    resume(&["--set", "train.max_steps=9", "--set", "train.seed=9"]);
    assert_eq!(folder.read("it/config.toml"), config);
    let told = stderr(zhuyi(&folder).args(["train", "--resume"]), 1);
    assert!(told.contains("no run here has a checkpoint to go on from"), "{told}");

    // Known fault T10: another tokenizer, and one of the same size with two words exchanged.
    let source = folder.read("it/tokenizer/source.json");
    let exchanged = source
        .replacen("\"cat\"", "\"???\"", 1)
        .replacen("\"dog\"", "\"cat\"", 1)
        .replacen("\"???\"", "\"dog\"", 1);
    assert!(exchanged != source && exchanged.len() == source.len());
    for other in [folder.read("it/tokenizer/target.json"), exchanged] {
        folder.write("it/tokenizer/source.json", &other);
        for told in [resume(&[]), stderr(zhuyi(&folder).args(["translate", "--run", "it", "the cat"]), 1)] {
            assert!(told.contains("not the tokenizer that this model was trained with"), "{told}");
        }
    }
    folder.write("it/tokenizer/source.json", &source);

    // Known fault B7: another format; the checksums are those of the file, as another version would write them.
    let state = folder.read("it/checkpoints/3/state.json");
    let sums = folder.read("it/checkpoints/3/checksums.json");
    for format in ["0", "99"] {
        let other = state.replacen("\"format\": 1", &format!("\"format\": {format}"), 1);
        folder.write("it/checkpoints/3/state.json", &other);
        let of = |text: &str| sha256_hex(text.as_bytes());
        folder.write("it/checkpoints/3/checksums.json", &sums.replace(&of(&state), &of(&other)));
        let told = resume(&[]);
        let right = format!("format {format}, written by zhuyi 0.1.0; this version reads checkpoints of format 1");
        assert!(told.contains(&right), "{told}");
    }
}

/// A damaged file is noticed: what came before is gone on from; if there is nothing else, it is said and left alone.
#[test]
fn damaged_checkpoints_are_passed_over() {
    let folder = Folder::new();
    short(&folder);
    let damage = |step: usize| {
        let path = folder.path(&format!("it/checkpoints/{step}/weights.safetensors"));
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    };
    let before = std::fs::read(folder.path("it/checkpoints/3/weights.safetensors")).unwrap();
    damage(3);
    let told = stderr(zhuyi(&folder).env("RAYON_NUM_THREADS", "2").args(["train", "--run", "it", "--resume"]), 0);
    assert!(
        told.contains("a checkpoint is passed over: it/checkpoints/3/weights.safetensors: its checksum"),
        "{told}"
    );
    assert!(told.contains("goes on after step 2"), "{told}");
    assert!(std::fs::read(folder.path("it/checkpoints/3/weights.safetensors")).unwrap() == before);
    damage(2);
    damage(3);
    let told = stderr(zhuyi(&folder).args(["train", "--run", "it", "--resume"]), 1);
    assert!(told.contains("no checkpoint is whole (it/checkpoints/3/weights.safetensors: its checksum"), "{told}");
    assert_eq!(checkpoints(&folder.path("it")), [2, 3]);
}

#[test]
fn data_that_changed_is_refused_and_a_finished_run_can_go_further() {
    let folder = Folder::new();
    let pairs: String = (0..40).map(|i| format!("a{} b{}\tx{} y{}\n", i % 7, i % 5, i % 5, i % 7)).collect();
    folder.write("pairs.tsv", &pairs);
    let settings = [
        "data.train=pairs.tsv",
        "data.dev=pairs.tsv",
        "text.source.kind=word",
        "text.target.kind=word",
        "embedding.size=8",
        "encoder.hidden=8",
        "decoder.hidden=8",
        "train.max_epochs=2",
    ];
    done(train(&folder, "it", &settings, &[]));
    let again =
        stdout(zhuyi(&folder).env("RAYON_NUM_THREADS", "2").args(["train", "-q", "--run", "it", "--resume"]));
    assert!(again.starts_with("all epochs done: 2 steps"), "{again}");
    done(train(&folder, "it", &["train.max_epochs=4"], &["--resume"]));
    assert_eq!(checkpoints(&folder.path("it")), [4]);
    assert!(folder.read("it/config.toml").contains("max_epochs = 4"));
    folder.write("pairs.tsv", &pairs.replace("a3", "a4"));
    let told = stderr(zhuyi(&folder).args(["train", "-q", "--run", "it", "--resume"]), 1);
    assert!(told.contains("the data is not what this run was trained on before"), "{told}");
}
