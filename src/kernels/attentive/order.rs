//! In which order a group of sentences goes through its steps: the longest target first, so that the sentences that
//! still run at a step are always the first ones.

use std::ops::Range;

/// The order of a group.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The sentences, by their number in the batch.
    pub sentences: Vec<usize>,
    /// The rows of each step in what holds all steps one after the other: as many as sentences still run.
    pub steps: Vec<Range<usize>>,
    /// Where each row stands among the steps of the whole batch, sentence after sentence.
    pub places: Vec<usize>,
}

impl Order {
    /// The order of some sentences of a batch, with the number of `steps` of all.
    pub fn new(group: impl Iterator<Item = usize>, steps: &[usize]) -> Self {
        let mut sentences: Vec<usize> = group.collect();
        sentences.sort_by_key(|&sentence| std::cmp::Reverse(steps[sentence]));
        let before = |&sentence: &usize| steps[..sentence].iter().sum::<usize>();
        let firsts: Vec<usize> = sentences.iter().map(before).collect();
        let longest = sentences.first().map_or(0, |&sentence| steps[sentence]);
        let (mut rows, mut places) = (Vec::with_capacity(longest), Vec::new());
        for t in 0..longest {
            let running = sentences.iter().take_while(|&&sentence| steps[sentence] > t).count();
            rows.push(places.len()..places.len() + running);
            places.extend(firsts[..running].iter().map(|first| first + t));
        }
        Self { sentences, steps: rows, places }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // Sentences 1, 2, 3 of a batch of four.
        let order = Order::new(1..4, &[2, 1, 3, 0]);
        assert_eq!(order.sentences, [2, 1, 3]);
        assert_eq!(order.steps, [0..2, 2..3, 3..4]);
        // Steps of the batch: 0 0 1 2 2 2.
        assert_eq!(order.places, [3, 2, 4, 5]);
    }
}
