//! Log-probabilities of the next token, as a search asks for them. Most are never looked at, so they are kept as
//! logits beside the logarithm of their sum, and the largest of each block tells whether it is worth a visit.
//!
//! Some columns of the vocabulary lie together, all rows of them, so that a product can write them and their sums
//! can be taken while they are still in a core's cache.

use super::simd;

/// Tokens that are looked at together before each by itself.
pub const BLOCK: usize = 256;

/// Of N rows over a vocabulary.
#[derive(Clone, Debug)]
pub struct LogProbs {
    /// The vocabulary in order, all but the last of the same width.
    parts: Vec<Part>,
    /// ln Σ eˣ of each row's logits.
    log_sums: Vec<f32>,
}

/// Logits of some tokens that follow each other, `[N, width]`.
#[derive(Clone, Debug)]
pub struct Part {
    logits: Vec<f32>,
    width: usize,
    /// Of each row's blocks: the largest, and Σ e^(x − largest).
    sums: Vec<(f32, f32)>,
}

/// Log-probabilities of up to [`BLOCK`] tokens of a row.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    /// The first token.
    pub first: usize,
    /// The largest of them.
    pub largest: f32,
    logits: &'a [f32],
    log_sum: f32,
}

impl Part {
    /// Takes logits `[N, width]`; the width is a multiple of [`BLOCK`] in all parts but the last.
    pub fn new(logits: Vec<f32>, width: usize) -> Self {
        let mut sums = Vec::with_capacity(logits.len() / width.max(1) * width.div_ceil(BLOCK));
        simd::run(
            #[inline(always)]
            || {
                for row in logits.chunks(width.max(1)) {
                    for block in row.chunks(BLOCK) {
                        sums.push(simd::largest_and_exp_sum(block));
                    }
                }
            },
        );
        Self { logits, width, sums }
    }

    /// A row's blocks.
    fn sums(&self, row: usize) -> &[(f32, f32)] {
        let blocks = self.width.div_ceil(BLOCK);
        &self.sums[row * blocks..][..blocks]
    }
}

impl LogProbs {
    /// Those of logits of so many rows.
    pub fn of_logits(parts: Vec<Part>, rows: usize) -> Self {
        let even = parts.iter().rev().skip(1).all(|part| part.width == parts[0].width && part.width % BLOCK == 0);
        assert!(even, "all parts but the last are whole blocks and as wide as the first");
        let log_sum = |row: usize| {
            let sums = || parts.iter().flat_map(move |part| part.sums(row));
            let most = sums().fold(f32::NEG_INFINITY, |most, &(largest, _)| most.max(largest));
            most + sums().map(|&(largest, sum)| sum * simd::exp(largest - most)).sum::<f32>().ln()
        };
        let log_sums = (0..rows).map(log_sum).collect();
        Self { parts, log_sums }
    }

    /// Takes log-probabilities as they are, `[N, vocabulary]`: for made-up models.
    #[cfg(test)]
    pub fn given(log_probs: Vec<f32>, vocabulary: usize) -> Self {
        let log_sums = vec![0.0; log_probs.len() / vocabulary.max(1)];
        Self { parts: vec![Part::new(log_probs, vocabulary)], log_sums }
    }

    /// That of a token.
    pub fn get(&self, row: usize, token: usize) -> f32 {
        let width = self.parts.first().map_or(1, |part| part.width);
        let part = &self.parts[token / width];
        part.logits[row * part.width + token % width] - self.log_sums[row]
    }

    /// Whether a row holds a number; a model that has gone wrong says none.
    pub fn has_numbers(&self, row: usize) -> bool {
        self.blocks(row).any(|block| block.largest.is_finite())
    }

    /// All of a row.
    pub fn blocks(&self, row: usize) -> impl Iterator<Item = Block<'_>> {
        let log_sum = self.log_sums[row];
        let blocks = self.parts.iter().flat_map(move |part| {
            let logits = &part.logits[row * part.width..][..part.width];
            logits.chunks(BLOCK).zip(part.sums(row))
        });
        // Every block but the last is full.
        blocks.enumerate().map(move |(i, (logits, &(largest, _)))| Block {
            first: i * BLOCK,
            largest: largest - log_sum,
            logits,
            log_sum,
        })
    }
}

impl Block<'_> {
    /// Each token with its log-probability.
    pub fn tokens(self) -> impl Iterator<Item = (usize, f32)> {
        let Self { first, logits, log_sum, .. } = self;
        (first..).zip(logits.iter().map(move |logit| logit - log_sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two rows over 600 tokens in parts of 512 and 88, against double precision.
    #[test]
    fn are_those_of_the_whole_row() {
        let logit = |row: usize, token: usize| ((row * 31 + token * 17) % 101) as f32 / 9.0 - 5.0;
        let part = |tokens: std::ops::Range<usize>| {
            let width = tokens.len();
            Part::new((0..2).flat_map(|row| tokens.clone().map(move |token| logit(row, token))).collect(), width)
        };
        let found = LogProbs::of_logits(vec![part(0..512), part(512..600)], 2);
        for row in 0..2 {
            let sum: f64 = (0..600).map(|token| f64::from(logit(row, token)).exp()).sum();
            let right = |token: usize| (f64::from(logit(row, token)) - sum.ln()) as f32;
            for token in [0, 255, 256, 511, 512, 599] {
                assert!((found.get(row, token) - right(token)).abs() < 1e-5);
            }
            let seen: Vec<(usize, f32)> = found.blocks(row).flat_map(Block::tokens).collect();
            assert!(seen.iter().enumerate().all(|(i, &(token, x))| token == i && x == found.get(row, i)));
            assert_eq!(seen.len(), 600);
            for block in found.blocks(row) {
                assert!(block.tokens().all(|(_, x)| x <= block.largest));
                assert!(block.tokens().any(|(_, x)| x == block.largest));
            }
        }
    }

    /// What is no number makes the whole row none; what can't be (−∞) takes no part.
    #[test]
    fn numbers_that_are_none() {
        let row = |odd: f32| LogProbs::of_logits(vec![Part::new(vec![1.0, odd, 1.0], 3)], 1);
        assert!(row(f32::NAN).get(0, 0).is_nan() && !row(f32::NAN).has_numbers(0));
        assert!(row(f32::NEG_INFINITY).has_numbers(0));
        assert!((row(f32::NEG_INFINITY).get(0, 0) + 2.0f32.ln()).abs() < 1e-6);
        assert_eq!(row(f32::NEG_INFINITY).get(0, 1), f32::NEG_INFINITY);
        let mut wide = vec![f32::NEG_INFINITY; BLOCK];
        wide.extend([0.0, 0.0]);
        let found = LogProbs::of_logits(vec![Part::new(wide, BLOCK + 2)], 1);
        assert!((found.get(0, BLOCK) + 2.0f32.ln()).abs() < 1e-6);
    }
}
