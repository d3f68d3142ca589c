//! Where attention may look: everywhere, or about one position. Luong, Pham & Manning 2015, section 3.2.

use burn::module::{Module, Param};
use burn::nn::Linear;
use burn::tensor::activation::sigmoid;
use burn::tensor::{Bool, Device, Int, Tensor};
use serde::{Deserialize, Serialize};

use super::mask::{SourceMask, like};
use super::{AttentionConfig, Sizes};
use crate::init::{self, Bias, Draw};
use crate::kernels::linear::{self, Activation};

/// Where attention may look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowKind {
    /// Everywhere.
    #[default]
    Global,
    /// About the position that has the number of the step: as if both languages had the same order.
    LocalM,
    /// About a position that is predicted from the query.
    LocalP,
}

impl WindowKind {
    /// Every window.
    pub const ALL: [Self; 3] = [Self::Global, Self::LocalM, Self::LocalP];

    /// The name in configs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::LocalM => "local-m",
            Self::LocalP => "local-p",
        }
    }

    /// What it does, in one line.
    pub fn about(self) -> &'static str {
        match self {
            Self::Global => "looks everywhere",
            Self::LocalM => "looks about the position that has the number of the step (Luong 2015)",
            Self::LocalP => "looks about a predicted position, Gaussian (Luong 2015)",
        }
    }
}

/// A window of D positions to each side of a centre p_t, counted from 0: |s − p_t| ≤ D. What of it hangs over an end of
/// the sentence is empty; what is outside has weight exactly 0.
///
/// - local-m: p_t = t. Past the end of the source, where the paper says nothing, p_t stays at its last position.
/// - local-p (eq. 9 and 10): p_t = S·σ(v·tanh(W q)), with S the sentence's own length, its end counted; weights are
///   multiplied by exp(−(s − p_t)² / 2σ²), σ = D/2, and *not* scaled up again, so a row sums to at most 1. p_t learns
///   through this factor only. Choices that pick one position take the factor before they pick.
#[derive(Module, Debug)]
pub struct Window {
    /// Predicts p_t (local-p).
    pub position: Option<Position>,
    #[module(skip)]
    kind: WindowKind,
    /// D.
    #[module(skip)]
    half: usize,
    #[module(skip)]
    renormalized: bool,
}

/// What predicts a position.
#[derive(Module, Debug)]
pub struct Position {
    /// W, `[H, K]`.
    pub hidden: Linear,
    /// v, `[K]`.
    pub energy: Param<Tensor<1>>,
}

/// The windows of some queries.
#[derive(Clone, Debug)]
pub struct Around {
    /// True where a query can't look, `[B, R, S]`.
    pub outside: Tensor<3, Bool>,
    /// The logarithm of the factor of each position, `[B, R, S]`; only local-p has one.
    pub log_factor: Option<Tensor<3>>,
    /// Whether rows are scaled up to 1 after the factor.
    pub renormalized: bool,
}

impl Window {
    /// A window with fresh weights, of `kind`, the rest as the config says.
    pub fn init(
        config: &AttentionConfig,
        kind: WindowKind,
        sizes: Sizes,
        draw: &mut Draw<'_>,
        device: &Device,
    ) -> Self {
        let position = (kind == WindowKind::LocalP).then(|| Position {
            hidden: init::linear(draw, [sizes.query, config.size], Bias::None, device),
            energy: init::uniform_param(draw, [config.size], 1.0 / (config.size as f64).sqrt(), device),
        });
        Self { position, kind, half: config.window_size, renormalized: config.window_renormalized }
    }

    /// No window.
    pub fn everywhere() -> Self {
        Self { position: None, kind: WindowKind::Global, half: 0, renormalized: false }
    }

    /// Which it is.
    pub fn kind(&self) -> WindowKind {
        self.kind
    }

