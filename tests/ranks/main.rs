//! Several processes under `mpirun`, as a person starts them.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::{Child, Command as Process, Output, Stdio};
use std::time::{Duration, Instant};

use assert_cmd::Command;
use serde_json::Value;

#[path = "../support/person.rs"]
mod person;

use person::{Folder, PROGRAM, lines, stderr, stdout, zhuyi};

/// `mpirun -np N zhuyi`, each process with one thread.
fn mpirun(folder: &Folder, processes: usize) -> Process {
    let mut command = Process::new("mpirun");
    command.current_dir(folder.root()).env_remove("ZHUYI_DATA").env("NO_COLOR", "1").env("RAYON_NUM_THREADS", "1");
    // For tests as root in a container, and for machines with fewer cores than processes.
    for name in ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"] {
        command.env(name, "1");
    }
    // The container may not let processes read each other's memory.
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    command.args(["-np", &processes.to_string(), PROGRAM]);
    command
}

fn done(command: &mut Process) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// What a run's log says under a key, in order.
fn logged(folder: &Folder, run: &str, event: &str, key: &str) -> Vec<f64> {
    let log = folder.read(&format!("{run}/log.jsonl"));
    let events = lines(&log).into_iter().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of = |told: Value| if event == "validated" { told["scores"][key].as_f64() } else { told[key].as_f64() };
    events.filter(|told| told["event"] == event).map(|told| of(told).unwrap()).collect()
}

fn train(run: &str, more: &[&str]) -> Vec<String> {
    let mut arguments = vec!["train".to_owned(), "--run".to_owned(), run.to_owned()];
    for setting in ["train.report_every=1", "train.max_steps=50"].iter().chain(more) {
        arguments.extend(["--set".to_owned(), (*setting).to_owned()]);
    }
    arguments
}

/// Two processes of one thread make the updates of one process: of one with two threads, dropout included, and, without
/// dropout, of one with one thread, which takes the whole batch at once.
#[test]
fn two_processes_learn_what_one_does() {
    let folder = Folder::new();
    for (dropout, threads) in [("model.dropout=0.4", "2"), ("model.dropout=0.0", "1")] {
        let run = |kind: &str| format!("{kind}-{threads}");
        let (together, alone) = (run("together"), run("alone"));
        done(mpirun(&folder, 2).args(train(&together, &[dropout])));
        zhuyi(&folder).env("RAYON_NUM_THREADS", threads).args(train(&alone, &[dropout])).assert().success();
        let losses = |run: &str| logged(&folder, run, "progress", "loss");
        assert_eq!(losses(&alone).len(), 50);
        let differences = losses(&together).into_iter().zip(losses(&alone)).map(|(a, b)| (a - b).abs());
        let most = differences.fold(0.0, f64::max);
        eprintln!("{dropout}, {threads} threads: losses differ by {most:.1e} at most");
        assert!(most < 1e-4, "{most}");
        // The dev set was shared out too.
        let dev = |run: &str| logged(&folder, run, "validated", "loss");
        assert_eq!(dev(&together).len(), 1);
        assert!((dev(&together)[0] - dev(&alone)[0]).abs() < 1e-4, "{:?} {:?}", dev(&together), dev(&alone));
    }
}

/// What two processes began one goes on with, and the other way round: the losses are those of one that was not stopped. What
/// both keep, weights, moments and place in the data, is rank 0's to write down.
#[test]
fn another_number_of_processes_goes_on() {
    let folder = Folder::new();
    let first = ["train.max_steps=12", "checkpoint.every=12", "train.ema=0.9"];
    let resume = |run: &str| ["train", "--run", run, "--resume", "--set", "train.max_steps=30"].map(str::to_owned);
    let two_threads = |arguments: &[String]| {
        zhuyi(&folder).env("RAYON_NUM_THREADS", "2").args(arguments).assert().success();
    };
    two_threads(&train("straight", &["train.max_steps=30", "train.ema=0.9"]));
    done(mpirun(&folder, 2).args(train("fewer", &first)));
    two_threads(&resume("fewer"));
    two_threads(&train("more", &first));
    done(mpirun(&folder, 2).args(resume("more")));
    let losses = |run: &str| logged(&folder, run, "progress", "loss");
    for run in ["fewer", "more"] {
        assert_eq!(losses(run).len(), 30);
        let differences = losses(run).into_iter().zip(losses("straight")).map(|(a, b)| (a - b).abs());
        let most = differences.fold(0.0, f64::max);
        eprintln!("{run}: losses differ by {most:.1e} at most");
        assert!(most < 1e-4, "{run}: {most}");
    }
}

