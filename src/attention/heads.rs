//! Several heads: Vaswani et al. 2017, "Attention is all you need", section 3.2.2. Query, key and value are
//! projected, the projections cut into N parts, each part compared and summed by itself, and the N contexts
//! projected again. Any score function works inside; the paper's is the scaled dot product.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor, TensorData};

use super::{AttentionConfig, ScoreKind, Sizes, WindowKind};
use crate::init::{self, Bias, Draw};
use crate::kernels::linear::{self, Activation};

/// W_q, W_k, W_v and W_o. N heads stand one after the other in the K columns, and beside the sentences in what
/// is computed: B sentences are `B · N` rows.
///
/// No biases: one on W_k would add the same to every key of a query, which the softmax takes away again.
#[derive(Module, Debug)]
pub struct Projections {
    /// W_q, `[H, K]`; not where nothing depends on the query.
    pub query: Option<Linear>,
    /// W_k, `[M, K]`; not where nothing depends on what stands at a position.
    pub key: Option<Linear>,
    /// W_v, `[M, K]`.
    pub value: Linear,
    /// W_o, `[K, M]`; only with several heads, where it mixes what they found.
    pub output: Option<Linear>,
    /// N.
    #[module(skip)]
    heads: usize,
    /// Heads whose context is set to 0, from 0.
    #[module(skip)]
    without: Vec<usize>,
}

impl Projections {
    /// Fresh weights.
    pub fn init(config: &AttentionConfig, sizes: Sizes, draw: &mut Draw<'_>, device: &Device) -> Self {
        let mut linear = |shape| init::linear(draw, shape, Bias::None, device);
        let (asks, sees) = (config.score != ScoreKind::Linear, config.score != ScoreKind::Location);
        Self {
            query: (asks || config.window == WindowKind::LocalP).then(|| linear([sizes.query, config.size])),
            key: sees.then(|| linear([sizes.memory, config.size])),
            value: linear([sizes.memory, config.size]),
            output: (config.heads > 1).then(|| linear([config.size, sizes.memory])),
            heads: config.heads,
            without: Vec::new(),
        }
    }

    /// One head of these projections, `[H, K]`, `[M, K]` and `[M, C]`.
    pub fn single(query: Linear, key: Linear, value: Linear) -> Self {
        let (query, key) = (Some(query), Some(key));
        Self { query, key, value, output: None, heads: 1, without: Vec::new() }
    }

    /// N.
    pub fn heads(&self) -> usize {
        self.heads
    }

    /// K / N.
    pub fn head_size(&self) -> usize {
        self.value.weight.dims()[1] / self.heads
    }

    /// The sizes inside a head.
    pub fn inside(&self) -> Sizes {
        Sizes { query: self.head_size(), memory: self.head_size() }
    }

    /// The same without the context of some heads (from 0), to see what they are for.
    pub fn without(self, heads: &[usize]) -> Self {
        Self { without: heads.to_vec(), ..self }
    }

    /// Heads that are left, from 0.
    pub fn left(&self) -> Vec<usize> {
        (0..self.heads).filter(|head| !self.without.contains(head)).collect()
    }

    /// C, the size of what comes out of [`Projections::join`].
    pub fn context_size(&self) -> usize {
        self.output.as_ref().map_or(self.head_size(), |output| output.weight.dims()[1])
    }

    /// `[B, T, H]` → `[B · N, T, K / N]`.
    pub fn queries(&self, query: Tensor<3>) -> Tensor<3> {
        self.split(self.query.as_ref(), query)
    }

    /// `[B, S, M]` → `[B · N, S, K / N]`.
    pub fn keys(&self, memory: Tensor<3>) -> Tensor<3> {
        self.split(self.key.as_ref(), memory)
    }

    /// `[B, S, M]` → `[B · N, S, K / N]`.
    pub fn values(&self, memory: Tensor<3>) -> Tensor<3> {
        self.split(Some(&self.value), memory)
    }

    /// Rows `[B, L, ·]` projected, a part for each head; as they are for each head where nothing is projected.
    fn split(&self, projection: Option<&Linear>, rows: Tensor<3>) -> Tensor<3> {
        let ([b, l, size], n, d) = (rows.dims(), self.heads, self.head_size());
        let Some(projection) = projection else {
            return rows.unsqueeze_dim::<4>(1).expand([b, n, l, size]).reshape([b * n, l, size]);
        };
        let projected = linear::apply(projection, rows, Activation::Identity);
        if n == 1 {
            return projected;
        }
        projected.reshape([b, l, n, d]).swap_dims(1, 2).reshape([b * n, l, d])
    }

