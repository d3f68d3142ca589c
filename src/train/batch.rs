//! Sentences of like length together, so that little is computed on padding.

use std::cmp::Reverse;

use burn::tensor::{Device, Int, Tensor, TensorData};

use crate::model::{SourceBatch, TargetBatch};
use crate::rng::Rng;
use crate::text::{BOS, EOS};

/// A sentence pair in ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Source ids with the end of the sentence.
    pub source: Vec<usize>,
    /// Target ids between begin and end of the sentence.
    pub target: Vec<usize>,
    /// Which of them are links, as places of source and target; only where alignment is taught.
    pub links: Vec<[usize; 2]>,
}

/// How long an example is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lengths {
    /// Source tokens with the end.
    pub source: usize,
    /// Target tokens to predict: the end counts.
    pub target: usize,
}

impl Example {
    /// A pair from ids without control tokens.
    pub fn new(mut source: Vec<usize>, target: Vec<usize>) -> Self {
        source.push(EOS);
        Self { source, target, links: Vec::new() }
    }

    /// How long it is.
    pub fn lengths(&self) -> Lengths {
        Lengths { source: self.source.len(), target: self.target_tokens() }
    }

    /// Target tokens to predict: the end counts.
    pub fn target_tokens(&self) -> usize {
        self.target.len() + 1
    }

    /// Sorts the longest target first, of equals the longest source.
    pub(super) fn by_length(&self) -> Reverse<(usize, usize)> {
        Reverse((self.target_tokens(), self.source.len()))
    }
}

/// How many sentences a batch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batching {
    /// This many.
    Sentences(usize),
    /// As many as have about so many target tokens, padding counted.
    Tokens(usize),
}

impl Batching {
    /// The places of each batch's examples: every example once, the batches in random order, their members
    /// with sources of like length and otherwise random. Not sorted by targets: the sentences of a batch would all
    /// end at the same step, which each update then learns more than the words. (Morishita et al. 2017, "An
    /// empirical study of mini-batch creation strategies for neural machine translation", compare orders.)
    pub fn plan(self, examples: &[Lengths], rng: &mut Rng) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..examples.len()).collect();
        rng.shuffle(&mut order);
        let mut batches: Vec<Vec<usize>> = Vec::new();
        // A pool at a time, so that the examples of a length do not always meet the same others.
        for pool in order.chunks_mut(POOL) {
            // Stable, so that examples of the same length stay shuffled.
            pool.sort_by_key(|&i| examples[i].source);
            let (mut batch, mut longest) = (Vec::new(), 0);
            for &i in pool.iter() {
                longest = longest.max(examples[i].target);
                let full = match self {
                    Self::Sentences(most) => batch.len() >= most,
                    Self::Tokens(most) => (batch.len() + 1) * longest > most,
                };
                if full && !batch.is_empty() {
                    batches.push(std::mem::take(&mut batch));
                    longest = examples[i].target;
                }
                batch.push(i);
            }
            batches.push(batch);
        }
        rng.shuffle(&mut batches);
        batches
    }
}

/// Examples that are sorted by length together.
const POOL: usize = 6400;

/// Examples as tensors.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The sources.
    pub source: SourceBatch,
    /// The decoder's inputs: begin of sentence, then the target.
    pub inputs: TargetBatch,
    /// The tokens to predict, padding left out, `[N]`.
    pub targets: Tensor<1, Int>,
    /// N.
    pub tokens: usize,
    /// Where target tokens are to look, if that is taught.
    pub guide: Option<Guide>,
}

/// Where target tokens are to look.
#[derive(Clone, Debug)]
pub struct Guide {
    /// The places of links among the weights `[B, T, S]`, flat, `[L]`.
    pub places: Tensor<1, Int>,
    /// The share of each link: those of a target token sum to 1, `[L]`.
    pub shares: Tensor<1>,
}

