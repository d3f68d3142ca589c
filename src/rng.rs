//! The one source of chance outside the device: a seeded generator whose numbers are the same on every
//! machine and in every version, so that a corpus or an order of batches can be made again byte for byte.
//!
//! ChaCha8 with our own bounded draws: the `rand` crate may change how it draws a range between versions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// A seeded generator.
#[derive(Clone, Debug)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The generator of `seed`; different `stream`s of one seed have nothing to do with each other.
    pub fn new(seed: u64, stream: u64) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream);
        Self(rng)
    }

    /// 64 bits, every one equally likely 0 or 1: a seed for others.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number in `0..n`, every one equally likely. `n` must not be 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        // Draws from the last, incomplete stretch of multiples of n would favour small results: draw again.
        let fair = u64::MAX - u64::MAX % n;
        loop {
            let x = self.0.next_u64();
            if x < fair {
                return (x % n) as usize;
            }
        }
    }

    /// A number in [0, 1).
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// A number in [−1, 1).
    pub fn symmetric(&mut self) -> f64 {
        // The 53 bits that a double holds between two powers of two.
        (self.0.next_u64() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// A number from N(0, 1) (Box & Muller 1958).
    pub fn normal(&mut self) -> f64 {
        // 1 − [0, 1) is never 0.
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// One of `items`, every one equally likely. `items` must not be empty.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// True once in `n` times.
    pub fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Puts `items` in random order (Fisher–Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// The numbers 0..n in an order that looks random, each looked up by its place: a whole order of ten million numbers would
/// have to be held in memory. A Feistel network over the next power of four (Luby & Rackoff 1988; Black & Rogaway 2002,
/// "Ciphers with arbitrary finite domains", section 4: what falls outside is sent through again).
#[derive(Clone, Debug)]
pub struct Permutation {
    n: u64,
    half_bits: u32,
    keys: [u64; 6],
}

impl Permutation {
    /// The order that a generator decides.
    pub fn new(n: usize, rng: &mut Rng) -> Self {
        let n = n as u64;
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        Self { n, half_bits: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| rng.bits()) }
    }

    /// The number at a place; both are less than n.
    pub fn at(&self, place: usize) -> usize {
        let mut x = place as u64;
        loop {
            x = self.keys.iter().fold(x, |x, key| self.round(x, *key));
            if x < self.n {
                return x as usize;
            }
        }
    }

    fn round(&self, x: u64, key: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (left, right) = (x >> self.half_bits, x & mask);
        // The last steps of splitmix64 (Steele, Lea & Flood 2014).
        let mixed = (right ^ key).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        right << self.half_bits | (left ^ (mixed ^ (mixed >> 31)) & mask)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permutation_has_every_number_once_and_no_order() {
        for n in [1, 2, 3, 5, 16, 17, 1000, 40_000] {
            let permutation = Permutation::new(n, &mut Rng::new(1, 0));
            let order: Vec<usize> = (0..n).map(|place| permutation.at(place)).collect();
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..n), "{n}");
            let other = Permutation::new(n, &mut Rng::new(2, 0));
            assert!(n < 16 || (0..n).any(|place| other.at(place) != order[place]), "{n}");
        }
        // Spearman's correlation of place and number, and of neighbours, within four standard errors.
        let n = 40_000;
        let permutation = Permutation::new(n, &mut Rng::new(3, 0));
        let middle = (n as f64 - 1.0) / 2.0;
        let variance = (n as f64 * n as f64 - 1.0) / 12.0;
        for (what, other) in [("place", 0), ("neighbour", 1)] {
            let sum: f64 = (1..n)
                .map(|place| {
                    let against = if other == 0 { place } else { permutation.at(place - 1) };
                    (permutation.at(place) as f64 - middle) * (against as f64 - middle)
                })
                .sum();
            let correlation = sum / (n as f64 * variance);
            assert!(correlation.abs() < 4.0 / (n as f64).sqrt(), "{what}: {correlation}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers_for_ever() {
        let mut rng = Rng::new(1, 0);
        let drawn: Vec<usize> = (0..8).map(|_| rng.below(100)).collect();
        let mut again = Rng::new(1, 0);
        assert_eq!(drawn, (0..8).map(|_| again.below(100)).collect::<Vec<_>>());
        let mut other = Rng::new(1, 1);
        assert_ne!(drawn, (0..8).map(|_| other.below(100)).collect::<Vec<_>>());
    }

    /// The first four moments of N(0, 1), within four standard errors.
    #[test]
    fn normal_numbers_are_normal() {
        let (mut rng, n) = (Rng::new(3, 0), 100_000);
        let drawn: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let moment = |power| drawn.iter().map(|x: &f64| x.powi(power)).sum::<f64>() / f64::from(n);
        for (power, right, variance) in [(1, 0.0, 1.0f64), (2, 1.0, 2.0), (3, 0.0, 15.0), (4, 3.0, 96.0)] {
            let error = (variance / f64::from(n)).sqrt();
            assert!((moment(power) - right).abs() < 4.0 * error, "{power}: {}", moment(power));
        }
    }

    #[test]
    fn draws_are_fair_and_shuffles_keep_everything() {
        let mut rng = Rng::new(7, 0);
        let mut counts = [0; 3];
        (0..3000).for_each(|_| counts[rng.below(3)] += 1);
        assert!(counts.iter().all(|&n| (900..1100).contains(&n)), "{counts:?}");
        let mut items: Vec<usize> = (0..50).collect();
        rng.shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