    /// The heads' contexts `[B · N, T, K / N]` as one, `[B, T, C]`.
    pub fn join(&self, context: Tensor<3>) -> Tensor<3> {
        let Some(output) = &self.output else { return context };
        let ([rows, t, d], n) = (context.dims(), self.heads);
        let mut context = context.reshape([rows / n, n, t, d]);
        if !self.without.is_empty() {
            let kept: Vec<f32> = (0..n).map(|head| f32::from(u8::from(!self.without.contains(&head)))).collect();
            let kept = Tensor::<4>::from_data(TensorData::new(kept, [1, n, 1, 1]), &context.device());
            context = context * kept;
        }
        linear::apply(output, context.swap_dims(1, 2).reshape([rows / n, t, n * d]), Activation::Identity)
    }
}

#[cfg(test)]
mod tests {
    use burn::module::Param;

    use super::*;
    use crate::attention::{Attention, SourceMask, Track};

    /// Two heads of two values each, projections and output that change nothing: head 1 sees the first two columns,
    /// head 2 the others.
    fn attention(score: ScoreKind) -> Attention {
        let device = Device::flex();
        let config = AttentionConfig { score, heads: 2, size: 4, ..AttentionConfig::default() };
        let mut attention = config.init(Sizes { query: 4, memory: 4 }, &mut Draw::Blank, &device);
        let projections = attention.projections.as_mut().unwrap();
        let identity = || Param::from_tensor(Tensor::eye(4, &device));
        projections.query.as_mut().unwrap().weight = identity();
        projections.key.as_mut().unwrap().weight = identity();
        projections.value.weight = identity();
        projections.output.as_mut().unwrap().weight = identity();
        attention
    }

    /// One query of two sources; the second source is short.
    fn look(attention: &Attention) -> (Vec<f32>, Vec<f32>, Vec<f32>) {
        let device = Device::flex();
        let memory = [[[1.0, 0.0, 0.0, 2.0], [0.0, 1.0, 1.0, 0.0]], [[3.0, 4.0, 5.0, 6.0], [9.0, 9.0, 9.0, 9.0]]];
        let memory = Tensor::<3>::from_floats(memory, &device);
        let mask = SourceMask::from_lengths(&[2, 1], 2, &device);
        let memory = attention.remember(memory, mask, Tensor::zeros([2, 4], &device));
        let query = Tensor::<3>::from_floats([[[1.0, 0.0, 0.0, 0.5]], [[1.0, 0.0, 0.0, 0.5]]], &device);
        let seen = attention.attend(query, &memory, Track::default());
        let weights = seen.weights.unwrap();
        (
            seen.context.into_data().try_to_vec().unwrap(),
            weights.mean.into_data().try_to_vec().unwrap(),
            weights.heads.unwrap().into_data().try_to_vec().unwrap(),
        )
    }

    fn close(ours: &[f32], right: &[f64]) {
        assert!(ours.iter().zip(right).all(|(a, b)| (f64::from(*a) - b).abs() < 1e-6), "{ours:?} {right:?}");
    }

    fn sigmoid(x: f64) -> f64 {
        1.0 / (1.0 + (-x).exp())
    }

    /// By hand: head 1 scores 1·1 against 0, head 2 scores 0.5·2 against 0, both over √2.
    #[test]
    fn each_head_compares_and_sums_its_own_part() {
        let (context, mean, heads) = look(&attention(ScoreKind::ScaledDot));
        let p = sigmoid(1.0 / 2f64.sqrt());
        close(&heads[..4], &[p, 1.0 - p, p, 1.0 - p]);
        close(&mean[..2], &[p, 1.0 - p]);
        close(&context[..4], &[p, 1.0 - p, 1.0 - p, 2.0 * p]);
        assert_eq!(
            (&heads[4..], &mean[2..]),
            (&[1.0, 0.0, 1.0, 0.0][..], &[1.0, 0.0][..]),
            "padding, in every head"
        );
        close(&context[4..], &[3.0, 4.0, 5.0, 6.0]);
    }

    /// Any score works inside: the plain product differs by √2 only.
    #[test]
    fn dot_heads_do_not_scale() {
        let (_, _, heads) = look(&attention(ScoreKind::Dot));
        close(&heads[..2], &[sigmoid(1.0), 1.0 - sigmoid(1.0)]);
    }

    #[test]
    fn a_head_that_is_off_adds_nothing_and_is_not_in_the_mean() {
        let whole = attention(ScoreKind::ScaledDot);
        let (all, _, heads) = look(&whole);
        let (context, mean, same) = look(&whole.without_heads(&[0]));
        assert_eq!(context[..4], [0.0, 0.0, all[2], all[3]]);
        assert_eq!((mean[..2].to_vec(), same), (heads[2..4].to_vec(), heads));
    }
}
