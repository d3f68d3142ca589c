//! The scores as one operation on flex; backward computes every tanh again, which is faster than reading it back.

use burn::backend::autodiff::checkpoint::{base::Checkpointer, strategy::CheckpointStrategy};
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, Backend, Flex, backend_extension};
use rayon::prelude::*;

use crate::kernels::flex::{floats, tensor};
use crate::kernels::look::{additive, additive_back};
use crate::kernels::simd;

/// Implemented for flex with and without gradients; other devices never come here.
#[backend_extension(Flex, Autodiff)]
pub(super) trait EnergiesOps: Backend {
    /// Queries `[B, T, K]`, keys `[B, S, K]`, v `[K]` → `[B, T, S]`.
    fn energies(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
    ) -> FloatTensor<Self>;
}

impl EnergiesOps for Flex {
    fn energies(queries: FlexTensor, keys: FlexTensor, energy: FlexTensor) -> FlexTensor {
        Saved::new(queries, keys, energy).forward()
    }
}

impl<C: CheckpointStrategy> EnergiesOps for Autodiff<Flex, C> {
    fn energies(
        queries: FloatTensor<Self>,
        keys: FloatTensor<Self>,
        energy: FloatTensor<Self>,
    ) -> FloatTensor<Self> {
        let nodes = [queries.node(), keys.node(), energy.node()];
        let step = EnergiesBackward.prepare::<C>(nodes).compute_bound().stateful();
        let saved = Saved::new(queries.into_primitive(), keys.into_primitive(), energy.into_primitive());
        let output = saved.forward();
        match step {
            OpsKind::Tracked(step) => step.finish(saved, output),
            OpsKind::UnTracked(step) => step.finish(output),
        }
    }
}

#[derive(Debug)]
struct EnergiesBackward;

/// What went in.
#[derive(Clone, Debug)]
struct Saved {
    queries: FlexTensor,
    keys: FlexTensor,
    energy: FlexTensor,
}

impl Saved {
    fn new(queries: FlexTensor, keys: FlexTensor, energy: FlexTensor) -> Self {
        Self { queries: queries.to_contiguous(), keys: keys.to_contiguous(), energy: energy.to_contiguous() }
    }

    /// B, T, S, K.
    fn sizes(&self) -> [usize; 4] {
        let ([b, t, k], [_, s, _]) = (self.queries.layout().shape().dims(), self.keys.layout().shape().dims());
        [b, t, s, k]
    }

    fn forward(&self) -> FlexTensor {
        let [b, t, s, k] = self.sizes();
        let mut scores = vec![0.0; b * t * s];
        let (queries, keys, energy) = (floats(&self.queries), floats(&self.keys), floats(&self.energy));
        scores.par_chunks_mut((t * s).max(1)).zip(queries.par_chunks((t * k).max(1))).enumerate().for_each(
            |(sentence, (scores, queries))| {
                let keys = &keys[sentence * s * k..][..s * k];
                simd::run(
                    #[inline(always)]
                    || {
                        for (scores, query) in scores.chunks_exact_mut(s).zip(queries.chunks_exact(k)) {
                            for (score, key) in scores.iter_mut().zip(keys.chunks_exact(k)) {
                                *score = additive(query, key, energy);
                            }
                        }
                    },
                );
            },
        );
        tensor(scores, [b, t, s])
    }

    /// Adds up the gradients of one sentence: of queries `[T, K]`, keys `[S, K]` and v `[K]`, from those of the scores
    /// `[T, S]`.
    fn backward(
        &self,
        sentence: usize,
        upstream: &[f32],
        of_queries: &mut [f32],
        of_keys: &mut [f32],
    ) -> Vec<f32> {
        let [_, t, s, k] = self.sizes();
        let queries = &floats(&self.queries)[sentence * t * k..][..t * k];
        let keys = &floats(&self.keys)[sentence * s * k..][..s * k];
        let energy = floats(&self.energy);
        let mut of_energy = vec![0.0; k];
        simd::run(
            #[inline(always)]
            || {
                let steps =
                    queries.chunks_exact(k).zip(of_queries.chunks_exact_mut(k)).zip(upstream.chunks_exact(s));
                for ((query, of_query), upstream) in steps {
                    let positions = keys.chunks_exact(k).zip(of_keys.chunks_exact_mut(k)).zip(upstream);
                    for ((key, of_key), &of_score) in positions {
                        // Padding's is exactly 0.
                        if of_score != 0.0 {
                            additive_back(of_score, [query, key, energy], [of_query, of_key, &mut of_energy]);
                        }
                    }
                }
            },
        );
        of_energy
    }
}

impl Backward<Flex, 3> for EnergiesBackward {
    type State = Saved;

    fn backward(self, ops: Ops<Saved, 3>, gradients: &mut Gradients, _: &mut Checkpointer) {
        let saved = ops.state;
        let [b, t, s, k] = saved.sizes();
        let upstream = gradients.consume::<Flex>(&ops.node).to_contiguous();
        let (mut of_queries, mut of_keys) = (vec![0.0; b * t * k], vec![0.0; b * s * k]);
        let sentences: Vec<Vec<f32>> = of_queries
            .par_chunks_mut((t * k).max(1))
            .zip(of_keys.par_chunks_mut((s * k).max(1)))
            .zip(floats(&upstream).par_chunks((t * s).max(1)))
            .enumerate()
            .map(|(sentence, ((of_queries, of_keys), upstream))| {
                saved.backward(sentence, upstream, of_queries, of_keys)
            })
            .collect();
        // In the order of the sentences, so that the sum is the same whoever computed what.
        let mut of_energy = vec![0.0; k];
        for sentence in sentences {
            of_energy.iter_mut().zip(sentence).for_each(|(sum, x)| *sum += x);
        }
        let [queries, keys, energy] = ops.parents;
        if let Some(parent) = queries {
            gradients.register::<Flex>(parent.id, tensor(of_queries, [b, t, k]));
        }
        if let Some(parent) = keys {
            gradients.register::<Flex>(parent.id, tensor(of_keys, [b, s, k]));
        }
        if let Some(parent) = energy {
            gradients.register::<Flex>(parent.id, tensor(of_energy, [k]));
        }
    }
}
