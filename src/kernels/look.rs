//! One look of one query at one source sentence: score, normalise, sum; and its gradient. The same three steps
//! as the room `attention`'s, on slices, for the operations that run them inside a loop.

use super::simd;

/// How a query is matched with a key.
#[derive(Clone, Copy, Debug)]
pub enum Matching {
    /// scale · q·k.
    Product {
        /// 1, or 1/√K.
        scale: f32,
    },
    /// v·tanh(q + k).
    Additive,
}

/// A source sentence: as many rows as it has tokens.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// `[S, K]`.
    pub keys: &'a [f32],
    /// `[S, C]`.
    pub values: &'a [f32],
}

/// Gradients that looks add to.
#[derive(Debug)]
pub struct SourceGradient<'a> {
    /// `[S, K]`.
    pub keys: &'a mut [f32],
    /// `[S, C]`.
    pub values: &'a mut [f32],
    /// Of v, `[K]`; empty for products.
    pub energy: &'a mut [f32],
}

impl Matching {
    /// Writes the weights `[S]` and the context `[C]` of a query `[K]`; `energy` is v, empty for products.
    pub fn look(
        self,
        query: &[f32],
        energy: &[f32],
        source: Source<'_>,
        weights: &mut [f32],
        context: &mut [f32],
    ) {
        context.fill(0.0);
        if weights.is_empty() {
            return;
        }
        simd::run(
            #[inline(always)]
            || {
                let keys = source.keys.chunks_exact(query.len());
                match self {
                    Self::Product { scale } => {
                        for (weight, key) in weights.iter_mut().zip(keys) {
                            *weight = scale * simd::dot(query, key);
                        }
                    }
                    Self::Additive => {
                        for (weight, key) in weights.iter_mut().zip(keys) {
                            *weight = additive(query, key, energy);
                        }
                    }
                }
                softmax(weights);
                for (&weight, value) in weights.iter().zip(source.values.chunks_exact(context.len())) {
                    simd::add_scaled(context, weight, value);
                }
            },
        );
    }

    /// From the gradient of the context: adds to those of the query, the source and v.
    #[allow(clippy::too_many_arguments)]
    pub fn look_back(
        self,
        (query, energy): (&[f32], &[f32]),
        source: Source<'_>,
        weights: &[f32],
        of_context: &[f32],
        of_query: &mut [f32],
        of_source: &mut SourceGradient<'_>,
        scratch: &mut Vec<f32>,
    ) {
        scratch.clear();
        scratch.resize(weights.len(), 0.0);
        let (k, c) = (query.len(), of_context.len());
        simd::run(
            #[inline(always)]
            || {
                let values = source.values.chunks_exact(c).zip(of_source.values.chunks_exact_mut(c));
                for ((of_weight, &weight), (value, of_value)) in scratch.iter_mut().zip(weights).zip(values) {
                    *of_weight = simd::dot(of_context, value);
                    simd::add_scaled(of_value, weight, of_context);
                }
                let mean = simd::dot(weights, scratch);
                let keys = source.keys.chunks_exact(k).zip(of_source.keys.chunks_exact_mut(k));
                for ((&of_weight, &weight), (key, of_key)) in scratch.iter().zip(weights).zip(keys) {
                    let of_score = weight * (of_weight - mean);
                    match self {
                        Self::Product { scale } => {
                            simd::add_scaled(of_query, scale * of_score, key);
                            simd::add_scaled(of_key, scale * of_score, query);
                        }
                        Self::Additive => {
                            additive_back(of_score, [query, key, energy], [of_query, of_key, of_source.energy]);
                        }
                    }
                }
            },
        );
    }
}

/// v·tanh(q + k); inlined, so that [`simd::run`] around a loop of them is enough.
#[inline(always)]
pub(super) fn additive(query: &[f32], key: &[f32], energy: &[f32]) -> f32 {
    const LANES: usize = 16;
    let mut sums = [0.0; LANES];
    let (queries, rest_query) = query.as_chunks::<LANES>();
    let ((keys, rest_key), (energies, rest_energy)) = (key.as_chunks::<LANES>(), energy.as_chunks::<LANES>());
    for ((query, key), energy) in queries.iter().zip(keys).zip(energies) {
        for i in 0..LANES {
            sums[i] += energy[i] * simd::tanh(query[i] + key[i]);
        }
    }
    let rest = rest_query.iter().zip(rest_key).zip(rest_energy);
    sums.iter().sum::<f32>() + rest.map(|((q, k), v)| v * simd::tanh(q + k)).sum::<f32>()
}

/// Adds to the gradients of q, k and v that of their score times `of_score`.
#[inline(always)]
pub(super) fn additive_back(of_score: f32, [query, key, energy]: [&[f32]; 3], gradients: [&mut [f32]; 3]) {
    let k = query.len();
    let [of_query, of_key, of_energy] = gradients;
    let (key, energy) = (&key[..k], &energy[..k]);
    let (of_query, of_key, of_energy) = (&mut of_query[..k], &mut of_key[..k], &mut of_energy[..k]);
    for i in 0..k {
        let hidden = simd::tanh(query[i] + key[i]);
        let inside = of_score * energy[i] * (1.0 - hidden * hidden);
        of_energy[i] += of_score * hidden;
        of_query[i] += inside;
        of_key[i] += inside;
    }
}

#[inline(always)]
fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for x in scores.iter_mut() {
        *x = simd::exp(*x - most);
    }
    let part = 1.0 / scores.iter().sum::<f32>();
    for x in scores.iter_mut() {
        *x *= part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(matching: Matching, energy: &[f32]) -> ([f32; 2], f32) {
        let (mut weights, mut context) = ([0.0; 2], [0.0]);
        let source = Source { keys: &[1.0, 0.0, 0.0, 1.0], values: &[1.0, 3.0] };
        matching.look(&[1.0, 0.0], energy, source, &mut weights, &mut context);
        (weights, context[0])
    }

    #[test]
    fn looks_by_hand() {
        for (matching, energy, scores) in [
            (Matching::Product { scale: 2.0 }, &[][..], [2.0, 0.0]),
            (Matching::Additive, &[1.0, 0.5][..], [2.0f64.tanh(), 1.5 * 1.0f64.tanh()]),
        ] {
            let first = 1.0 / (1.0 + (scores[1] - scores[0]).exp());
            let (weights, context) = look(matching, energy);
            assert!((f64::from(weights[0]) - first).abs() < 1e-6, "{matching:?}: {weights:?} {first}");
            assert!((f64::from(context) - (first + 3.0 * (1.0 - first))).abs() < 1e-6, "{matching:?}: {context}");
        }
    }

    /// Nothing to look at: no weights, and a context of nothing.
    #[test]
    fn an_empty_source_gives_nothing() {
        let mut context = [7.0];
        let source = Source { keys: &[], values: &[] };
        Matching::Product { scale: 1.0 }.look(&[1.0, 0.0], &[], source, &mut [], &mut context);
        assert_eq!(context, [0.0]);
    }
}
