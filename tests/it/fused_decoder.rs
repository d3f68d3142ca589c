//! The decoder's steps as one operation against the same steps from ordinary operations.

use burn::module::{Module, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use zhuyi::attention::{AttentionConfig, ScoreKind};
use zhuyi::kernels::Form;
use zhuyi::kernels::gru::ResetForm;
use zhuyi::model::decoder::{DecoderConfig, Timing};
use zhuyi::model::host::HostModel;
use zhuyi::model::stepper::ModelStepper;
use zhuyi::model::{ModelConfig, Seq2Seq, SourceBatch, TargetBatch, Vocabularies};
use zhuyi::rng::Rng;
use zhuyi::search::{Look, Request, SearchConfig, Task, beam_search};

struct Collect<'a>(&'a GradientsParams, Vec<f32>);

impl ModuleVisitor for Collect<'_> {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.0.get::<D>(param.id);
        self.1.extend(gradient.into_iter().flat_map(|g| g.into_data().try_to_vec::<f32>().unwrap()));
    }
}

/// Sources with their ends, and targets with their begin.
type Pairs = (Vec<Vec<usize>>, Vec<Vec<usize>>);

fn a_few() -> Pairs {
    let sources: [&[usize]; 5] = [&[4, 5, 6, 7, 2], &[8, 2], &[9, 10, 4, 2], &[5, 2], &[6, 6, 2]];
    let targets: [&[usize]; 5] = [&[1, 4, 5, 6], &[1, 7, 8, 9], &[1, 3], &[1, 9, 4, 5], &[1, 4, 4]];
    (sources.map(<[usize]>::to_vec).into(), targets.map(<[usize]>::to_vec).into())
}

/// More than one core takes at a time, of all lengths in no order.
fn many() -> Pairs {
    let sentence = |i: usize, length: usize| (0..length).map(|j| 3 + (i * 5 + j * 7) % 7).collect::<Vec<_>>();
    let sources = (0..70).map(|i| [sentence(i, i * 11 % 6), vec![2]].concat());
    let targets = (0..70).map(|i| [vec![1], sentence(i + 1, i * 7 % 9)].concat());
    (sources.collect(), targets.collect())
}

/// The readouts, and the gradients of every parameter for an uneven upstream.
fn run(model: &Seq2Seq, (sources, targets): &Pairs, device: &Device, fused: bool) -> (Vec<f32>, Vec<f32>) {
    fn ids(sentences: &[Vec<usize>]) -> Vec<&[usize]> {
        sentences.iter().map(Vec::as_slice).collect()
    }
    let (source, target) = (SourceBatch::new(&ids(sources), device), TargetBatch::new(&ids(targets), device));
    let (memory, state) = model.encode(&source);
    let readouts = match fused {
        true => model.readouts(&target, state, &memory).values,
        false => {
            let readouts = model.decode(&target, state, &memory).readouts;
            let [b, t, r] = readouts.dims();
            readouts.reshape([b * t, r]).select(0, target.places)
        }
    };
    let [n, r] = readouts.dims();
    let upstream: Vec<f32> = (0..n * r).map(|i| (i * 7 % 11) as f32 / 11.0 - 0.4).collect();
    let upstream = Tensor::<1>::from_floats(upstream.as_slice(), device).reshape([n, r]);
    let gradients = (readouts.clone() * upstream).sum().backward();
    let gradients = GradientsParams::from_grads(gradients, model);
    let mut collect = Collect(&gradients, Vec::new());
    model.visit(&mut collect);
    (readouts.into_data().try_to_vec().unwrap(), collect.1)
}