/// More processes than a batch has parts for, and one whose part is empty: nobody waits for ever, and the losses are those
/// of one process.
#[test]
fn a_process_may_have_nothing_to_do() {
    let folder = Folder::new();
    let settings = ["train.batch_sentences=24", "train.max_steps=5", "model.dropout=0.0"];
    done(mpirun(&folder, 3).args(train("three", &settings)));
    zhuyi(&folder).args(train("one", &settings)).assert().success();
    let losses = |run: &str| logged(&folder, run, "progress", "loss");
    for (three, one) in losses("three").iter().zip(losses("one")) {
        assert!((three - one).abs() < 1e-4, "{three} {one}");
    }
}

/// What must be the same for every draw: choices by trial are compared with a baseline that all processes share.
#[test]
fn hard_choices_share_their_baseline() {
    let folder = Folder::new();
    let settings = ["attention.choice=hard", "train.max_steps=20"];
    done(mpirun(&folder, 2).args(train("together", &settings)));
    zhuyi(&folder).env("RAYON_NUM_THREADS", "2").args(train("alone", &settings)).assert().success();
    let losses = |run: &str| logged(&folder, run, "progress", "loss");
    for (together, alone) in losses("together").iter().zip(losses("alone")) {
        assert!((together - alone).abs() < 1e-4, "{together} {alone}");
    }
}

/// Files and standard input are shared out, and come back in order; scores and links are those of one process.
#[test]
fn translating_aligning_and_scoring_are_shared() {
    let folder = Folder::new();
    zhuyi(&folder).args(["train", "--run", "run", "--set", "train.max_steps=200"]).assert().success();
    zhuyi(&folder).args(["data", "toy", "--out", "toy"]).assert().success();
    let pairs = folder.read("toy/test.tsv");
    let mut sentences: Vec<&str> =
        lines(&pairs).into_iter().take(300).filter_map(|line| line.split('\t').next()).collect();
    sentences.insert(7, "");
    sentences.push("");
    folder.write("in.txt", &(sentences.join("\n") + "\n"));
    for arguments in [
        vec!["translate", "--run", "run", "--input", "in.txt"],
        vec!["translate", "--run", "run", "the cat eats fish", "welcome to shenzhen", ""],
        vec!["align", "--run", "run", "--tsv", "toy/test.tsv"],
        vec!["evaluate", "--run", "run", "--tsv", "toy/test.tsv", "--beam", "2"],
    ] {
        let alone = stdout(zhuyi(&folder).args(&arguments));
        let together = text(&done(mpirun(&folder, 2).args(&arguments)).stdout);
        assert!(together == alone, "{arguments:?}");
    }
    // Which sentences stand in a batch together may differ, and with it the last digits.
    let arguments =
        ["translate", "--run", "run", "--input", "in.txt", "--format", "json", "--beam", "3", "--n-best", "2"];
    let (alone, together) =
        (stdout(zhuyi(&folder).args(arguments)), text(&done(mpirun(&folder, 2).args(arguments)).stdout));
    assert_eq!(lines(&alone).len(), lines(&together).len());
    for (number, (alone, together)) in lines(&alone).into_iter().zip(lines(&together)).enumerate() {
        let told = [alone, together].map(|line| serde_json::from_str::<Value>(line).unwrap());
        assert!(told.iter().all(|told| told["id"].as_u64() == Some(number as u64)));
        let [alone, together] = told.each_ref().map(|told| told["hypotheses"].as_array().unwrap());
        assert_eq!(alone.len(), together.len());
        for (alone, together) in alone.iter().zip(together) {
            assert_eq!(alone["translation"], together["translation"]);
            assert!((alone["score"].as_f64().unwrap() - together["score"].as_f64().unwrap()).abs() < 1e-4);
        }
    }
    let alone =
        stdout(zhuyi(&folder).args(["translate", "--run", "run"]).write_stdin(sentences.join("\n") + "\n"));
    let input = std::fs::File::open(folder.path("in.txt")).unwrap();
    let together = done(mpirun(&folder, 2).args(["translate", "--run", "run"]).stdin(input));
    assert!(text(&together.stdout) == alone);
    assert_eq!(lines(&alone).len(), 302);
}

