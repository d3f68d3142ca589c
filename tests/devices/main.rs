//! Graphics processors: the same numbers as on the processor, and clear words where there is none. Runs on any adapter; on a
//! machine without one install a software one (Debian: `mesa-vulkan-drivers`).

#![allow(clippy::unwrap_used, clippy::expect_used)]

use burn::module::Module;
use burn::tensor::activation::softmax;
use burn::tensor::{Device, Int, Tensor, TensorData};
use serde_json::Value;
use zhuyi::config::{AttentionName, Config, TOY};
use zhuyi::device::{DeviceChoice, DeviceKind, check};
use zhuyi::model::host::LaidOut;
use zhuyi::model::{Seq2Seq, Vocabularies, batched};
use zhuyi::parity::{Reference, SENTENCES};
use zhuyi::prepare::{Prepared, prepare};
use zhuyi::rng::Rng;
use zhuyi::search::SearchConfig;

#[path = "../support/person.rs"]
mod person;

use person::{Folder, lines, stderr, stdout, zhuyi};

/// As small as attention allows: software adapters compile for seconds and compute slowly.
const SMALL: [&str; 5] =
    ["embedding.size=16", "encoder.hidden=16", "decoder.hidden=32", "attention.size=32", "attention.heads=1"];

fn settings(attention: AttentionName) -> Vec<String> {
    SMALL.map(str::to_owned).into_iter().chain(attention.settings()).collect()
}

fn graphics() -> Device {
    DeviceKind::Wgpu.open(None).expect("an adapter: see the top of this file").device
}

fn toy(settings: &[String]) -> (Config, Prepared) {
    let config = Config::parse("toy.toml".as_ref(), TOY, settings).unwrap();
    let data = prepare(&config).unwrap();
    (config, data)
}

fn model(config: &Config, data: &Prepared) -> Seq2Seq {
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    config.model().init(vocabularies, &mut Rng::new(1, 0), &Device::flex()).unwrap()
}

/// Known faults B4 and B6: the same logits, translations and losses as the processor, and what was trained there is read
/// here, for every attention.
#[test]
fn every_attention_gives_what_the_processor_gives() {
    let device = graphics();
    for attention in AttentionName::all() {
        let (config, data) = toy(&settings(attention));
        let parity = Reference::new(attention.name(), &config, &data).unwrap().compare(&device).unwrap();
        eprintln!("{parity:?}");
        assert!(parity.holds(), "{parity:?}");
        assert_eq!(parity.same + parity.ties + parity.different, SENTENCES);
        // A look that finds nothing would pass for parity too.
        assert!(parity.losses > 0.0 && parity.logits > 0.0, "{parity:?}: are both the same device?");
    }
}

/// Known fault B4: large products, twice, so that whatever is tuned is tuned.
#[test]
fn the_device_computes_rightly() {
    let (opened, _) = DeviceChoice::Named(DeviceKind::Wgpu, None).open(None).unwrap();
    check(&opened).unwrap();
    assert!(opened.product_gflops() > 0.0);
}

/// Known fault B2: one, two and three sentences, one of a single word, a last batch that is not full; each as it is alone.
#[test]
fn batches_of_any_size_are_what_single_sentences_are() {
    let (config, data) = toy(&settings(AttentionName::Luong));
    let device = graphics();
    let model = model(&config, &data).fork(&device);
    let mut sources: Vec<&[usize]> =
        data.dev.examples.iter().map(|example| example.source.as_slice()).take(3).collect();
    let short = &sources[0][sources[0].len() - 2..];
    sources.push(short);
    let targets: Vec<&[usize]> = vec![&[5, 6, 7], &[8], &[], &[9, 10]];
    let score = |places: &[usize], batch: usize| -> Vec<f64> {
        let sources: Vec<&[usize]> = places.iter().map(|&i| sources[i]).collect();
        let targets: Vec<&[usize]> = places.iter().map(|&i| targets[i]).collect();
        let found = batched::score(&model, &LaidOut::default(), &sources, &targets, batch, &device).unwrap();
        found.iter().map(zhuyi::search::Forced::log_prob).collect()
    };
    let alone: Vec<f64> = (0..4).flat_map(|i| score(&[i], 1)).collect();
    for (places, batch) in [(&[0, 1][..], 2), (&[0, 1, 2], 3), (&[0, 1, 2, 3], 3), (&[3, 2, 1, 0], 4)] {
        for (found, &place) in score(places, batch).iter().zip(places) {
            assert!((found - alone[place]).abs() < 1e-4, "{places:?}: {found} {}", alone[place]);
        }
    }
}

