//! Decoder, search and loss against JoeyNMT.

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Int, Tensor};
use serde_json::Value;
use zhuyi::attention::score::additive::Additive;
use zhuyi::attention::{Attention, Score, SourceMask, Track};
use zhuyi::kernels::cross_entropy::{Output, cross_entropy};
use zhuyi::kernels::dropout::Dropout;
use zhuyi::model::embedding::Embedding;
use zhuyi::model::encoder::Encoder;
use zhuyi::model::stepper::RowStates;
use zhuyi::model::{Decoder, DecoderState, ModelStepper, Seq2Seq, Timing};
use zhuyi::search::{Hypothesis, LengthPenalty, Request, SearchConfig, Step, Stepper, Task, beam_search, forced};

use super::oracle_gru::torch;
use super::support::{FOUR_DECIMALS, assert_close, case, json, linear, numbers, tensor, values};

fn decoder(weights: &Value, input_feeding: bool, device: &Device) -> Decoder {
    let layers: Vec<_> = weights["gru"].as_array().unwrap().iter().map(|layer| torch(layer, device)).collect();
    let bridge = match weights.get("bridge_layer_w") {
        Some(weight) => linear(weight, Some(&weights["bridge_layer_b"]), device),
        None => Linear { weight: Param::from_tensor(Tensor::zeros([6, 6], device)), bias: None },
    };
    let score = Additive {
        query: linear(&weights["query_layer"], None, device),
        key: linear(&weights["key_layer"], None, device),
        energy: Param::from_tensor(tensor::<2>(&weights["energy_layer"], device).squeeze_dim(0)),
    };
    Decoder {
        bridge,
        layers,
        attention: Attention::plain(Score::Additive(score)),
        readout: linear(&weights["att_vector_layer_w"], Some(&weights["att_vector_layer_b"]), device),
        dropout: Dropout::new(0.0),
        timing: Timing::After,
        input_feeding,
    }
}

#[test]
fn the_decoder_is_joeynmts() {
    let Some(file) = json("vectors/joeynmt-decoder.json") else { return };
    let (case, device) = (case(&file, "gru_decoder_bahdanau_no_input_feeding"), Device::flex());
    let decoder = decoder(&case["weights"], false, &device);
    let encoded = tensor::<3>(&case["inputs"]["encoder_output"], &device);
    let mask = SourceMask::from_lengths(&[4, 4], 4, &device);
    let memory = decoder.attention.remember(encoded, mask, Tensor::zeros([2, 6], &device));
    let layers = vec![Tensor::zeros([2, 6], &device); 3];
    let start = DecoderState { layers, fed: None, track: Track::default() };
    let embedded = tensor(&case["inputs"]["trg_embed"], &device);
    let [sentences, steps, _] = embedded.dims();
    let decoded = decoder.forward(embedded, &vec![steps; sentences], start, &memory);
    let expected = &case["expected"];
    let output = linear(&case["weights"]["output_layer"], None, &device).forward(decoded.readouts.clone());
    assert_close(&values(output), &numbers(&expected["output"]), FOUR_DECIMALS, "output");
    assert_close(&values(decoded.readouts), &numbers(&expected["att_vectors"]), FOUR_DECIMALS, "readouts");
    let hidden = Tensor::stack::<3>(decoded.state.layers, 1);
    assert_close(&values(hidden), &numbers(&expected["hidden"]), FOUR_DECIMALS, "hidden");
}

/// JoeyNMT's control ids: 1 padding, 2 begin, 3 end.
struct Joey<'a>(ModelStepper<'a>);

impl Stepper for Joey<'_> {
    type State = RowStates;

    fn step(&mut self, state: RowStates, last: &[usize]) -> Step<RowStates> {
        self.0.step(state, last)
    }

    fn select(&self, state: RowStates, rows: &[usize]) -> RowStates {
        self.0.select(state, rows)
    }

    fn begin(&self) -> usize {
        2
    }

    fn end(&self) -> usize {
        3
    }
}

/// The search tests' model, and the states of its two sentences.
fn search_model(file: &Value, device: &Device) -> (Seq2Seq, RowStates) {
    let weights = &file["weights"];
    let embedding = || Embedding { weight: Param::from_tensor(tensor(&weights["embeddings"], device)) };
    let model = Seq2Seq {
        source_embedding: Some(embedding()),
        target_embedding: embedding(),
        encoder: Encoder { layers: vec![], dropout: Dropout::new(0.0) },
        decoder: decoder(weights, true, device),
        output: Some(linear(&weights["output_layer"], None, device)),
        dropout: Dropout::new(0.0),
        word_dropout: Dropout::new(0.0),
    };
    let encoded = tensor::<3>(&file["inputs"]["encoder_output"], device);
    let last = tensor::<2>(&file["inputs"]["encoder_hidden"], device);
    let state = model.decoder.start(last.clone());
    let mask = SourceMask::from_lengths(&[4, 4], 4, device);
    let memory = model.decoder.attention.remember(encoded, mask, last);
    (model, RowStates { memory, state })
}

