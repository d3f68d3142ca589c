//! The GRU and the encoder against Keras (both reset forms), ONNX and JoeyNMT, fused and composed.

use burn::module::Param;
use burn::tensor::{Device, Tensor};
use serde_json::Value;
use zhuyi::kernels::dropout::Dropout;
use zhuyi::kernels::gru::{Direction, ResetForm};
use zhuyi::model::Gru;
use zhuyi::model::encoder::{Encoder, EncoderLayer};

use super::support::{FOUR_DECIMALS, assert_close, case, json, numbers, tensor, values};

/// flex runs the fused GRU, ndarray the composed one.
#[allow(deprecated)]
fn devices() -> [Device; 2] {
    [Device::flex(), Device::ndarray()]
}

/// A PyTorch GRU's weights `[3H, in]` in the order r, z, n.
pub fn torch(weights: &Value, device: &Device) -> Gru {
    let matrix = |name: &str| Param::from_tensor(tensor::<2>(&weights[name], device).transpose());
    let vector = |name: &str| Param::from_tensor(tensor::<1>(&weights[name], device));
    Gru {
        input_weight: matrix("w_ih"),
        hidden_weight: matrix("w_hh"),
        input_bias: vector("b_ih"),
        hidden_bias: vector("b_hh"),
        reset: ResetForm::ResetAfter,
    }
}

/// Weights in the order z, r, n turned into r, z, n along their first dimension.
fn reordered<const D: usize>(gates: Tensor<D>) -> Tensor<D> {
    let h = gates.dims()[0] / 3;
    let part = |i| gates.clone().narrow(0, i * h, h);
    Tensor::cat(vec![part(1), part(0), part(2)], 0)
}

#[test]
fn the_encoder_is_joeynmts() {
    let Some(file) = json("vectors/joeynmt-encoder.json") else { return };
    let case = case(&file, "bidirectional_gru_3_layers");
    for device in devices() {
        let weights = case["weights"]["gru"].as_array().unwrap();
        let of = |layer: u64, direction: &str| {
            let found = weights.iter().find(|w| w["layer"] == layer && w["direction"] == direction);
            torch(found.unwrap(), &device)
        };
        let layers = (0..3)
            .map(|layer| EncoderLayer { forward: of(layer, "forward"), backward: Some(of(layer, "backward")) })
            .collect();
        let encoder = Encoder { layers, dropout: Dropout::new(0.0) };
        let encoded = encoder.forward(tensor(&case["inputs"]["x"], &device), &[4, 4]);
        let expected = &case["expected"];
        assert_close(&values(encoded.states), &numbers(&expected["output"]), FOUR_DECIMALS, "output");
        assert_close(&values(encoded.last), &numbers(&expected["hidden"]), FOUR_DECIMALS, "hidden");
    }
}

#[test]
fn the_gru_is_keras_in_both_reset_forms() {
    let Some(file) = json("vectors/keras-gru.json") else { return };
    for device in devices() {
        for case in file["cases"].as_array().unwrap() {
            keras(case, &device);
        }
    }
}

