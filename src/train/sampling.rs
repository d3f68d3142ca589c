//! Scheduled sampling: Bengio et al. 2015, "Scheduled sampling for sequence prediction with recurrent neural networks", section
//! 2.4: now and then a step is fed what the model itself would have written, so that it learns to go on from its mistakes.

use burn::tensor::{Int, Tensor, TensorData};

use super::batch::Batch;
use crate::model::{Seq2Seq, TargetBatch};
use crate::rng::Rng;

/// The share of inputs that are the model's own at an update: from 0 in a line to `most` after `warmup` updates. (Of the paper's
/// schedules, eq. in section 2.4, the linear one.)
pub fn share(most: f64, warmup: usize, step: usize) -> f64 {
    most * (step as f64 / warmup.max(1) as f64).min(1.0)
}

/// A batch in which each input but the first is with this probability what a model (without gradients) finds likeliest after
/// the inputs before it, which may be its own too. As in the paper, no gradient goes through what was chosen.
pub fn sampled(model: &Seq2Seq, batch: &Batch, share: f64, rng: &mut Rng) -> Batch {
    let (rows, steps) = (batch.inputs.lengths.len(), batch.inputs.inputs.dims()[1]);
    let device = batch.inputs.inputs.device();
    let mut inputs: Vec<usize> = batch.inputs.inputs.to_data().iter::<i64>().map(|id| id as usize).collect();
    let own: Vec<bool> = (0..rows * steps).map(|_| rng.unit() < share).collect();
    let (memory, mut state) = model.encode(&batch.source);
    for t in 1..steps {
        // Some sentence goes on after this step: else the rest is padding.
        if batch.inputs.lengths.iter().all(|&length| length <= t) {
            break;
        }
        let last: Vec<usize> = (0..rows).map(|row| inputs[row * steps + t - 1]).collect();
        let fed = TargetBatch::new(&last.chunks(1).collect::<Vec<_>>(), &device);
        let decoded = model.decode(&fed, state, &memory);
        state = decoded.state;
        let logits = model.output().logits(decoded.readouts.squeeze_dim(1));
        let best: Vec<i64> = logits.argmax(1).into_data().iter().collect();
        for row in (0..rows).filter(|row| batch.inputs.lengths[*row] > t) {
            if own[row * steps + t] {
                inputs[row * steps + t] = best[row] as usize;
            }
        }
    }
    let ids: Vec<i64> = inputs.iter().map(|&id| id as i64).collect();
    let inputs = Tensor::<2, Int>::from_data(TensorData::new(ids, [rows, steps]), &device);
    Batch { inputs: TargetBatch { inputs, ..batch.inputs.clone() }, ..batch.clone() }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;

    use super::*;
    use crate::model::{ModelConfig, Vocabularies};
    use crate::train::batch::Example;

    #[test]
    fn the_share_rises_in_a_line() {
        assert_eq!([0, 50, 100, 500].map(|step| share(0.4, 100, step)), [0.0, 0.2, 0.4, 0.4]);
        assert_eq!(share(0.4, 0, 1), 0.4);
    }

    /// With a share of 1 the inputs are what greedy search writes; with 0 nothing changes; padding and begins never do.
    #[test]
    fn inputs_are_the_models_own() {
        let device = Device::flex();
        let vocabularies = Vocabularies { source: 12, target: 12 };
        let model = ModelConfig::default().init(vocabularies, &mut Rng::new(4, 0), &device).unwrap();
        let examples = [Example::new(vec![5, 6, 7], vec![8, 9, 10, 11]), Example::new(vec![5, 6], vec![8])];
        let batch = Batch::new(&examples.iter().collect::<Vec<_>>(), &device);
        let ids = |batch: &Batch| batch.inputs.inputs.to_data().iter::<i64>().collect::<Vec<_>>();
        let with = |share| ids(&sampled(&model, &batch, share, &mut Rng::new(1, 0)));
        assert_eq!(with(0.0), ids(&batch));
        let own = with(1.0);
        assert_eq!((own[0], own[5], &own[7..]), (1, 1, &[0, 0, 0][..]));
        // Step by step, with nothing but the model.
        for (row, example) in examples.iter().enumerate() {
            let alone = Batch::new(&[example], &device);
            let (memory, mut state) = model.encode(&alone.source);
            let mut last = 1;
            for t in 1..alone.inputs.lengths[0] {
                let decoded = model.decode(&TargetBatch::new(&[&[last]], &device), state, &memory);
                state = decoded.state;
                last =
                    model.output().logits(decoded.readouts.squeeze_dim(1)).argmax(1).into_scalar::<i64>() as usize;
                assert_eq!(own[5 * row + t], last as i64, "{row} {t}");
            }
        }
        let half = with(0.5);
        assert!(half != own && half != ids(&batch));
    }
}