impl Guide {
    /// The guide of examples in this order, padded to these lengths; nothing if none has links.
    fn of(examples: &[&Example], [steps, positions]: [usize; 2], device: &Device) -> Option<Self> {
        let (mut places, mut shares) = (Vec::new(), Vec::new());
        for (row, example) in examples.iter().enumerate() {
            for &[source, target] in &example.links {
                let of_token = example.links.iter().filter(|[_, other]| *other == target).count();
                places.push(((row * steps + target) * positions + source) as i64);
                shares.push(1.0 / of_token as f32);
            }
        }
        let n = places.len();
        let tensor = |places| Tensor::from_data(TensorData::new(places, [n]), device);
        (n > 0).then(|| Self { places: tensor(places), shares: Tensor::from_floats(shares.as_slice(), device) })
    }
}

impl Batch {
    /// Puts examples together, the longest target first: recurrent steps stop at the last row that still runs.
    /// (Sources of a batch are of like length anyway.)
    pub fn new(examples: &[&Example], device: &Device) -> Self {
        let mut examples = examples.to_vec();
        examples.sort_by_key(|example| example.by_length());
        let inputs: Vec<Vec<usize>> =
            examples.iter().map(|example| [&[BOS], example.target.as_slice()].concat()).collect();
        let targets: Vec<i64> =
            examples.iter().flat_map(|example| example.target.iter().chain([&EOS])).map(|&id| id as i64).collect();
        let tokens = targets.len();
        let sources: Vec<&[usize]> = examples.iter().map(|example| example.source.as_slice()).collect();
        let source = SourceBatch::new(&sources, device);
        let inputs = TargetBatch::new(&inputs.iter().map(Vec::as_slice).collect::<Vec<_>>(), device);
        let guide = Guide::of(&examples, [inputs.inputs.dims()[1], source.ids.dims()[1]], device);
        Self {
            source,
            inputs,
            guide,
            targets: Tensor::from_data(TensorData::new(targets, [tokens]), device),
            tokens,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Lengths> {
        (0..200).map(|i| Lengths { source: i * 7 % 30 + 1, target: i * 11 % 40 + 1 }).collect()
    }

    #[test]
    fn every_example_is_in_one_batch_and_sources_are_alike() {
        for batching in [Batching::Sentences(16), Batching::Tokens(100)] {
            let examples = examples();
            let plan = batching.plan(&examples, &mut Rng::new(1, 1));
            let mut all: Vec<usize> = plan.iter().flatten().copied().collect();
            all.sort_unstable();
            assert_eq!(all, (0..200).collect::<Vec<_>>());
            for batch in &plan {
                let sources = batch.iter().map(|&i| examples[i].source);
                let (longest, shortest) = (sources.clone().max().unwrap(), sources.min().unwrap());
                assert!(longest - shortest <= 4, "{shortest}..{longest}");
                let target = batch.iter().map(|&i| examples[i].target).max().unwrap();
                match batching {
                    Batching::Sentences(most) => assert!(batch.len() <= most),
                    Batching::Tokens(most) => assert!(batch.len() == 1 || batch.len() * target <= most),
                }
            }
        }
    }

    #[test]
    fn epochs_differ_and_seeds_repeat() {
        let plan = |stream| Batching::Sentences(16).plan(&examples(), &mut Rng::new(1, stream));
        assert_eq!(plan(1), plan(1));
        assert_ne!(plan(1), plan(2));
    }

    #[test]
    fn targets_are_the_inputs_moved_by_one_without_padding() {
        let device = Device::flex();
        let examples = [Example::new(vec![7, 8], vec![5]), Example::new(vec![9], vec![6, 7, 8])];
        let batch = Batch::new(&examples.iter().collect::<Vec<_>>(), &device);
        let ids = |tensor: Tensor<1, Int>| tensor.into_data().iter::<i64>().collect::<Vec<_>>();
        assert_eq!(ids(batch.inputs.inputs.flatten(0, 1)), [1, 6, 7, 8, 1, 5, 0, 0]);
        assert_eq!(ids(batch.targets), [6, 7, 8, 2, 5, 2]);
        assert_eq!((ids(batch.inputs.places), batch.inputs.lengths), (vec![0, 1, 2, 3, 4, 5], vec![4, 2]));
        assert_eq!(ids(batch.source.ids.flatten(0, 1)), [9, 2, 0, 7, 8, 2]);
        assert_eq!((batch.source.lengths, batch.tokens), (vec![2, 3], 6));
    }
}