/// What a search finds that may not write some tokens beside those that JoeyNMT's may not.
fn search(file: &Value, beam: usize, length_penalty: LengthPenalty, never: &[usize]) -> Vec<Vec<Hypothesis>> {
    let device = Device::flex();
    let (model, states) = search_model(file, &device);
    let config = SearchConfig { beam, length_penalty, ..SearchConfig::default() };
    let forbidden = [&[2, 1, 4, 5, 6], never].concat();
    let tasks = [Task { least: 1, ..Task::of(2, 3) }; 2];
    let request = Request { config: &config, n_best: beam, forbidden: &forbidden, tasks: &tasks };
    beam_search(&mut Joey(ModelStepper::new(&model, &device)), states, &request)
}

#[test]
fn greedy_search_is_joeynmts() {
    let Some(file) = json("vectors/joeynmt-search.json") else { return };
    let expected = &file["greedy"]["expected"];
    let found: Vec<Hypothesis> = search(&file, 1, LengthPenalty::None, &[]).into_iter().flatten().collect();
    let ids: Vec<f32> = found.iter().flat_map(|found| &found.tokens).map(|&id| id as f32).collect();
    assert_eq!(ids, numbers(&expected["ids"]));
    let attention: Vec<f32> =
        found.iter().flat_map(|found| found.attention.iter().flat_map(|look| look.weights.clone())).collect();
    assert_close(&attention, &numbers(&expected["attention"]), FOUR_DECIMALS, "attention");
    // Each token's own log-probability, forced.
    let device = Device::flex();
    let (model, states) = search_model(&file, &device);
    let targets: Vec<&[usize]> = found.iter().map(|found| found.tokens.as_slice()).collect();
    let scored = forced(&mut Joey(ModelStepper::new(&model, &device)), states, &targets);
    let scores: Vec<f32> = scored.iter().flat_map(|scored| &scored.log_probs[..3]).map(|&x| x as f32).collect();
    assert_close(&scores, &numbers(&expected["scores"]), FOUR_DECIMALS, "scores");
}

#[test]
fn beam_search_is_joeynmts() {
    let Some(file) = json("vectors/joeynmt-search.json") else { return };
    for (name, beam, alpha, n_best) in [("beam1", 1, 0.0, 1), ("beam7", 7, 1.0, 5)] {
        // JoeyNMT ranks what the limit cut among what has ended. We tell the former only where there is none of the latter: a
        // second search that may not end gives it.
        let search = |never: &[usize]| search(&file, beam, LengthPenalty::Gnmt(alpha), never);
        let mut found = search(&[]);
        for (found, mut cut) in found.iter_mut().zip(search(&[3])) {
            found.retain(|it| !it.cut);
            found.append(&mut cut);
            found.sort_by(|a, b| b.score.total_cmp(&a.score));
        }
        let best: Vec<&Hypothesis> = found.iter().flat_map(|found| &found[..n_best]).collect();
        let padded = |hypothesis: &&Hypothesis| {
            let end = if hypothesis.cut { vec![] } else { vec![3] };
            let tokens = hypothesis.tokens.iter().copied().chain(end).chain([1; 3]);
            tokens.take(3).map(|id| id as f32).collect::<Vec<_>>()
        };
        let ids: Vec<f32> = best.iter().flat_map(padded).collect();
        assert_eq!(ids, numbers(&file[name]["expected"]["ids"]), "{name}");
        let scores: Vec<f32> = best.iter().map(|hypothesis| hypothesis.score as f32).collect();
        assert_close(&scores, &numbers(&file[name]["expected"]["scores"]), FOUR_DECIMALS, name);
    }
}

/// Theirs is a Kullback–Leibler divergence: cross-entropy less the entropy of the smoothed targets.
#[test]
fn the_loss_is_joeynmts() {
    let Some(file) = json("vectors/joeynmt-loss.json") else { return };
    let device = Device::flex();
    let targets: Vec<i32> = numbers(&file["targets"]).into_iter().map(|id| id as i32).collect();
    let rows: Vec<i32> = (0..6).filter(|&row| targets[row as usize] != 0).collect();
    let real: Vec<i32> = rows.iter().map(|&row| targets[row as usize]).collect();
    let select = Tensor::<1, Int>::from_ints(rows.as_slice(), &device);
    let logits = tensor::<3>(&file["predict"], &device).log().reshape([6, 5]).select(0, select);
    for (name, smoothing) in [("label_smoothing", 0.4f64), ("no_smoothing", 0.0)] {
        let expected = case(&file, name)["loss"].as_f64().unwrap();
        // Through an identity; a finite number instead of their ln 0.
        let readouts = logits.clone().clamp_min(-1e4);
        let targets = Tensor::from_ints(real.as_slice(), &device);
        let loss = cross_entropy(readouts, Output::Own(Tensor::eye(5, &device)), targets, smoothing, rows.len());
        let entropy = |p: f64| if p > 0.0 { -p * p.ln() } else { 0.0 };
        let entropy = rows.len() as f64 * (entropy(1.0 - smoothing) + 3.0 * entropy(smoothing / 3.0));
        let divergence = rows.len() as f64 * f64::from(loss.into_scalar::<f32>()) - entropy;
        assert!((divergence - expected).abs() <= 5.1e-5, "{name}: {divergence} ≠ {expected}");
    }
}
