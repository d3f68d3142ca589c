//! Attention against JoeyNMT (Bahdanau, general) and Keras (dot, concat, additive).

use burn::module::Param;
use burn::tensor::{Device, Tensor};
use serde_json::Value;
use zhuyi::attention::score::additive::Additive;
use zhuyi::attention::score::concat::Concat;
use zhuyi::attention::score::dot::Dot;
use zhuyi::attention::score::general::General;
use zhuyi::attention::{Attention, Memory, Score, SourceMask, Track};

use super::support::{FOUR_DECIMALS, THREE_DECIMALS, assert_close, case, json, linear, numbers, tensor, values};

fn attention(score: Score) -> Attention {
    Attention::plain(score)
}

/// A mask of ones and zeros `[B, S]`, one for real.
fn mask(value: &Value, device: &Device) -> SourceMask {
    SourceMask::from_padding(tensor::<3>(value, device).squeeze_dim::<2>(1).equal_elem(0))
}

fn joey(name: &str, build: impl Fn(&Value, &Device) -> Score) {
    let Some(file) = json("vectors/joeynmt-attention.json") else { return };
    let (case, device) = (case(&file, name), Device::flex());
    let keys = tensor::<3>(&case["inputs"]["keys"], &device);
    let [b, _, m] = keys.dims();
    let attention = attention(build(&case["weights"], &device));
    let mask = mask(&case["inputs"]["mask"], &device);
    let memory = attention.remember(keys, mask, Tensor::zeros([b, m], &device));
    let looked = attention.attend(tensor(&case["inputs"]["queries"], &device), &memory, Track::default());
    let expected = &case["expected"];
    assert_close(
        &values(looked.weights.unwrap().mean),
        &numbers(&expected["attention_probs"]),
        FOUR_DECIMALS,
        name,
    );
    assert_close(&values(looked.context), &numbers(&expected["contexts"]), FOUR_DECIMALS, name);
}

fn additive(weights: &Value, device: &Device) -> Additive {
    Additive {
        query: linear(&weights["query_layer"], None, device),
        key: linear(&weights["key_layer"], None, device),
        energy: Param::from_tensor(tensor::<2>(&weights["energy_layer"], device).squeeze_dim(0)),
    }
}

#[test]
fn bahdanau_is_joeynmts() {
    joey("bahdanau_forward", |weights, device| Score::Additive(additive(weights, device)));
}

/// Concat with its matrix put together from additive's two gives the same weights.
#[test]
fn concat_is_additive_with_one_matrix() {
    joey("bahdanau_forward", |weights, device| {
        let parts = additive(weights, device);
        let joined = Tensor::cat(vec![parts.query.weight.val(), parts.key.weight.val()], 0);
        let weight = burn::nn::Linear { weight: Param::from_tensor(joined), bias: None };
        Score::Concat(Concat { weight, energy: parts.energy })
    });
}

#[test]
fn general_is_joeynmts() {
    joey("luong_general_forward", |weights, device| {
        Score::General(General { key: linear(&weights["key_layer"], None, device) })
    });
}

#[test]
fn projected_keys_are_joeynmts() {
    let Some(file) = json("vectors/joeynmt-attention.json") else { return };
    let device = Device::flex();
    for name in ["bahdanau_precompute", "luong_precompute"] {
        let case = case(&file, name);
        let key = linear(&case["weights"]["key_layer"], None, &device);
        let keys = General { key }.keys(tensor(&case["inputs"]["keys"], &device));
        assert_close(&values(keys), &numbers(&case["expected"]["proj_keys"]), FOUR_DECIMALS, name);
    }
}

#[test]
fn dot_concat_and_additive_are_keras() {
    let Some(file) = json("vectors/keras-attention.json") else { return };
    let device = Device::flex();
    let identity = || burn::nn::Linear { weight: Param::from_tensor(Tensor::eye(2, &device)), bias: None };
    let ones = || Param::from_tensor(Tensor::ones([2], &device));
    let joined = || {
        let both = Tensor::cat(vec![Tensor::eye(2, &device), Tensor::eye(2, &device)], 0);
        burn::nn::Linear { weight: Param::from_tensor(both), bias: None }
    };
    for name in ["dot", "concat", "dot_mask", "additive", "additive_mask"] {
        let case = case(&file, name);
        let attention = attention(match name {
            "dot" | "dot_mask" => Score::Dot(Dot {}),
            "concat" => Score::Concat(Concat { weight: joined(), energy: ones() }),
            _ => Score::Additive(Additive { query: identity(), key: identity(), energy: ones() }),
        });
        // Keras tells keys and values apart; here they come from one memory, so it is put together by hand.
        let (keys, values_) = (tensor::<3>(&case["key"], &device), tensor::<3>(&case["value"], &device));
        let mask = match case.get("value_mask") {
            Some(mask) => SourceMask::from_padding(tensor::<2>(mask, &device).equal_elem(0)),
            None => SourceMask::from_lengths(&[2], 2, &device),
        };
        let of_keys = attention.remember(keys, mask.clone(), Tensor::zeros([1, 2], &device)).keys;
        let memory = Memory { keys: of_keys, values: values_, mask, summary: Tensor::zeros([1, 2], &device) };
        let looked = attention.attend(tensor(&case["query"], &device), &memory, Track::default());
        assert_close(&values(looked.weights.unwrap().mean), &numbers(&case["scores"]), THREE_DECIMALS, name);
        // A masked query's output is zero with Keras; there are no such queries here.
        let rows = if case.get("query_mask").is_some() { 2 } else { 4 };
        let (ours, theirs) = (values(looked.context), numbers(&case["output"]));
        assert_close(&ours[..rows], &theirs[..rows], THREE_DECIMALS, name);
    }
}
