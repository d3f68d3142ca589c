//! From readouts to the loss: the product with the output's weight, softmax, cross-entropy and label
//! smoothing in one operation, so that the logits of all tokens never stand in memory together.

mod composed;
mod fused;

use burn::backend::Dispatch;
use burn::tensor::{Int, Tensor, assert_shape};

use crate::text::PAD;
use fused::CrossEntropyOps;

/// The matrix that makes logits of readouts.
#[derive(Clone, Debug)]
pub enum Output {
    /// `[R, V]`, its own.
    Own(Tensor<2>),
    /// `[V, R]`, the target embedding (Press & Wolf 2017, "Using the output embedding to improve language
    /// models").
    Tied(Tensor<2>),
}

impl Output {
    /// V.
    pub fn vocabulary(&self) -> usize {
        match self {
            Self::Own(weight) => weight.dims()[1],
            Self::Tied(weight) => weight.dims()[0],
        }
    }

    /// Readouts `[N, R]` → logits `[N, V]`.
    pub fn logits(&self, readouts: Tensor<2>) -> Tensor<2> {
        match self {
            Self::Own(weight) => readouts.matmul(weight.clone()),
            Self::Tied(weight) => readouts.matmul(weight.clone().transpose()),
        }
    }
}

/// The loss of some tokens: readouts `[N, R]` and targets `[N]` (none is padding) → `[1]`, in nats, the sum divided
/// by `tokens` (N for their mean).
///
/// With smoothing ε (Szegedy et al. 2016, "Rethinking the inception architecture", section 7) the target
/// gets 1 − ε and every other id but padding ε / (V − 2). Padding has no part in the sum, so its logit
/// may be −∞. Where the paper spreads ε over all ids, we leave out target and padding, as JoeyNMT does.
pub fn cross_entropy(
    readouts: Tensor<2>,
    output: Output,
    targets: Tensor<1, Int>,
    smoothing: f64,
    tokens: usize,
) -> Tensor<1> {
    let [n, _] = readouts.dims();
    assert_shape!(targets, [n]);
    let smoothing = Smoothing::new(smoothing, output.vocabulary());
    if !super::flex::can_take(&readouts) {
        return composed::cross_entropy(output.logits(readouts), targets, smoothing)
            .sum()
            .div_scalar(tokens as f64);
    }
    let (weight, tied) = match output {
        Output::Own(weight) => (weight, false),
        Output::Tied(weight) => (weight, true),
    };
    Tensor::from_dispatch(<Dispatch as CrossEntropyOps>::cross_entropy(
        readouts.into_dispatch(),
        weight.into_dispatch(),
        targets.into_dispatch(),
        vec![smoothing.target, smoothing.other],
        tied,
        tokens,
    ))
}

/// What each id gets of the target distribution.
#[derive(Clone, Copy, Debug)]
struct Smoothing {
    /// The target: 1 − ε.
    target: f32,
    /// Every other id but padding: ε / (V − 2).
    other: f32,
}

impl Smoothing {
    fn new(epsilon: f64, vocabulary: usize) -> Self {
        // Without other ids there is nobody to give anything to.
        if vocabulary <= 2 {
            return Self { target: 1.0, other: 0.0 };
        }
        Self { target: (1.0 - epsilon) as f32, other: (epsilon / (vocabulary - 2) as f64) as f32 }
    }
}

/// The columns that smoothing counts are all after padding's.
const FIRST: usize = {
    assert!(PAD == 0);
    1
};

#[cfg(test)]
mod tests;
