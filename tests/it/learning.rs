//! Something learns.

use burn::tensor::Device;
use zhuyi::Result;
use zhuyi::config::{Config, TOY};
use zhuyi::model::{Seq2Seq, Vocabularies};
use zhuyi::prepare::prepare;
use zhuyi::ranks::Ranks;
use zhuyi::rng::Rng;
use zhuyi::train::{Event, Observer, StopReason, train};

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

    fn best(&mut self, _: &Seq2Seq) -> Result<()> {
        self.models += 1;
        Ok(())
    }

    fn stop(&self) -> bool {
        self.stop_after.is_some_and(|most| self.events.len() >= most)
    }
}

fn run(settings: &[&str], listener: &mut Listener) -> zhuyi::train::Summary {
    let settings: Vec<String> = settings.iter().map(|&setting| setting.to_owned()).collect();
    let config = Config::parse("toy.toml".as_ref(), TOY, &settings).unwrap();
    let data = prepare(&config).unwrap();
    let vocabularies = Vocabularies { source: data.source.size(), target: data.target.size() };
    let device = Device::flex();
    let model = config.model().init(vocabularies, &mut Rng::new(config.train.seed, 0), &device).unwrap();
    train(model, &data.examples, &data.dev, &config.train, &device, &Ranks::default(), listener).unwrap()
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