fn keras(case: &Value, device: &Device) {
    let name = case["name"].as_str().unwrap();
    let sizes = |key: &str| -> Vec<usize> {
        case[key].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
    };
    let [batch, steps, d_in] = sizes("input_arange_shape")[..] else { panic!() };
    let h = case["units"].as_u64().unwrap() as usize;
    let constant = |key: &str| case["constant_weights"][key].as_f64().unwrap();
    let reset = if case["reset_after"] == false { ResetForm::ResetBefore } else { ResetForm::ResetAfter };
    let bias = if case["use_bias"] == false { 0.0 } else { constant("bias") };
    let hidden_bias = if reset == ResetForm::ResetAfter { bias } else { 0.0 };
    let full = |shape: [usize; 2], value| Param::from_tensor(Tensor::<2>::full(shape, value, device));
    let gru = Gru {
        input_weight: full([d_in, 3 * h], constant("kernel")),
        hidden_weight: full([h, 3 * h], constant("recurrent_kernel")),
        input_bias: Param::from_tensor(Tensor::full([3 * h], bias, device)),
        hidden_bias: Param::from_tensor(Tensor::full([3 * h], hidden_bias, device)),
        reset,
    };
    let backwards = case["go_backwards"] == true;
    let inputs = Tensor::<3>::from_data(
        burn::tensor::TensorData::new((0..batch * steps * d_in).map(|i| i as f32).collect(), [batch, steps, d_in]),
        device,
    );
    // Keras' masks may have holes, which a length can't say: each sentence is read without its masked steps.
    let mask = case.get("mask").map(numbers);
    let calls = case["calls"].as_u64().unwrap_or(1);
    for row in 0..batch {
        let read: Vec<usize> =
            (0..steps).filter(|&t| mask.as_ref().is_none_or(|mask| mask[row * steps + t] == 1.0)).collect();
        let chosen = read.iter().map(|&t| inputs.clone().slice([row..row + 1, t..t + 1, 0..d_in])).collect();
        let chosen: Tensor<3> = Tensor::cat(chosen, 1);
        let mut state = match case.get("initial_state") {
            Some(start) => tensor::<2>(start, device).slice([row..row + 1, 0..h]),
            None => Tensor::zeros([1, h], device),
        };
        let mut states = Tensor::zeros([1, 1, h], device);
        for _ in 0..calls {
            let direction = if backwards { Direction::Backward } else { Direction::Forward };
            states = gru.sequence(chosen.clone(), state, &[read.len()], direction);
            let last = if backwards { 0 } else { read.len() - 1 };
            state = states.clone().narrow(1, last, 1).squeeze_dim(1);
        }
        let expected = numbers(&case["expected_last_output"][row]);
        assert_close(&values(state), &expected, 1e-6, name);
        if let Some(sequence) = case.get("expected_sequence") {
            for (place, &t) in read.iter().enumerate() {
                let ours = values(states.clone().narrow(1, place, 1));
                assert_close(&ours, &numbers(&sequence[row][t]), 1e-6, name);
            }
        }
    }
}

#[test]
fn the_gru_is_onnx() {
    let Some(file) = json("vectors/onnx-gru.json") else { return };
    for device in devices() {
        for case in file["cases"].as_array().unwrap() {
            onnx(case, &device);
        }
    }
}

fn onnx(case: &Value, device: &Device) {
    let name = case["name"].as_str().unwrap();
    let batch_first = case["attributes"]["layout"] == 1;
    let inputs = tensor::<3>(&case["inputs"]["X"], device);
    let inputs = if batch_first { inputs } else { inputs.swap_dims(0, 1) };
    let [batch, steps, _] = inputs.dims();
    let weights = tensor::<3>(&case["inputs"]["W"], device);
    let recurrent = tensor::<3>(&case["inputs"]["R"], device);
    let [directions, _, h] = recurrent.dims();
    for d in 0..directions {
        let of = |weights: &Tensor<3>| {
            Param::from_tensor(reordered(weights.clone().narrow(0, d, 1).squeeze_dim::<2>(0)).transpose())
        };
        let bias = |which: usize| {
            Param::from_tensor(match case["inputs"].get("B") {
                Some(bias) => {
                    let row = tensor::<2>(bias, device).narrow(0, d, 1).squeeze_dim::<1>(0);
                    reordered(row.narrow(0, which * 3 * h, 3 * h))
                }
                None => Tensor::zeros([3 * h], device),
            })
        };
        let gru = Gru {
            input_weight: of(&weights),
            hidden_weight: of(&recurrent),
            input_bias: bias(0),
            hidden_bias: bias(1),
            reset: ResetForm::ResetBefore,
        };
        let backward = case["attributes"]["direction"] == "reverse" || d == 1;
        let direction = if backward { Direction::Backward } else { Direction::Forward };
        let states =
            gru.sequence(inputs.clone(), Tensor::zeros([batch, h], device), &vec![steps; batch], direction);
        let last = states.narrow(1, if backward { 0 } else { steps - 1 }, 1);
        let expected = numbers(&case["outputs"]["Y_h"]);
        let expected = &expected[d * batch * h..(d + 1) * batch * h];
        assert_close(&values(last), expected, 1e-6, name);
    }
}
