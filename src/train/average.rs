//! The exponential moving average of the weights (Polyak & Juditsky 1992, with the forgetting of Izmailov et al. 2018's
//! predecessors): smoother than the last weights, and often better.

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::Tensor;

/// `average` moved towards `model`: the new average keeps `decay` of the old. At first it forgets faster, by (1 + t) / (10 + t)
/// after t updates, as TensorFlow's does: what was drawn is no weight to keep. Neither has gradients.
pub fn moved<M: Module>(average: M, model: &M, decay: f64, updates: usize) -> M {
    mixed(average, model, decay.min((1.0 + updates as f64) / (10.0 + updates as f64)))
}

/// `keep` of one model's weights and the rest of another's. Neither has gradients.
pub fn mixed<M: Module>(one: M, other: &M, keep: f64) -> M {
    let mut values = Values::default();
    other.visit(&mut values);
    one.map(&mut Mix { values: values.0.into_iter(), keep })
}

/// Flat weights in the order of the model.
#[derive(Default)]
struct Values(Vec<Tensor<1>>);

impl ModuleVisitor for Values {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let values = param.val();
        let n = values.dims().iter().product::<usize>();
        self.0.push(values.reshape([n]));
    }
}

struct Mix {
    values: std::vec::IntoIter<Tensor<1>>,
    keep: f64,
}

impl ModuleMapper for Mix {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let (id, old, mapper) = param.consume();
        let Some(new) = self.values.next() else { return Param::from_mapped_value(id, old, mapper) };
        let shape = old.dims();
        // In this form what does not move stays as it is, to the last bit.
        let mixed = old.clone() + (new.reshape(shape) - old).mul_scalar(1.0 - self.keep);
        Param::from_mapped_value(id, mixed, mapper)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;

    #[derive(Module, Debug)]
    struct One {
        a: Param<Tensor<1>>,
    }

    fn one(values: [f32; 2]) -> One {
        One { a: Param::from_tensor(Tensor::from_floats(values, &Device::flex())) }
    }

    #[test]
    fn moves_by_hand() {
        // After 1 update it keeps 2/11, after many the decay.
        for (updates, keep) in [(1, 2.0 / 11.0), (1_000_000, 0.9)] {
            let average = moved(one([1.0, -3.0]), &one([2.0, 1.0]), 0.9, updates);
            let found: Vec<f64> = average.a.val().into_data().iter::<f64>().collect();
            for (found, [old, new]) in found.iter().zip([[1.0, 2.0], [-3.0, 1.0]]) {
                assert!((found - (keep * old + (1.0 - keep) * new)).abs() < 1e-6, "{updates}: {found}");
            }
        }
    }
}
