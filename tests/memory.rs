//! Known fault B8: memory stays flat over many validations and translations. In a process of its own, so
//! that nothing else grows beside it.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used)]

use burn::module::Module;
use burn::tensor::Device;
use zhuyi::config::{Config, TOY};
use zhuyi::model::host::LaidOut;
use zhuyi::model::{Vocabularies, batched};
use zhuyi::prepare::prepare;
use zhuyi::rng::Rng;
use zhuyi::train::batch::Batch;
use zhuyi::train::loss::batch_loss;

const ROUNDS: usize = 2000;
/// Rounds before the first look: pools and caches fill up.
const WARM_UP: usize = 200;
/// How much more memory is still flat.
const GROWTH: f64 = 1.10;

/// Resident memory in pages.
fn resident() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    statm.split(' ').nth(1).unwrap().parse().unwrap()
}

#[test]
fn memory_stays_flat() {
    let config = Config::parse("toy.toml".as_ref(), TOY, &[]).unwrap();
    let data = prepare(&config).unwrap();
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let training = Device::flex().autodiff();
    let model = config.model().init(vocabularies, &mut Rng::new(1, 0), &training).unwrap().valid();
    let device = training.without_autodiff();

    let examples = &data.dev.examples;
    let validate = |round: usize| {
        let chosen: Vec<_> = (0..16).map(|k| &examples[(16 * round + k) % examples.len()]).collect();
        let loss = batch_loss(&model, &Batch::new(&chosen, &device), 0.0);
        assert!(!loss.is_autodiff(), "validation must not keep gradients");
        assert!(loss.into_scalar::<f64>().is_finite());
    };
    let translate = |round: usize| {
        let source = examples[round % examples.len()].source.as_slice();
        assert_eq!(
            batched::translate(&model, &LaidOut::default(), &[source], &config.search, 1, &device).unwrap().len(),
            1
        );
    };
    for (what, work) in [("validation", &validate as &dyn Fn(usize)), ("translation", &translate)] {
        (0..WARM_UP).for_each(work);
        let before = resident();
        (0..ROUNDS).for_each(work);
        let growth = resident() / before;
        eprintln!("{what}: memory × {growth:.3} over {ROUNDS} rounds");
        assert!(growth < GROWTH, "{what}: memory grew by {growth:.3} over {ROUNDS} rounds");
    }
}
