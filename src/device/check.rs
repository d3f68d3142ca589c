//! Whether a device computes rightly, asked before anything is trusted to it: drivers, shader compilers and tuned kernels
//! have returned zeros without a word (burn issues 4907, 4966, 5257).

use burn::tensor::activation::{softmax, tanh};
use burn::tensor::{Device, Tensor, TensorData};

use super::{DeviceKind, Opened};
use crate::error::{Error, Result};

/// Rows, columns and depth of the products: small tiles, large ones, and sizes that no tile divides.
const PRODUCTS: [[usize; 3]; 3] = [[3, 5, 7], [33, 65, 130], [512, 512, 512]];

/// How far a value may be off, relative to the largest. Rounding in 32 bits stays far below; tensor cores, which round what
/// they multiply to 11 bits, are off by 4e-4 in the smallest of the products.
const OFF: f32 = 2e-3;

/// Compares a device with the processor: matrix products, softmax, and a gradient.
///
/// # Errors
/// Names what came out wrong.
pub fn check(opened: &Opened) -> Result<()> {
    if opened.kind == DeviceKind::Cpu {
        return Ok(());
    }
    let reference = Device::flex();
    for shape in PRODUCTS {
        let [m, n, k] = shape;
        let of = |device: &Device| values(device, [m, k], 0.0).matmul(values(device, [k, n], 1.0));
        compare(opened, &format!("a product of {m} × {k} and {k} × {n}"), of(&opened.device), of(&reference))?;
    }
    let soft = |device: &Device| softmax(values(device, [17, 70], 2.0).mul_scalar(8.0), 1);
    compare(opened, "a softmax", soft(&opened.device), soft(&reference))?;
    compare(opened, "a gradient", gradient(&opened.device), gradient(&reference))
}

/// Of a layer with a tanh, by its weights.
fn gradient(device: &Device) -> Tensor<2> {
    let device = device.clone().autodiff();
    let weights = values(&device, [40, 50], 3.0).require_grad();
    let layer = tanh(values(&device, [9, 40], 4.0).matmul(weights.clone()).mul_scalar(0.05));
    let gradients = layer.sum().backward();
    weights.grad(&gradients).unwrap_or_else(|| Tensor::zeros([40, 50], &device.without_autodiff()))
}

/// Numbers from 0.1 to 1.1, so that nothing cancels in a product.
fn values(device: &Device, shape: [usize; 2], phase: f32) -> Tensor<2> {
    let values: Vec<f32> = (0..shape[0] * shape[1]).map(|i| 0.6 + 0.5 * (0.7 * i as f32 + phase).sin()).collect();
    Tensor::from_data(TensorData::new(values, shape), device)
}

fn compare(opened: &Opened, what: &str, found: Tensor<2>, expected: Tensor<2>) -> Result<()> {
    let wrong = |how: String| {
        Err(Error::Device(format!(
            "{opened} computes wrongly: {what} {how}; update its driver, or take --device cpu"
        )))
    };
    let (Ok(found), Ok(expected)) =
        (found.into_data().try_to_vec::<f32>(), expected.into_data().try_to_vec::<f32>())
    else {
        return wrong("could not be read".into());
    };
    let largest = expected.iter().fold(0f32, |largest, value| largest.max(value.abs()));
    // Not a number is off by nothing, so it is looked for by itself.
    let off = found.iter().zip(&expected).map(|(found, expected)| (found - expected).abs());
    let off = off.fold(0f32, |most, off| if off.is_nan() { f32::INFINITY } else { most.max(off) });
    if found.len() != expected.len() || off > OFF * largest {
        return wrong(format!("is off by {off:.1e} where values reach {largest:.1e}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Known fault B4: zeros, and numbers that are none, do not pass for a product.
    #[test]
    fn zeros_and_no_numbers_are_found() {
        let opened = DeviceKind::Ndarray.open(None).unwrap();
        check(&opened).unwrap();
        let device = Device::flex();
        let right = || values(&device, [4, 4], 0.0);
        let told = compare(&opened, "a product", right().mul_scalar(0.0), right()).unwrap_err().to_string();
        assert!(told.starts_with("ndarray computes wrongly: a product is off by"), "{told}");
        assert!(compare(&opened, "a product", right().mul_scalar(f32::NAN), right()).is_err());
        assert!(compare(&opened, "a product", right().mul_scalar(1.0 + 1e-5), right()).is_ok());
    }
}
