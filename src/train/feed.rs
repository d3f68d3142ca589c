//! The order in which examples are trained on: a new one each epoch, the same for the same seed, and to be taken up again
//! anywhere in it.

use serde::{Deserialize, Serialize};

use super::batch::{Batching, Example, Lengths};
use super::examples::Examples;
use crate::error::Result;
use crate::rng::{Permutation, Rng};

/// Where training stands in its data: all that comes before was trained on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The pass over the data, from 1.
    pub epoch: usize,
    /// The part of the pass whose batches are mixed with each other, from 0; small data has one.
    pub buffer: usize,
    /// Batches that are done in it.
    pub batch: usize,
}

impl Default for Position {
    fn default() -> Self {
        Self { epoch: 1, buffer: 0, batch: 0 }
    }
}

/// Batches in their order.
pub struct Feed<'a> {
    examples: &'a Examples,
    batching: Batching,
    seed: u64,
    position: Position,
    /// The plan of the buffer at `position`, once it is made.
    plan: Option<Vec<Vec<usize>>>,
}

impl<'a> Feed<'a> {
    /// The batches from a position on.
    pub fn new(examples: &'a Examples, batching: Batching, seed: u64, position: Position) -> Self {
        Self { examples, batching, seed, position, plan: None }
    }

    /// Before the next batch.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The next batches of the epoch, at most so many; none at its end, from where it goes on with the next epoch.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn take(&mut self, most: usize) -> Result<Vec<Vec<Example>>> {
        let mut batches = Vec::new();
        while batches.len() < most
            && let Some(batch) = self.next()?
        {
            batches.push(batch);
        }
        if batches.is_empty() {
            self.position = Position { epoch: self.position.epoch + 1, buffer: 0, batch: 0 };
        }
        Ok(batches)
    }

    fn next(&mut self) -> Result<Option<Vec<Example>>> {
        while self.position.buffer < self.buffers() {
            let plan = match self.plan.take() {
                Some(plan) => plan,
                None => self.plan(self.position)?,
            };
            if let Some(places) = plan.get(self.position.batch) {
                let batch = places.iter().map(|&place| self.examples.get(place)).collect::<Result<_>>()?;
                self.position.batch += 1;
                self.plan = Some(plan);
                return Ok(Some(batch));
            }
            self.position = Position { buffer: self.position.buffer + 1, batch: 0, ..self.position };
        }
        Ok(None)
    }

    fn buffers(&self) -> usize {
        self.examples.len().div_ceil(self.examples.buffer())
    }

    /// Batches in the first epoch; later ones have about as many.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn batches(&self) -> Result<usize> {
        (0..self.buffers()).map(|buffer| Ok(self.plan(Position { buffer, ..Position::default() })?.len())).sum()
    }

    /// The places of the examples of each batch of a buffer.
    fn plan(&self, Position { epoch, buffer, .. }: Position) -> Result<Vec<Vec<usize>>> {
        let (n, size) = (self.examples.len(), self.examples.buffer());
        // Stream 0 of the seed drew the weights.
        let mut rng = Rng::new(self.seed, epoch as u64);
        let lengths = |places: &mut dyn Iterator<Item = usize>| -> Result<Vec<Lengths>> {
            places.map(|place| self.examples.lengths(place)).collect()
        };
        if n <= size {
            return Ok(self.batching.plan(&lengths(&mut (0..n))?, &mut rng));
        }
        let permutation = Permutation::new(n, &mut rng);
        let places: Vec<usize> =
            (buffer * size..n.min((buffer + 1) * size)).map(|place| permutation.at(place)).collect();
        let mut rng = Rng::new(rng.bits(), buffer as u64);
        let mut plan = self.batching.plan(&lengths(&mut places.iter().copied())?, &mut rng);
        plan.iter_mut().flatten().for_each(|place| *place = places[*place]);
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::examples::Writer;

    /// Sorted by length, as Tatoeba's files are.
    fn examples(n: usize, buffer: usize) -> Examples {
        let mut writer = Writer::new(buffer);
        for i in 0..n {
            writer.push(Example::new(vec![4 + i; 1 + 20 * i / n], vec![5; 1 + 22 * i / n])).unwrap();
        }
        writer.finish().unwrap()
    }

    fn feed(examples: &Examples, seed: u64, position: Position) -> Feed<'_> {
        Feed::new(examples, Batching::Sentences(16), seed, position)
    }

    fn epoch(feed: &mut Feed<'_>) -> Vec<Vec<Example>> {
        std::iter::from_fn(|| Some(feed.take(3).unwrap()).filter(|batches| !batches.is_empty()))
            .flatten()
            .collect()
    }

    #[test]
    fn every_epoch_has_every_example_once_in_an_order_of_its_own() {
        for buffer in [1000, 300, 7] {
            let examples = examples(1000, buffer);
            let mut feed = feed(&examples, 1, Position::default());
            let epochs = [epoch(&mut feed), epoch(&mut feed)];
            for batches in &epochs {
                let mut seen: Vec<usize> = batches.iter().flatten().map(|example| example.source[0]).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq(4..1004), "{buffer}");
            }
            assert_ne!(epochs[0], epochs[1]);
            assert_eq!(feed.position(), Position { epoch: 3, buffer: 0, batch: 0 });
            assert_eq!(epochs[0].len(), feed.batches().unwrap());
            let again = epoch(&mut super::tests::feed(&examples, 1, Position::default()));
            let other = epoch(&mut super::tests::feed(&examples, 2, Position::default()));
            assert!(again == epochs[0] && other != epochs[0], "{buffer}");
        }
    }

    #[test]
    fn it_goes_on_anywhere() {
        for buffer in [1000, 300] {
            let examples = examples(1000, buffer);
            let mut straight = feed(&examples, 1, Position::default());
            for _ in 0..140 {
                let mut resumed = feed(&examples, 1, straight.position());
                let expected = straight.take(2).unwrap();
                assert_eq!(resumed.take(2).unwrap(), expected);
                assert_eq!(resumed.position(), straight.position());
            }
        }
    }

    /// Of a file that is sorted by length the first batches are no shorter than the last.
    #[test]
    fn a_sorted_file_comes_out_mixed() {
        for buffer in [20_000, 4_000] {
            let examples = examples(20_000, buffer);
            let batches = epoch(&mut feed(&examples, 1, Position::default()));
            let lengths: Vec<f64> = batches
                .iter()
                .map(|batch| {
                    batch.iter().map(|example| example.source.len() as f64).sum::<f64>() / batch.len() as f64
                })
                .collect();
            let n = lengths.len() as f64;
            let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / n;
            let (x, y) = (mean(&mut (0..lengths.len()).map(|i| i as f64)), mean(&mut lengths.iter().copied()));
            let covariance = mean(&mut lengths.iter().enumerate().map(|(i, l)| (i as f64 - x) * (l - y)));
            let spread = |values: &mut dyn Iterator<Item = f64>| mean(values).sqrt();
            let deviations = spread(&mut (0..lengths.len()).map(|i| (i as f64 - x).powi(2)))
                * spread(&mut lengths.iter().map(|l| (l - y).powi(2)));
            // 1,250 batches: three standard errors are 0.085.
            assert!((covariance / deviations).abs() < 0.085, "{buffer}: {}", covariance / deviations);
        }
    }
}
