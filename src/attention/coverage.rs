//! Coverage: what has been looked at is known when the next look is scored. Tu et al. 2016, "Modeling coverage for
//! neural machine translation"; the form is See, Liu & Manning 2017, "Get to the point", eq. 10 and 11.

use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor};

use crate::init::{self, Draw};

/// c_s, the sum of the weights that position s has had, joins its key: k_s + w c_s.
///
/// With the additive score that is See's v·tanh(W q + U h_s + w c_s), to the letter. The other scores get the same
/// from the same line: a product becomes q·k_s + c_s (q·w), so that the query decides what having been seen is worth.
#[derive(Module, Debug)]
pub struct Coverage {
    /// w, `[K]`, as large as a key; all heads have the same.
    pub weight: Param<Tensor<1>>,
}

impl Coverage {
    /// Fresh weights for keys of a size.
    pub fn init(key: usize, draw: &mut Draw<'_>, device: &Device) -> Self {
        Self { weight: init::uniform_param(draw, [key], 1.0 / (key as f64).sqrt(), device) }
    }

    /// Keys `[B · N, S, K]` that know the sums `[B, N, S]`.
    pub fn join(&self, keys: Tensor<3>, covered: Tensor<3>) -> Tensor<3> {
        let [rows, s, _] = keys.dims();
        keys + covered.reshape([rows, s, 1]) * self.weight.val().unsqueeze::<3>()
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::attention::{Attention, AttentionConfig, ScoreKind, Sizes, SourceMask, Track};

    fn param<const D: usize>(values: &[f32], shape: [usize; D]) -> Param<Tensor<D>> {
        Param::from_data(TensorData::new(values.to_vec(), shape), &Device::flex())
    }

    /// Attention in which every weight is one number: W = 1, U = 1, v = 2, w = −3.
    fn attention() -> Attention {
        let config = AttentionConfig { score: ScoreKind::Additive, coverage: true, size: 1, ..Default::default() };
        let mut attention = config.init(Sizes { query: 1, memory: 1 }, &mut Draw::Blank, &Device::flex());
        let Some(crate::attention::Score::Additive(score)) = &mut attention.score else { unreachable!() };
        score.query.weight = param(&[1.0], [1, 1]);
        score.key.weight = param(&[1.0], [1, 1]);
        score.energy = param(&[2.0], [1]);
        attention.coverage.as_mut().unwrap().weight = param(&[-3.0], [1]);
        attention
    }

    /// By hand: 2·tanh(q + h_s − 3 c_s), c_s what the steps before gave to s.
    #[test]
    fn keys_know_what_they_have_had() {
        let (attention, device) = (attention(), Device::flex());
        let memory = Tensor::<3>::from_floats([[[0.3], [-0.4], [7.0]]], &device);
        let mask = SourceMask::from_lengths(&[2], 3, &device);
        let memory = attention.remember(memory, mask, Tensor::zeros([1, 1], &device));
        let (mut track, mut covered) = (Track::default(), [0.0f64; 2]);
        for query in [0.1f64, 0.5, -0.2] {
            let seen = attention.attend(Tensor::<3>::from_floats([[[query]]], &device), &memory, track);
            let memory = [0.3, -0.4];
            let scores = [0, 1].map(|s| 2.0 * (query + memory[s] - 3.0 * covered[s]).tanh());
            let first = 1.0 / (1.0 + (scores[1] - scores[0]).exp());
            let weights: Vec<f32> = seen.weights.unwrap().mean.into_data().try_to_vec().unwrap();
            assert!((f64::from(weights[0]) - first).abs() < 1e-6 && weights[2] == 0.0, "{weights:?} {first}");
            covered = [covered[0] + first, covered[1] + 1.0 - first];
            track = seen.track;
        }
        let sums: Vec<f32> = track.covered.unwrap().into_data().try_to_vec().unwrap();
        assert!((f64::from(sums[0]) - covered[0]).abs() < 1e-6 && track.step == 3);
    }
}
