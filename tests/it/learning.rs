//! Something learns.

use std::sync::LazyLock;

use burn::module::{Module, ModuleMapper, Param};
use burn::tensor::{Device, Tensor};
use zhuyi::Result;
use zhuyi::config::{Config, TOY};
use zhuyi::model::host::LaidOut;
use zhuyi::model::{Seq2Seq, Vocabularies, batched};
use zhuyi::prepare::{Prepared, prepare};
use zhuyi::ranks::Ranks;
use zhuyi::rng::Rng;
use zhuyi::train::{Event, Observer, Standing, State, StopReason, Task, train};

/// Remembers what it is told; asks to stop after a number of events.
#[derive(Default)]
struct Listener {
    events: Vec<Event>,
    models: usize,
    stop_after: Option<usize>,
}

impl Observer for Listener {
    fn event(&mut self, event: &Event) -> Result<()> {
        self.events.push(event.clone());
        Ok(())
    }

    fn scored(&mut self, _: &Seq2Seq, standing: Standing<'_>) -> Result<()> {
        self.models += usize::from(standing.best);
        Ok(())
    }

    fn checkpoint(&mut self, _: &State) -> Result<()> {
        Ok(())
    }

    fn stop(&self) -> bool {
        self.stop_after.is_some_and(|most| self.events.len() >= most)
    }
}

static ALONE: LazyLock<Ranks> = LazyLock::new(Ranks::default);

fn task<'a>(config: &'a Config, data: &'a Prepared, device: &'a Device) -> Task<'a> {
    Task {
        examples: &data.examples,
        dev: &data.dev,
        config: &config.train,
        checkpoint: &config.checkpoint,
        device,
        ranks: &ALONE,
    }
}

fn run(settings: &[&str], listener: &mut Listener) -> zhuyi::train::Summary {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let config = Config::parse("toy.toml".as_ref(), TOY, &settings).unwrap();
    let data = prepare(&config).unwrap();
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let device = Device::flex();
    let model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), &device).unwrap();
    train(State::fresh(model, &config.train), task(&config, &data, &device), listener).unwrap()
}

/// The shipped recipe, cut short: enough to see it learn.
#[test]
fn a_model_learns_the_toy_language() {
    let mut listener = Listener::default();
    let settings = ["train.max_steps=400", "train.validate_every=100", "model.dropout=0.1"];
    let summary = run(&settings, &mut listener);
    assert_eq!((summary.steps, summary.reason, summary.skipped), (400, StopReason::Steps, 0));
    let losses: Vec<f64> = listener
        .events
        .iter()
        .filter_map(|event| if let Event::Progress { loss, .. } = event { Some(*loss) } else { None })
        .collect();
    assert!(losses[0] > 3.0 && losses[losses.len() - 1] < 1.0, "{losses:?}");
    let best = summary.best.unwrap();
    assert!(best.bleu > 60.0 && best.exact_match > 0.4, "{best:?}");
    assert!((best.perplexity - best.loss.exp()).abs() < 1e-9);
    assert!(listener.models >= 2);
}

#[test]
fn training_stops_when_asked_out_of_time_or_patience() {
    let mut listener = Listener { stop_after: Some(2), ..Listener::default() };
    let summary = run(&["train.report_every=2"], &mut listener);
    assert_eq!((summary.reason, summary.steps, summary.best), (StopReason::Interrupted, 2, None));
    let summary = run(&["train.max_minutes=0"], &mut Listener::default());
    assert_eq!((summary.reason, summary.steps), (StopReason::Minutes, 0));
    // A rate of zero never gets better than its first validation.
    let settings = ["train.learning_rate=0", "train.validate_every=2", "train.patience=2"];
    let summary = run(&settings, &mut Listener::default());
    assert_eq!((summary.reason, summary.steps, summary.best_step), (StopReason::Patience, 6, 2));
}

/// Makes every weight a number that is none, as a broken device would.
struct Broken;

impl ModuleMapper for Broken {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, tensor, mapper) = param.consume();
        Param::from_mapped_value(id, tensor.mul_scalar(f32::NAN), mapper)
    }
}

/// Known fault B4: weights that hold no numbers stop training instead of wasting a night, are never the best model, and
/// translate into an error instead of empty lines.
#[test]
fn weights_that_are_no_numbers_end_training_and_translate_nothing() {
    let settings = ["train.validate_every=20".to_owned()];
    let config = Config::parse("toy.toml".as_ref(), TOY, &settings).unwrap();
    let data = prepare(&config).unwrap();
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let device = Device::flex();
    let model = config.model().init(vocabularies, &mut Rng::new(1, 0), &device).unwrap().map(&mut Broken);
    let mut listener = Listener::default();
    let state = State::fresh(model.clone(), &config.train);
    let ended = train(state, task(&config, &data, &device), &mut listener).unwrap_err();
    assert!(ended.to_string().starts_with("the last 50 updates, to step 50, were left out"), "{ended}");
    let validated = listener.events.iter().filter(|event| matches!(event, Event::Validated { .. })).count();
    assert_eq!((validated, listener.models), (2, 0));
    let (source, target) = (&data.dev.examples[0].source[..], &data.dev.examples[0].target[..]);
    let translated = batched::translate(&model, &LaidOut::default(), &[source], &config.search, 1, &device);
    let scored = batched::score(&model, &LaidOut::default(), &[source], &[target], 1, &device);
    for told in [translated.unwrap_err(), scored.unwrap_err()] {
        assert!(told.to_string().contains("probabilities that are no numbers"), "{told}");
    }
}
