//! The innermost loop with AVX2's instructions for bytes.

use std::arch::x86_64::{
    __m256i, _mm256_add_epi16, _mm256_add_epi32, _mm256_loadu_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256,
};
use std::array::from_fn;

use super::{GROUP, ROWS, WIDTH};

/// R rows times one panel.
///
/// # Safety
/// AVX2 must be there; `left` must hold R rows as deep as the panel.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn tile<const R: usize>(left: &[u8], panel: &[i8], sums: &mut [[i32; WIDTH]; ROWS]) {
    let groups = panel.len() / (WIDTH * GROUP);
    let ones = _mm256_set1_epi16(1);
    let mut found = [[_mm256_setzero_si256(); 2]; R];
    // SAFETY: the caller's promise; reads need no alignment.
    unsafe {
        let mut rows: [*const i32; R] = from_fn(|i| left.as_ptr().add(i * groups * GROUP).cast());
        let mut weights = panel.as_ptr().cast::<__m256i>();
        for _ in 0..groups {
            for (row, found) in rows.iter_mut().zip(&mut found) {
                let fours: [__m256i; 2] = from_fn(|half| _mm256_set1_epi32(row.add(half).read_unaligned()));
                // Weights are read again for each row: registers are scarcer than loads.
                for (vector, found) in found.iter_mut().enumerate() {
                    let [one, other] = from_fn(|half| {
                        let weights = _mm256_loadu_si256(weights.add(2 * half + vector));
                        _mm256_maddubs_epi16(fours[half], weights)
                    });
                    let pairs = _mm256_add_epi16(one, other);
                    *found = _mm256_add_epi32(*found, _mm256_madd_epi16(pairs, ones));
                }
                *row = row.add(2);
            }
            weights = weights.add(4);
        }
        for (sums, found) in sums.iter_mut().zip(found) {
            for (sums, found) in sums.chunks_mut(WIDTH / 2).zip(found) {
                _mm256_storeu_si256(sums.as_mut_ptr().cast::<__m256i>(), found);
            }
        }
    }
}
