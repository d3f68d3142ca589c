//! Additive scores of every query with every key, v·tanh(q + k), in one operation: what is inside the tanh, K numbers for
//! each pair, never stands in memory.

mod composed;
mod fused;

use burn::backend::Dispatch;
use burn::tensor::{Tensor, assert_shape};

use fused::EnergiesOps;

/// Queries `[B, T, K]`, keys `[B, S, K]`, v `[K]` → `[B, T, S]`.
pub fn energies(queries: Tensor<3>, keys: Tensor<3>, energy: Tensor<1>) -> Tensor<3> {
    let ([b, _, k], [_, s, _]) = (queries.dims(), keys.dims());
    assert_shape!(keys, [b, s, k]);
    assert_shape!(energy, [k]);
    if !super::flex::can_take(&queries) || !super::flex::can_take(&keys) {
        return composed::energies(queries, keys, energy);
    }
    Tensor::from_dispatch(<Dispatch as EnergiesOps>::energies(
        queries.into_dispatch(),
        keys.into_dispatch(),
        energy.into_dispatch(),
    ))
}

#[cfg(test)]
mod tests;
