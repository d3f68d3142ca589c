//! Real data and other systems' numbers.

use std::path::PathBuf;

use burn::module::Param;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};
use serde_json::Value;

/// The folder with real data: `$ZHUYI_DATA`, or `../shared/data` beside the checkout. Without it a test says
/// so and passes; under `ZHUYI_REQUIRE_DATA` (CI) it fails.
pub fn data() -> Option<PathBuf> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = std::env::var_os("ZHUYI_DATA").map_or(beside, PathBuf::from);
    if folder.join("vectors").is_dir() {
        return Some(folder);
    }
    assert!(std::env::var_os("ZHUYI_REQUIRE_DATA").is_none(), "no data in {}", folder.display());
    eprintln!("skipped: no data in {} (set ZHUYI_DATA)", folder.display());
    None
}

/// A JSON file of the data folder.
pub fn json(name: &str) -> Option<Value> {
    let path = data()?.join(name);
    Some(serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap())
}

/// The cases of a file by name.
pub fn case(file: &Value, name: &str) -> Value {
    let cases = file["cases"].as_array().unwrap();
    cases.iter().find(|case| case["name"] == name).unwrap_or_else(|| panic!("no case {name}")).clone()
}

/// Every number in a value, in order.
pub fn numbers(value: &Value) -> Vec<f32> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Object(object) => numbers(&object["data"]),
        Value::Bool(flag) => vec![f32::from(u8::from(*flag))],
        number => vec![number.as_f64().unwrap() as f32],
    }
}

/// A `{"shape", "data"}` or nested list as a tensor.
pub fn tensor<const D: usize>(value: &Value, device: &Device) -> Tensor<D> {
    let shape: Vec<usize> = match value {
        Value::Object(object) => {
            object["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() as usize).collect()
        }
        nested => {
            let mut shape = Vec::new();
            let mut inner = nested;
            while let Value::Array(items) = inner {
                shape.push(items.len());
                inner = &items[0];
            }
            shape
        }
    };
    Tensor::from_data(TensorData::new(numbers(value), shape), device)
}

/// PyTorch's linear weight `[out, in]` (and bias) as ours.
pub fn linear(weight: &Value, bias: Option<&Value>, device: &Device) -> Linear {
    Linear {
        weight: Param::from_tensor(tensor::<2>(weight, device).transpose()),
        bias: bias.map(|bias| Param::from_tensor(tensor::<1>(bias, device))),
    }
}

/// A tensor's values.
pub fn values<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().iter::<f32>().collect()
}

/// Compares with numbers printed to some tolerance.
pub fn assert_close(ours: &[f32], theirs: &[f32], tolerance: f32, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}: sizes");
    // Not by a maximum, which would pass over what is no number.
    for (place, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() <= tolerance, "{what}: {a} is not {b} at {place}");
    }
}

/// Half a unit of the fourth decimal, and what 32 bits add: JoeyNMT's printed precision.
pub const FOUR_DECIMALS: f32 = 5.1e-5;
/// A unit of the third decimal: Keras' printed precision (it cuts some numbers and rounds others).
pub const THREE_DECIMALS: f32 = 1e-3;
