//! The scores from ordinary tensor operations: for every device and float type, the reference in tests.

use burn::tensor::Tensor;

pub(super) fn energies(queries: Tensor<3>, keys: Tensor<3>, energy: Tensor<1>) -> Tensor<3> {
    let ([b, t, k], s) = (queries.dims(), keys.dims()[1]);
    let hidden = (queries.unsqueeze_dim::<4>(2) + keys.unsqueeze_dim::<4>(1)).tanh();
    hidden.reshape([b * t * s, k]).matmul(energy.unsqueeze_dim(1)).reshape([b, t, s])
}