/// Known fault B9: an id past the vocabulary would read zeros there; it is refused before, on every device.
#[test]
fn ids_past_the_vocabulary_are_refused() {
    let (config, data) = toy(&settings(AttentionName::Luong));
    let (there, search) = (graphics(), SearchConfig::default());
    for device in [Device::flex(), there] {
        let model = model(&config, &data).fork(&device);
        let bad = [5, data.source.size(), 2];
        let refused = batched::translate(&model, &LaidOut::default(), &[&bad], &search, 1, &device).unwrap_err();
        let expected = format!("the source token id {} is not one of the model's", data.source.size());
        assert!(refused.to_string().starts_with(&expected), "{refused}");
        let bad = [data.target.size()];
        assert!(batched::score(&model, &LaidOut::default(), &[&[5, 2]], &[&bad], 1, &device).is_err());
    }
}

/// Known fault B9: more rows, products and ids than a dimension of workgroups counts (65,535). burn spreads them over three
/// dimensions, so that only the size of a tensor is a limit that we must tell.
#[test]
fn more_pieces_than_a_dimension_of_workgroups_are_all_computed() {
    let (device, n) = (graphics(), 70_000);
    let values: Vec<f32> = (0..2 * n).map(|i| (i % 1009) as f32 / 64.0).collect();
    let on = |device: &Device| -> Vec<Vec<f32>> {
        let of = |shape: [usize; 3]| Tensor::<3>::from_data(TensorData::new(values.clone(), shape), device);
        let table = of([2 * n, 1, 1]).reshape([2 * n, 1]);
        let ids = Tensor::<1, Int>::arange(0..n as i64, device).reshape([n, 1]);
        let found = [
            of([n, 1, 2]).matmul(of([n, 2, 1])),
            of([n, 1, 2]).sum_dim(2),
            softmax(of([n, 1, 2]), 2),
            burn::tensor::module::embedding(table, ids),
        ];
        found.into_iter().map(|found| found.into_data().try_to_vec().unwrap()).collect()
    };
    for (what, (found, expected)) in on(&device).into_iter().zip(on(&Device::flex())).enumerate() {
        assert_eq!(found.len(), expected.len());
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!((found - expected).abs() <= 1e-5 * expected.abs().max(1.0), "{what}, {i}: {found} {expected}");
        }
    }
}

fn small(command: &mut assert_cmd::Command) -> &mut assert_cmd::Command {
    for setting in SMALL {
        command.args(["--set", setting]);
    }
    command
}

