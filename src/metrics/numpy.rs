//! The chance of numpy's `default_rng(seed)`, number for number, so that tests of significance agree with
//! sacreBLEU's: PCG64 (O'Neill 2014, "PCG: a family of simple fast space-efficient statistically good algorithms
//! for random number generation": 128 bits of state, XSL RR), started by numpy's `SeedSequence`. Everything else
//! draws from [`crate::rng`].

/// PCG64.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u128,
    increment: u128,
    /// The upper half of the last 64 bits, if only the lower one has been used.
    half: Option<u32>,
}

impl Generator {
    /// `numpy.random.default_rng(seed)`.
    pub fn new(seed: u64) -> Self {
        let words = seeds(seed);
        let double = |i: usize| (0..4).fold(0, |value, j| value << 32 | u128::from(words[i + [1, 0, 3, 2][j]]));
        let mut generator = Self { state: 0, increment: double(4) << 1 | 1, half: None };
        generator.step();
        generator.state = generator.state.wrapping_add(double(0));
        generator.step();
        generator
    }

    fn step(&mut self) {
        const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    fn next64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    fn next32(&mut self) -> u32 {
        if let Some(upper) = self.half.take() {
            return upper;
        }
        let both = self.next64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// `choice(n, size=count)`: numbers below `n`, with replacement. There are none below 0.
    pub fn choices(&mut self, n: u32, count: usize) -> Vec<u32> {
        match n {
            0 => Vec::new(),
            // Needs no chance, and numpy draws nothing.
            1 => vec![0; count],
            _ => (0..count).map(|_| self.below(n)).collect(),
        }
    }

    /// A number below `n` (Lemire 2019, "Fast random integer generation in an interval", algorithm 5).
    fn below(&mut self, n: u32) -> u32 {
        // Lower halves below this would favour some numbers.
        let unfair = n.wrapping_neg() % n;
        loop {
            let product = u64::from(self.next32()) * u64::from(n);
            if product as u32 >= unfair {
                return (product >> 32) as u32;
            }
        }
    }

    /// `integers(2, size=count, dtype=bool)`: the i-th is bit i modulo 32 of word i / 32.
    pub fn bits(&mut self, count: usize) -> Vec<u32> {
        (0..count.div_ceil(32)).map(|_| self.next32()).collect()
    }
}

/// `SeedSequence(seed).generate_state(8)`: O'Neill's `seed_seq_fe` ("Developing a seed_seq alternative", 2015).
fn seeds(seed: u64) -> [u32; 8] {
    let mut hash = Hash { constant: 0x43B0_D7E5, multiplier: 0x931E_8875 };
    let mut pool = [seed as u32, (seed >> 32) as u32, 0, 0].map(|word| hash.of(word));
    for from in 0..4 {
        for to in (0..4).filter(|&to| to != from) {
            let hashed = hash.of(pool[from]).wrapping_mul(0x4973_F715);
            let mixed = pool[to].wrapping_mul(0xCA01_F9DD).wrapping_sub(hashed);
            pool[to] = mixed ^ mixed >> 16;
        }
    }
    let mut hash = Hash { constant: 0x8B51_F9DD, multiplier: 0x58F3_8DED };
    std::array::from_fn(|i| hash.of(pool[i % 4]))
}

/// Hashes each word otherwise than the one before it.
struct Hash {
    constant: u32,
    multiplier: u32,
}

impl Hash {
    fn of(&mut self, word: u32) -> u32 {
        let word = word ^ self.constant;
        self.constant = self.constant.wrapping_mul(self.multiplier);
        let word = word.wrapping_mul(self.constant);
        word ^ word >> 16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// numpy 2.4.6: `default_rng(seed).bit_generator.random_raw(4)`.
    #[test]
    fn the_first_numbers_are_numpys() {
        let first = |seed| {
            let mut generator = Generator::new(seed);
            [(); 4].map(|()| generator.next64())
        };
        assert_eq!(
            first(12345),
            [0x3A32_B18D_B2FF_C19D, 0x5117_1315_C9E4_C4DE, 0xCC20_2482_3444_EFD9, 0xAD1F_06AE_A486_E910]
        );
        assert_eq!(
            first(0),
            [0xA30F_EBCF_D9C2_825F, 0x4510_BDF8_82D9_D721, 0x0A7D_3DA9_4ECD_E8B8, 0x043B_27B6_1342_F01D]
        );
        assert_eq!(
            first((1 << 40) + 7),
            [0xD46E_9E20_34DE_21AA, 0x415B_ADC9_9C08_7675, 0x275E_D40F_045A_CB84, 0xACAC_5475_8134_B98B]
        );
    }

    /// numpy 2.4.6: `g = default_rng(12345)`, then `g.choice(3000, size=10)`, `g.integers(2, size=40,
    /// dtype=bool)`, `g.choice(5, size=7)`, `g.choice(1, size=2)`, `g.choice(3000, size=3)`.
    #[test]
    fn choices_and_bits_are_numpys_one_after_the_other() {
        let mut generator = Generator::new(12345);
        assert_eq!(generator.choices(3000, 10), [2097, 682, 2365, 950, 612, 2392, 1928, 2028, 2965, 1173]);
        let bits = generator.bits(40);
        let bit = |i: usize| char::from(b'0' + (bits[i / 32] >> (i % 32) & 1) as u8);
        assert_eq!((0..40).map(bit).collect::<String>(), "1100001011110001001001110110101111100100");
        assert_eq!(generator.choices(5, 7), [2, 2, 1, 0, 1, 3, 3]);
        assert_eq!(generator.choices(1, 2), [0, 0]);
        assert_eq!(generator.choices(3000, 3), [2825, 2118, 744]);
        assert!(generator.choices(0, 3).is_empty());
    }

    /// numpy 2.4.6: `default_rng(12345).integers(0, 3_000_000_000, size=12)`; three in ten draws are refused.
    #[test]
    fn large_bounds_are_drawn_again_where_numpy_draws_again() {
        assert_eq!(
            Generator::new(12345).choices(3_000_000_000, 12),
            [
                2_097_645_094,
                682_008_066,
                2_365_940_964,
                950_275_018,
                2_392_096_371,
                2_028_764_011,
                2_518_275_128,
                1_794_926_260,
                639_429_039,
                560_202_556,
                687_406_213,
                2_018_268_131
            ]
        );
    }
}