/// The process of a rank that `mpirun` started in this folder.
fn pid_of(folder: &Folder, rank: usize) -> Option<i32> {
    let root = folder.root().canonicalize().unwrap();
    let marked = format!("OMPI_COMM_WORLD_RANK={rank}");
    std::fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let here = std::fs::read_link(entry.path().join("cwd")).ok()? == root;
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let is = environment.split(|&byte| byte == 0).any(|variable| variable == marked.as_bytes());
        (here && is).then_some(pid)
    })
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let started = Instant::now();
    while !holds() {
        assert!(started.elapsed() < Duration::from_secs(120), "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Starts a training that would take for ever, and waits until it has kept a model.
fn endless(folder: &Folder) -> Child {
    let endless = ["train.max_steps=1000000", "train.max_epochs=100000", "train.validate_every=20"];
    let mut command = mpirun(folder, 2);
    command.args(train("run", &endless)).stderr(Stdio::piped()).stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    until("a model is kept", || folder.path("run/model.safetensors").exists());
    child
}

/// A process that is killed ends the others with a clear word, and the best model so far is whole.
#[test]
fn a_killed_process_ends_the_job_and_loses_nothing_that_was_kept() {
    let folder = Folder::new();
    for rank in [1, 0] {
        let child = endless(&folder);
        let pid = pid_of(&folder, rank).unwrap();
        Process::new("kill").args(["-9", &pid.to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let told = text(&output.stderr);
        assert!(!output.status.success(), "{told}");
        if rank == 1 {
            // Rank 0 lives to say it.
            assert!(told.contains("error: asked to stop, and another process does not come"), "{told}");
            assert!(told.contains("the best model so far is kept in run"), "{told}");
        }
        // In mpirun's own words.
        assert!(told.contains(&format!("rank {rank}")) && told.contains("signal 9"), "{told}");
        assert!(!told.contains("panicked"), "{told}");
        until("both have ended", || (0..2).all(|rank| pid_of(&folder, rank).is_none()));
        assert_eq!(
            lines(&stdout(zhuyi(&folder).args(["translate", "--run", "run", "the cat eats fish"]))).len(),
            1
        );
        std::fs::remove_dir_all(folder.path("run")).unwrap();
    }
}

/// Ctrl-C, which `mpirun` passes on: all end after the same update, and say so.
#[test]
fn an_interrupt_ends_all_of_them() {
    let folder = Folder::new();
    let child = endless(&folder);
    Process::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let (told, said) = (text(&output.stderr), text(&output.stdout));
    assert!(!output.status.success());
    assert!(said.starts_with("interrupted: "), "{said}\n{told}");
    assert!(!told.contains("panicked") && !told.contains("does not come"), "{told}");
    assert_eq!(lines(&stdout(zhuyi(&folder).args(["translate", "--run", "run", "the cat eats fish"]))).len(), 1);
}

/// A mistake is said once, not by every process, and leaves nobody waiting.
#[test]
fn a_mistake_is_told_once() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("taken")).unwrap();
    folder.write("taken/file", "");
    folder.write("long.txt", &"a ".repeat(5000));
    zhuyi(&folder).args(["train", "--run", "run", "--set", "train.max_steps=1"]).assert().success();
    for (arguments, expected, code) in [
        (&["train", "--run", "taken"][..], "there is something in this directory already", 1),
        (&["translate", "--run", "nowhere", "x"], "nowhere", 1),
        (&["translate", "--run", "run", "--input", "long.txt", "--long", "refuse"], "sentence 1: ", 1),
        (&["translate", "--run", "run", "--beam", "2", "--n-best", "3", "x"], "--n-best 3 needs a beam", 2),
    ] {
        let output = mpirun(&folder, 2).args(arguments).output().unwrap();
        let told = text(&output.stderr);
        let ours: Vec<&str> = lines(&told).into_iter().filter(|line| line.starts_with("error: ")).collect();
        assert!(ours.len() == 1 && ours[0].contains(expected), "{arguments:?}: {told}");
        assert_eq!(output.status.code(), Some(code), "{told}");
    }
}

/// Processes that were given different files say so instead of learning nonsense.
#[test]
fn different_data_are_refused() {
    let folder = Folder::new();
    folder.write("0.tsv", "a b\tA B\nc d\tC D\n");
    folder.write("1.tsv", "a b\tA B\nc d\tC E\n");
    let script = format!(
        "exec {PROGRAM} train --run run --set data.train=$OMPI_COMM_WORLD_RANK.tsv --set data.dev=0.tsv --set \
         text.source.kind=char --set text.target.kind=char"
    );
    let mut command = mpirun(&folder, 2);
    let program = command.get_program().to_owned();
    let mut shell = Process::new(program);
    shell.current_dir(folder.root()).args(["-np", "2", "sh", "-c", &script]);
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    command = shell;
    let output = command.output().unwrap();
    let told = text(&output.stderr);
    assert!(!output.status.success());
    assert!(told.contains("error: settings or data of training: rank 1 has others than rank 0"), "{told}");
    assert!(!folder.path("run").exists(), "{told}");
}

/// A command that is no work for many is done once.
#[test]
fn other_commands_are_done_once() {
    let folder = Folder::new();
    let told = text(&done(mpirun(&folder, 2).args(["config", "show"])).stdout);
    let alone = stdout(zhuyi(&folder).args(["config", "show"]));
    assert_eq!(told, alone);
}

/// Started as several by a launcher that this build does not know how to meet.
#[test]
fn a_world_of_another_size_is_refused() {
    let folder = Folder::new();
    let mut command: Command = zhuyi(&folder);
    let told = stderr(command.env("PMI_SIZE", "3").args(["config", "show"]), 1);
    assert!(told.starts_with("error: 3 processes were started, and this one met 1"), "{told}");
}
