//! Gradients of every model against central differences.

use super::variants::{decoders, named};
use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor, TensorData};
use rayon::prelude::*;
use zhuyi::attention::AttentionConfig;
use zhuyi::kernels::gru::ResetForm;
use zhuyi::model::{
    DecoderConfig, EmbeddingConfig, EncoderConfig, ModelConfig, Regularization, Seq2Seq, Timing, Vocabularies,
};
use zhuyi::rng::Rng;
use zhuyi::train::batch::{Batch, Example};
use zhuyi::train::loss::batch_loss;

/// How exactly gradients and differences are compared.
#[derive(Clone, Copy)]
pub struct Exactness {
    /// How far a value is moved, to each side: the error of the difference is about its square.
    pub step: f64,
    /// The largest relative error that a right gradient may have.
    pub tolerance: f64,
    /// Of differences smaller than this nobody knows so many digits: errors are relative to it.
    pub least: f64,
}

/// Values tried of each parameter: of plain attentions, and of varied ones, of which there are many.
const TRIED: [usize; 2] = [5, 2];

/// Moves one value of one parameter.
struct Move {
    parameter: usize,
    place: usize,
    by: f64,
    seen: usize,
}

impl ModuleMapper for Move {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let here = self.seen == self.parameter;
        self.seen += 1;
        if !here {
            return param;
        }
        param.map(|tensor| {
            let (shape, device) = (tensor.dims(), tensor.device());
            let mut values: Vec<f64> = tensor.into_data().iter::<f64>().collect();
            values[self.place] += self.by;
            Tensor::from_data(TensorData::new(values, shape), &device)
        })
    }
}

/// The gradients of all parameters, in the order of the model.
struct Collect(GradientsParams, Vec<Vec<f64>>);

impl ModuleVisitor for Collect {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let gradient = self.0.get::<D>(param.id).expect("every parameter has a gradient");
        self.1.push(gradient.into_data().iter::<f64>().collect());
    }
}

/// Sources of 3 and 5 positions with their ends: local-p looks about the middle at first, and with odd lengths no
/// position lies at the edge of a window, where there is no derivative.
fn loss(model: &Seq2Seq, device: &Device) -> Tensor<1> {
    let examples = [Example::new(vec![4, 5, 6, 8], vec![4, 7]), Example::new(vec![8, 7], vec![5, 6, 4])];
    batch_loss(model, &Batch::new(&examples.iter().collect::<Vec<_>>(), device), 0.1)
}

fn check(what: &str, config: &ModelConfig, tried: usize, device: &Device, exactness: Exactness) -> f64 {
    let vocabularies = Vocabularies { source: 9, target: 8 };
    let model = config.init(vocabularies, &mut Rng::new(5, 0), device).unwrap();
    let gradients = GradientsParams::from_grads(loss(&model, device).backward(), &model);
    let mut collect = Collect(gradients, Vec::new());
    model.visit(&mut collect);
    let mut worst: f64 = 0.0;
    for (parameter, gradient) in collect.1.iter().enumerate() {
        for k in 0..tried.min(gradient.len()) {
            let place = k * gradient.len() / tried.min(gradient.len());
            let at = |by| {
                let moved = model.clone().map(&mut Move { parameter, place, by, seen: 0 });
                loss(&moved, device).into_scalar::<f64>()
            };
            let difference = (at(exactness.step) - at(-exactness.step)) / (2.0 * exactness.step);
            let error = (gradient[place] - difference).abs() / difference.abs().max(exactness.least);
            assert!(
                error <= exactness.tolerance,
                "{what}: parameter {parameter} at {place}: {} ≠ {difference} ({error:.1e})",
                gradient[place]
            );
            worst = worst.max(error);
        }
    }
    worst
}

/// Checks every attention, timing, feeding and reset form; returns the worst relative error. Choices that draw have no
/// gradient that a difference could show: `tests/it/hard.rs` has the hard one's.
pub fn check_all(device: &Device, exactness: Exactness) -> f64 {
    let base = AttentionConfig { size: 4, window_size: 1, max_positions: 5, ..AttentionConfig::default() };
    let models: Vec<_> = decoders(&base).into_iter().filter(|(attention, ..)| !attention.choice.draws()).collect();
    let of = |(i, (attention, timing, feeding)): (usize, &(AttentionConfig, Timing, bool))| {
        let plain = *attention == AttentionConfig { score: attention.score, ..base.clone() };
        let forms = [ResetForm::ResetAfter, ResetForm::ResetBefore];
        let (forms, tried) = if plain { (&forms[..], TRIED[0]) } else { (&forms[i % 2..][..1], TRIED[1]) };
        let errors = forms.iter().map(|&gru| {
            let config = ModelConfig {
                embedding: EmbeddingConfig { size: 3, shared: false },
                encoder: EncoderConfig { hidden: 2, layers: 1, bidirectional: true, gru },
                decoder: DecoderConfig {
                    hidden: 4,
                    layers: 1,
                    gru,
                    timing: *timing,
                    input_feeding: *feeding,
                    tied: *feeding,
                },
                attention: attention.clone(),
                regularization: Regularization::default(),
            };
            check(&format!("{}, {gru:?}", named(attention, *timing, *feeding)), &config, tried, device, exactness)
        });
        errors.fold(0.0, f64::max)
    };
    models.par_iter().enumerate().map(of).reduce(|| 0.0, f64::max)
}