/// Every kind of model that has a fused decoder, and those that have none.
fn models(device: &Device) -> Vec<(String, Seq2Seq)> {
    let mut models = Vec::new();
    for &score in ScoreKind::ALL.iter().chain([&ScoreKind::None]) {
        for timing in Timing::ALL {
            for input_feeding in [false, true] {
                for reset in [ResetForm::ResetAfter, ResetForm::ResetBefore] {
                    let mut config = ModelConfig::default();
                    config.embedding.size = 6;
                    config.encoder.hidden = 5;
                    config.decoder =
                        DecoderConfig { hidden: 10, timing, input_feeding, gru: reset, ..Default::default() };
                    config.attention =
                        AttentionConfig { score, size: 7, max_positions: 9, ..AttentionConfig::default() };
                    let vocabularies = Vocabularies { source: 11, target: 10 };
                    let model = config.init(vocabularies, &mut Rng::new(3, 0), device).unwrap();
                    models.push((format!("{score} {timing:?} {input_feeding} {reset:?}"), model));
                }
            }
        }
    }
    models
}

#[test]
fn every_score_timing_and_feeding_agrees_forward_and_backward() {
    let device = Device::flex().autodiff();
    for (name, model) in models(&device) {
        agrees(&name, &model, &a_few(), &device);
    }
}

#[test]
fn groups_of_sentences_agree_with_all_at_once() {
    let device = Device::flex().autodiff();
    let two = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    let looks_inside = |name: &str| name.starts_with("additive") && !name.starts_with("additive After false");
    for (name, model) in models(&device).iter().filter(|(name, _)| looks_inside(name)) {
        two.install(|| agrees(name, model, &many(), &device));
    }
}

fn agrees(name: &str, model: &Seq2Seq, pairs: &Pairs, device: &Device) {
    let (fused, twin) = (run(model, pairs, device, true), run(model, pairs, device, false));
    assert_eq!(fused.1.len(), twin.1.len());
    let all = |run: &(Vec<f32>, Vec<f32>)| [run.0.clone(), run.1.clone()].concat();
    for (i, (fused, twin)) in all(&fused).iter().zip(all(&twin)).enumerate() {
        let apart = (fused - twin).abs();
        assert!(apart < 1e-5 * twin.abs().max(1.0), "{name} {i}: {fused} {twin}");
    }
}

/// The stepper on slices finds what the stepper of tensors finds, with the same weights of attention.
#[test]
fn search_on_slices_agrees_with_search_on_tensors() {
    let device = Device::flex();
    let sources: [&[usize]; 4] = [&[4, 5, 6, 7, 2], &[8, 2], &[9, 10, 4, 2], &[5, 2]];
    let mut compared = 0;
    for (name, model) in models(&device) {
        let hosts = [Form::Plain, Form::Packed].map(|form| HostModel::new(&model, form));
        let [Some(plain), Some(packed)] = &hosts else { continue };
        compared += 1;
        for (host, beam) in [(plain, 1), (plain, 3), (packed, 1), (packed, 3)] {
            let config = SearchConfig { beam, ..SearchConfig::default() };
            let tasks = [Task::of(4, 7), Task::of(1, 3), Task::of(3, 5), Task::of(1, 4)];
            let request = Request { config: &config, n_best: beam, forbidden: &[0, 1], tasks: &tasks };
            let (mut fast, state) = host.start(&model, &SourceBatch::new(&sources, &device), 2);
            let fast = beam_search(&mut fast, state, &request);
            let mut slow = ModelStepper::new(&model, &device);
            let state = slow.start(&sources);
            let slow = beam_search(&mut slow, state, &request);
            for (fast, slow) in fast.iter().flatten().zip(slow.iter().flatten()) {
                assert_eq!((&fast.tokens, fast.cut), (&slow.tokens, slow.cut), "{name}, beam {beam}");
                assert!(
                    (fast.log_prob - slow.log_prob).abs() < 1e-5,
                    "{name}: {} {}",
                    fast.log_prob,
                    slow.log_prob
                );
                let all = |looks: &[Look]| looks.iter().flat_map(|look| look.weights.clone()).collect::<Vec<_>>();
                let weights = all(&fast.attention).into_iter().zip(all(&slow.attention));
                assert_eq!(fast.attention.len(), slow.attention.len());
                assert!(weights.into_iter().all(|(a, b)| (a - b).abs() < 1e-5), "{name}");
            }
        }
    }
    // Six of eight scores with the reset after, in both timings, with and without feeding.
    assert_eq!(compared, 6 * 4);
}
