//! The innermost loop: a few rows of the left side times one panel of the right, kept in registers.

use pulp::{NullaryFnOnce, Simd};

/// Rows that are kept in registers at a time; with [`VECTORS`] they fill AVX2's sixteen but for three.
pub(super) const ROWS: usize = 6;

/// Vectors a row of a panel takes.
pub(super) const VECTORS: usize = 2;

/// At most [`ROWS`] rows times one panel.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    /// Columns of the left side that take part.
    pub k: usize,
    /// The first row's first value, how far rows and columns are apart.
    pub left: *const f32,
    pub left_row: usize,
    pub left_column: usize,
    /// `k` rows, each [`VECTORS`] vectors wide, one after the other.
    pub panel: *const f32,
    /// Where the first value goes, and how far rows are apart there.
    pub out: *mut f32,
    pub out_row: usize,
    /// How many of the panel's columns are real.
    pub columns: usize,
    /// Whether the product is added to what is there.
    pub add: bool,
    /// What will be wanted after this panel, laid out alike: asked for on the way, a row of it every `pace` rows of
    /// this one. Memory is slower than the first rows that meet a panel, and has time while the others do.
    pub next: *const f32,
    pub pace: usize,
}

impl Tile {
    /// Multiplies `rows` rows, at most [`ROWS`].
    ///
    /// # Safety
    /// `rows` rows must lie behind `left` and `out`, `k` behind `panel`; nobody else may use `out`'s.
    #[inline(always)]
    pub(super) unsafe fn run<S: Simd>(self, simd: S, rows: usize) {
        // One function for each number of rows, so that the compiler keeps all sums in registers.
        match rows {
            1 => simd.vectorize(Rows::<S, 1>(simd, self)),
            2 => simd.vectorize(Rows::<S, 2>(simd, self)),
            3 => simd.vectorize(Rows::<S, 3>(simd, self)),
            4 => simd.vectorize(Rows::<S, 4>(simd, self)),
            5 => simd.vectorize(Rows::<S, 5>(simd, self)),
            _ => simd.vectorize(Rows::<S, ROWS>(simd, self)),
        }
    }
}

struct Rows<S, const R: usize>(S, Tile);

impl<S: Simd, const R: usize> NullaryFnOnce for Rows<S, R> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        // SAFETY: the promise of `Tile::run`.
        unsafe { multiply::<S, R>(self.0, self.1) }
    }
}

#[inline(always)]
unsafe fn multiply<S: Simd, const R: usize>(simd: S, tile: Tile) {
    let lanes = S::F32_LANES;
    let mut sums = [[simd.splat_f32s(0.0); VECTORS]; R];
    let rows: [*const f32; R] = std::array::from_fn(|i| tile.left.wrapping_add(i * tile.left_row));
    // SAFETY: the promise of `Tile::run`.
    unsafe {
        for i in 0..R {
            // Where `out`'s rows are far apart, no hardware foresees what will be written.
            let out = tile.out.wrapping_add(i * tile.out_row);
            fetch::<true>(out);
            fetch::<true>(out.wrapping_add(tile.columns - 1));
        }
        let (mut panel, mut next, mut p) = (tile.panel, tile.next, 0);
        while p < tile.k {
            for line in 0..(VECTORS * lanes).div_ceil(LINE) {
                fetch::<false>(next.wrapping_add(line * LINE));
            }
            next = next.wrapping_add(VECTORS * lanes);
            let stop = (p + tile.pace).min(tile.k);
            while p < stop {
                let right: [S::f32s; VECTORS] =
                    std::array::from_fn(|j| panel.add(j * lanes).cast::<S::f32s>().read_unaligned());
                for i in 0..R {
                    let left = simd.splat_f32s(*rows[i].add(p * tile.left_column));
                    for j in 0..VECTORS {
                        sums[i][j] = simd.mul_add_f32s(left, right[j], sums[i][j]);
                    }
                }
                panel = panel.add(VECTORS * lanes);
                p += 1;
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            let out = tile.out.add(i * tile.out_row);
            if tile.columns == VECTORS * lanes {
                for (j, &sum) in sums.iter().enumerate() {
                    let out = out.add(j * lanes).cast::<S::f32s>();
                    let sum = if tile.add { simd.add_f32s(out.read_unaligned(), sum) } else { sum };
                    out.write_unaligned(sum);
                }
            } else {
                let sums = std::slice::from_raw_parts(sums.as_ptr().cast::<f32>(), tile.columns);
                for (j, &sum) in sums.iter().enumerate() {
                    let out = out.add(j);
                    *out = if tile.add { *out + sum } else { sum };
                }
            }
        }
    }
}

/// Numbers in a line of the cache.
const LINE: usize = 16;

/// Asks for a line, into the first cache or the second.
#[inline(always)]
fn fetch<const FIRST: bool>(line: *const f32) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        // SAFETY: a hint, whatever the address.
        unsafe {
            match FIRST {
                true => _mm_prefetch::<_MM_HINT_T0>(line.cast()),
                false => _mm_prefetch::<_MM_HINT_T1>(line.cast()),
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}