    /// The windows of queries `[B · N, T, H]`, the first of which is asked at `step`; R = N · T. None if they can look
    /// everywhere.
    pub fn around(&self, queries: &Tensor<3>, step: usize, mask: &SourceMask) -> Option<Around> {
        let [b, s] = mask.dims();
        let [rows, t, _] = queries.dims();
        let (r, device) = (rows / b * t, queries.device());
        let centre = match (&self.position, self.kind) {
            (_, WindowKind::Global) => return None,
            (Some(position), _) => {
                let lengths = like(mask.real_positions(), queries);
                position.share(queries.clone()).reshape([b, r, 1]) * lengths.unsqueeze_dim::<3>(2)
            }
            (None, _) => {
                let steps = Tensor::<1, Int>::arange(step as i64..(step + t) as i64, &device);
                let steps = steps.reshape([1, 1, t]).expand([b, rows / b, t]).reshape([b, r, 1]);
                let last = mask.real_positions().sub_scalar(1).unsqueeze_dim::<3>(2);
                like(steps.min_pair(last.expand([b, r, 1])), queries)
            }
        };
        Some(self.around_centres(centre, s))
    }

    /// The windows about centres `[B, R, 1]` in sentences of S positions.
    fn around_centres(&self, centre: Tensor<3>, s: usize) -> Around {
        let positions = like(Tensor::<1, Int>::arange(0..s as i64, &centre.device()), &centre).reshape([1, 1, s]);
        let distance = positions - centre;
        let sigma = self.half as f64 / 2.0;
        Around {
            outside: distance.clone().abs().greater_elem(self.half as f64),
            log_factor: self
                .position
                .is_some()
                .then(|| (distance.clone() * distance).mul_scalar(-1.0 / (2.0 * sigma * sigma))),
            renormalized: self.renormalized,
        }
    }
}

impl Position {
    /// p_t as a share of the sentence, in [0, 1]: `[B · N, T, H]` → `[B · N, T, 1]`.
    pub fn share(&self, query: Tensor<3>) -> Tensor<3> {
        let [rows, t, _] = query.dims();
        let hidden = linear::apply(&self.hidden, query, Activation::Tanh);
        let k = hidden.dims()[2];
        sigmoid(hidden.reshape([rows * t, k]).matmul(self.energy.val().unsqueeze_dim(1)).reshape([rows, t, 1]))
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::TensorData;

    use super::*;
    use crate::attention::{Attention, ScoreKind};
    use crate::init::Draw;

    fn device() -> Device {
        Device::flex()
    }

    /// Dot attention with this window, which scores every position alike when asked with zeros.
    fn attention(window: WindowKind, window_size: usize, window_renormalized: bool) -> Attention {
        let config = AttentionConfig {
            score: ScoreKind::Dot,
            window,
            window_size,
            window_renormalized,
            size: 1,
            ..AttentionConfig::default()
        };
        config.init(Sizes { query: 1, memory: 1 }, &mut Draw::Blank, &device())
    }

    /// The weights of steps that begin at `step`, all scores alike, in a sentence of `length` padded to `positions`.
    fn looks(attention: &Attention, steps: usize, step: usize, length: usize, positions: usize) -> Vec<Vec<f32>> {
        let (device, mask) = (device(), SourceMask::from_lengths(&[length], positions, &device()));
        let memory = Tensor::<3>::zeros([1, positions, 1], &device);
        let memory = attention.remember(memory, mask, Tensor::zeros([1, 1], &device));
        let track = crate::attention::Track { step, covered: None, instead: None };
        let weights =
            attention.attend(Tensor::zeros([1, steps, 1], &device), &memory, track).weights.unwrap().mean;
        let weights: Vec<f32> = weights.into_data().try_to_vec().unwrap();
        weights.chunks(positions).map(<[f32]>::to_vec).collect()
    }

    fn close(ours: &[f32], right: &[f64]) {
        assert_eq!(ours.len(), right.len());
        assert!(ours.iter().zip(right).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6), "{ours:?} {right:?}");
    }

    /// By hand: D = 1 about the number of the step; padding (position 3) is never inside, past the end of the source the
    /// window stays at its last position.
    #[test]
    fn local_m_moves_with_the_step() {
        let attention = attention(WindowKind::LocalM, 1, false);
        let rows = looks(&attention, 5, 0, 3, 4);
        let third = 1.0 / 3.0;
        for (row, right) in rows.iter().zip([
            [0.5, 0.5, 0.0, 0.0],
            [third, third, third, 0.0],
            [0.0, 0.5, 0.5, 0.0],
            [0.0, 0.5, 0.5, 0.0],
            [0.0, 0.5, 0.5, 0.0],
        ]) {
            close(row, &right);
        }
        assert_eq!(looks(&attention, 1, 1, 3, 4)[0], rows[1], "one step at a time is the same");
    }

