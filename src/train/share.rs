//! One update's batch, dealt out to the cores of all processes that train together.

use burn::tensor::Device;

use super::batch::{Batch, Example};
use crate::error::Result;
use crate::ranks::Ranks;

/// The cores that train together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Team {
    rank: usize,
    /// The rank of each core; ranks take turns, so that a small batch is spread over all of them.
    owners: Vec<usize>,
}

impl Team {
    /// The cores of this process and of all others.
    ///
    /// # Errors
    /// The others do not answer.
    pub fn meet(ranks: &Ranks, cores: usize) -> Result<Self> {
        let cores = ranks.gather(cores)?;
        let mut turns: Vec<(usize, usize)> =
            cores.iter().enumerate().flat_map(|(rank, &cores)| (0..cores).map(move |turn| (turn, rank))).collect();
        turns.sort_unstable();
        Ok(Self { rank: ranks.rank(), owners: turns.into_iter().map(|(_, rank)| rank).collect() })
    }

    /// The cores of this process alone.
    pub fn alone(cores: usize) -> Self {
        Self { rank: 0, owners: vec![0; cores] }
    }
}

/// What this process does of an update.
#[derive(Clone, Debug)]
pub struct Share {
    /// The parts for its cores.
    pub parts: Vec<Part>,
    /// Target tokens of the whole batch, on all processes.
    pub tokens: usize,
}

/// What a core does of an update.
#[derive(Clone, Debug)]
pub struct Part {
    /// Its place among all parts: dropout and draws follow from it, whoever does the part.
    pub number: usize,
    /// The sentences.
    pub batch: Batch,
}

impl Share {
    /// Deals examples out to a team; or to fewer cores, if a part would be too small to be worth it. All get long and short
    /// ones.
    pub fn deal(examples: &[&Example], team: &Team, device: &Device) -> Self {
        let parts = parts(team.owners.len(), examples.len());
        let mut sorted = examples.to_vec();
        sorted.sort_by_key(|example| example.by_length());
        let part = |number| {
            let examples: Vec<&Example> = sorted.iter().skip(number).step_by(parts).copied().collect();
            Part { number, batch: Batch::new(&examples, device) }
        };
        let mine = (0..parts).filter(|&number| team.owners[number] == team.rank);
        Self {
            parts: mine.map(part).collect(),
            tokens: examples.iter().map(|example| example.target_tokens()).sum(),
        }
    }
}

/// In how many parts so many sentences are dealt out to so many cores.
pub fn parts(cores: usize, sentences: usize) -> usize {
    cores.min(sentences / FEWEST).max(1)
}

/// Sentences of a part at least: with fewer, adding up gradients costs more than a core brings.
const FEWEST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn examples() -> Vec<Example> {
        let lengths = (0..50).map(|i| (i * 7 % 30, i * 11 % 40));
        lengths.map(|(s, t)| Example::new(vec![5; s], vec![6; t])).collect()
    }

    #[test]
    fn dealing_loses_nobody_and_is_fair() {
        let (examples, device) = (examples(), Device::flex());
        let chosen: Vec<&Example> = examples.iter().collect();
        for (cores, parts) in [(1, 1), (2, 2), (3, 3), (8, 3)] {
            let share = Share::deal(&chosen, &Team::alone(cores), &device);
            let dealt: Vec<&Batch> = share.parts.iter().map(|part| &part.batch).collect();
            assert_eq!(dealt.len(), parts);
            let sums = dealt.iter().map(|batch| batch.tokens);
            assert_eq!(sums.clone().sum::<usize>(), share.tokens);
            assert_eq!(share.tokens, chosen.iter().map(|example| example.target_tokens()).sum::<usize>());
            assert!(sums.clone().max().unwrap() - sums.min().unwrap() <= 40, "{cores}");
            let mut lengths: Vec<usize> = dealt.iter().flat_map(|batch| batch.source.lengths.clone()).collect();
            lengths.sort_unstable();
            let mut expected: Vec<usize> = chosen.iter().map(|example| example.source.len()).collect();
            expected.sort_unstable();
            assert_eq!(lengths, expected);
        }
        assert_eq!(Share::deal(&chosen[..1], &Team::alone(8), &device).parts.len(), 1);
    }

    /// However cores are spread over processes, the parts are the same ones.
    #[test]
    fn processes_share_what_one_would_do() {
        let (examples, device) = (examples(), Device::flex());
        let chosen: Vec<&Example> = examples.iter().collect();
        let alone = Share::deal(&chosen, &Team::alone(3), &device);
        let owners = vec![0, 1, 0];
        let together = [0, 1].map(|rank| Share::deal(&chosen, &Team { rank, owners: owners.clone() }, &device));
        let numbers = |share: &Share| share.parts.iter().map(|part| part.number).collect::<Vec<_>>();
        assert_eq!([numbers(&together[0]), numbers(&together[1])], [vec![0, 2], vec![1]]);
        for share in &together {
            assert_eq!(share.tokens, alone.tokens);
            for part in &share.parts {
                assert_eq!(part.batch.source.lengths, alone.parts[part.number].batch.source.lengths);
            }
        }
        // Too few sentences for both: one does it all, the other nothing.
        let few = [0, 1].map(|rank| Share::deal(&chosen[..3], &Team { rank, owners: owners.clone() }, &device));
        assert_eq!(few.map(|share| share.parts.len()), [1, 0]);
    }
}