/// Known fault B6: trained on one device, the run is translated with, aligned and scored on the other.
#[test]
fn a_run_goes_from_device_to_device() {
    let folder = Folder::new();
    zhuyi(&folder).args(["data", "toy", "--out", "toy"]).assert().success();
    let dev = folder.read("toy/dev.tsv");
    let first: Vec<&str> = lines(&dev).into_iter().take(20).collect();
    let pairs = first.iter().filter_map(|line| line.rsplit_once('\t')).map(|(pair, _)| pair.to_owned() + "\n");
    folder.write("pairs.tsv", &pairs.collect::<String>());
    let sentences: Vec<&str> = first.iter().filter_map(|line| line.split('\t').next()).collect();
    for device in ["wgpu", "cpu"] {
        let mut train = zhuyi(&folder);
        train.args(["train", "--device", device, "--run", device, "--set", "train.max_steps=25"]);
        let told = String::from_utf8(small(&mut train).assert().success().get_output().stderr.clone()).unwrap();
        assert_eq!(told.contains("device: wgpu ("), device == "wgpu", "{told}");
        // Where it was trained is no part of the run.
        assert!(!folder.read(&format!("{device}/config.toml")).contains("wgpu"));
        let translate = |on: &str| {
            let told = stdout(
                zhuyi(&folder)
                    .args(["translate", "--run", device, "--device", on, "--format", "json"])
                    .args(&sentences),
            );
            lines(&told).iter().map(|line| serde_json::from_str::<Value>(line).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(translate("wgpu").len(), 20);
        for (here, there) in translate("cpu").iter().zip(translate("wgpu")) {
            assert_eq!(here["translation"], there["translation"]);
            let score = |told: &Value| told["score"].as_f64().unwrap();
            assert!((score(here) - score(&there)).abs() < 1e-3, "{here} {there}");
        }
    }
    let align =
        |on: &str| stdout(zhuyi(&folder).args(["align", "--tsv", "pairs.tsv", "--run", "wgpu", "--device", on]));
    assert_eq!(align("cpu"), align("wgpu"));
}

/// Known fault P1: no adapter is one clear line, and `auto` says what it took instead.
#[test]
fn without_an_adapter_the_processor_is_named() {
    let folder = Folder::new();
    let hidden = |arguments: &[&str]| {
        let mut command = zhuyi(&folder);
        command.args(arguments);
        for (name, value) in [
            ("VK_ICD_FILENAMES", "/nonexistent.json"),
            ("VK_DRIVER_FILES", "/nonexistent.json"),
            ("__EGL_VENDOR_LIBRARY_FILENAMES", "/nonexistent.json"),
            ("LIBGL_DRIVERS_PATH", "/nonexistent"),
        ] {
            command.env(name, value);
        }
        command
    };
    let told = stderr(&mut hidden(&["train", "--device", "wgpu"]), 1);
    assert_eq!(
        told,
        "error: --device wgpu: no graphics adapter was found; the processor always works: --device cpu\n"
    );
    assert!(!folder.path("runs").exists());
    let mut auto = hidden(&["train", "--device", "auto", "--run", "auto", "--set", "train.max_steps=2"]);
    let told = String::from_utf8(small(&mut auto).assert().success().get_output().stderr.clone()).unwrap();
    let passed_over = "device: cpu\npassed over: --device wgpu: no graphics adapter was found";
    assert!(told.starts_with(passed_over), "{told}");
    assert!(!told.contains("panicked"), "{told}");
    let listed = stdout(&mut hidden(&["devices"]));
    assert!(listed.contains("no graphics adapter"), "{listed}");
    let told = stderr(zhuyi(&folder).args(["devices", "--device", "x"]), 2);
    assert!(told.contains("unexpected argument"), "{told}");
}

/// What is listed is measured, and a program that plays a graphics processor is called that.
#[test]
fn devices_are_listed_with_what_they_do() {
    let folder = Folder::new();
    let listed = stdout(zhuyi(&folder).args(["devices", "--format", "json"]));
    let listed: Vec<Value> = lines(&listed).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |name: &str| listed.iter().find(|device| device["name"] == name).unwrap();
    assert!(listed.iter().all(|device| device["product_gflops"].as_f64().unwrap() > 0.0), "{listed:?}");
    assert_eq!((&of("cpu")["default"], &of("wgpu")["default"]), (&Value::Bool(true), &Value::Bool(false)));
    let adapter = &of("wgpu")["adapter"];
    let software = adapter["name"].as_str().unwrap().contains("llvmpipe");
    assert_eq!(adapter["software"], software, "{adapter}");
    let told = stdout(zhuyi(&folder).arg("devices"));
    assert_eq!(told.contains("a software adapter: it computes on the processor"), software, "{told}");
    // A software adapter is never what `auto` takes.
    let mut auto = zhuyi(&folder);
    auto.args(["train", "--device", "auto", "--run", "auto", "--set", "train.max_steps=1"]);
    let told = String::from_utf8(small(&mut auto).assert().success().get_output().stderr.clone()).unwrap();
    assert_eq!(told.starts_with("device: cpu\npassed over: wgpu (llvmpipe"), software, "{told}");
}

/// Known fault B9: a table that the device can't bind in one piece is refused before training, with both sizes, and leaves
/// nothing behind; one that it can is trained with.
#[test]
fn a_table_that_does_not_fit_is_told_before_training() {
    let folder = Folder::new();
    let pairs = |from: usize| -> String {
        let words = |side: char| (from..from + 10).map(|i| format!("{side}{i}")).collect::<Vec<_>>().join(" ");
        format!("{}\t{}\n", words('s'), words('t'))
    };
    folder.write("pairs.tsv", &(0..65_600).step_by(10).map(pairs).collect::<String>());
    let listed = stdout(zhuyi(&folder).args(["devices", "--format", "json"]));
    let listed: Vec<Value> = lines(&listed).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let device = listed.iter().find(|device| device["name"] == "wgpu").unwrap();
    let largest = device["memory"]["largest_tensor_mib"].as_f64().unwrap();
    let mut train = zhuyi(&folder);
    train.args([
        "train",
        "--device",
        "wgpu",
        "--run",
        "large",
        "--set",
        "train.max_steps=1",
        "--set",
        "data.train=pairs.tsv",
    ]);
    for setting in
        ["data.dev=pairs.tsv", "text.source.kind=word", "text.target.kind=word", "text.source.size=65536"]
    {
        train.args(["--set", setting]);
    }
    // 65,536 × 1,024 values are 256 MiB.
    let wide = (largest.min(4096.0) as usize / 256 + 1) * 1024;
    train.args(["--set", &format!("embedding.size={wide}"), "--set", "text.target.size=100"]);
    let told = stderr(&mut train, 1);
    let needed = format!("source_embedding.weight needs {:.1} MiB", 65_536.0 * wide as f64 * 4.0 / 1_048_576.0);
    assert!(
        told.contains(&needed) && told.contains("this device takes") && told.contains("--device cpu"),
        "{told}"
    );
    assert!(!folder.path("large").exists());
}