    #[test]
    fn a_window_wider_than_the_sentence_is_no_window() {
        let rows = looks(&attention(WindowKind::LocalM, 9, false), 2, 0, 3, 3);
        rows.iter().for_each(|row| close(row, &[1.0 / 3.0; 3]));
        // local-p still has its factor: p = 1.5, σ = 4.5.
        let factor = |distance: f64| (-distance * distance / 40.5).exp() / 3.0;
        let rows = looks(&attention(WindowKind::LocalP, 9, false), 1, 0, 3, 3);
        close(&rows[0], &[factor(1.5), factor(0.5), factor(0.5)]);
    }

    /// Eq. 10 with p = 2, D = 2 and six positions: the values of the shared oracle.
    #[test]
    fn the_gaussian_is_luongs() {
        let window = attention(WindowKind::LocalP, 2, false).window;
        let around = window.around_centres(Tensor::from_floats([[[2.0]]], &device()), 6);
        let factor = around.log_factor.unwrap().exp().mask_fill(around.outside, 0.0);
        let factor: Vec<f32> = factor.into_data().try_to_vec().unwrap();
        close(&factor, &[0.135_335_283_2, 0.606_530_659_7, 1.0, 0.606_530_659_7, 0.135_335_283_2, 0.0]);
    }

    /// By hand: without weights p_t = S σ(0) = S/2 with the sentence's own S = 3, however far it is padded; D = 1, so positions 1
    /// and 2 are inside, at 0.5 from it each: 1/2 · exp(−0.25/0.5).
    #[test]
    fn local_p_goes_by_the_sentences_own_length_and_does_not_sum_to_1() {
        let half = 0.5 * (-0.5f64).exp();
        for positions in [3, 4, 9] {
            let rows = looks(&attention(WindowKind::LocalP, 1, false), 2, 0, 3, positions);
            for row in rows {
                close(&row[..3], &[0.0, half, half]);
                assert!(row[3..].iter().all(|&weight| weight == 0.0));
            }
        }
        let rows = looks(&attention(WindowKind::LocalP, 1, true), 1, 0, 3, 3);
        close(&rows[0], &[0.0, 0.5, 0.5]);
    }

    /// Windows hang over either end: p near 0 and near S.
    #[test]
    fn windows_hang_over_both_ends() {
        let mut attention = attention(WindowKind::LocalP, 1, false);
        let position = attention.window.position.as_mut().unwrap();
        // tanh(30 q) is the sign of q, and σ(±9) is near an end.
        position.hidden.weight = Param::from_data([[30.0]], &device());
        position.energy = Param::from_data([9.0], &device());
        let mask = SourceMask::from_lengths(&[4], 4, &device());
        let queries = Tensor::<3>::from_data(TensorData::new(vec![-1.0f32, 1.0], [1, 2, 1]), &device());
        let around = attention.window.around(&queries, 0, &mask).unwrap();
        let outside: Vec<bool> = around.outside.into_data().try_to_vec().unwrap();
        // p = 0.0005: 0 and 1 are inside; p = 3.9995: only 3 is, 4 would be the next.
        assert_eq!(outside, [false, false, true, true, true, true, true, false]);
    }

    /// p_t learns by the factor: its gradient is there, and of the sign that moves the window to what helps.
    #[test]
    fn the_position_learns() {
        let device = device().autodiff();
        let window = attention(WindowKind::LocalP, 2, false).window;
        let centre = Tensor::<3>::from_floats([[[1.3]]], &device).require_grad();
        let around = window.around_centres(centre.clone(), 4);
        let gain = around.log_factor.unwrap().exp().slice([0..1, 0..1, 2..3]).sum();
        let gradients = gain.backward();
        let gradient: Vec<f32> = centre.grad(&gradients).unwrap().into_data().try_to_vec().unwrap();
        // d/dp exp(−(2 − p)²/2) at p = 1.3.
        close(&gradient, &[0.7 * (-0.245f64).exp()]);
    }
}
