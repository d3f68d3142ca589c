//! In which order a group of sentences goes through its steps: the longest target first, so that the sentences that still
//! run at a step are always the first ones.

/// The order of a group.
#[derive(Clone, Debug)]
pub(super) struct Order {
    /// The sentences, by their number in the batch.
    pub sentences: Vec<usize>,
    /// How many of them run at each step.
    pub running: Vec<usize>,
    /// Where each step of each running sentence stands among those of the whole batch, step after step.
    pub places: Vec<usize>,
}

impl Order {
    /// The order of some sentences of a batch, with the number of `steps` of all.
    pub fn new(group: std::ops::Range<usize>, steps: &[usize]) -> Self {
        let before = |sentence: usize| steps[..sentence].iter().sum::<usize>();
        let mut sentences: Vec<usize> = group.collect();
        sentences.sort_by_key(|&sentence| std::cmp::Reverse(steps[sentence]));
        let firsts: Vec<usize> = sentences.iter().map(|&sentence| before(sentence)).collect();
        let longest = sentences.first().map_or(0, |&sentence| steps[sentence]);
        let running: Vec<usize> =
            (0..longest).map(|t| sentences.iter().take_while(|&&sentence| steps[sentence] > t).count()).collect();
        let places = running
            .iter()
            .enumerate()
            .flat_map(|(t, &n)| firsts[..n].iter().map(move |first| first + t))
            .collect();
        Self { sentences, running, places }
    }

    /// The rows of each step in what holds all of them one after the other.
    pub fn steps(&self) -> Vec<std::ops::Range<usize>> {
        let mut first = 0;
        let rows = |&n: &usize| {
            first += n;
            first - n..first
        };
        self.running.iter().map(rows).collect()
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
        assert_eq!(order.running, [2, 1, 1]);
        assert_eq!(order.steps(), [0..2, 2..3, 3..4]);
        // Steps of the batch: 0 0 1 2 2 2.
        assert_eq!(order.places, [3, 2, 4, 5]);
    }
}
