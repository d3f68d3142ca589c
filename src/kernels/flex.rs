//! Flex tensors as slices and back, without copying.

use burn::backend::flex::{FlexTensor, Layout};
use burn::backend::{DispatchDevice, DispatchTensorKind};
use burn::tensor::{Bytes, DType, Device, Shape, Tensor};

/// In how many parts a device can work at the same time: flex on every thread, others do it inside.
pub fn cores(device: &Device) -> usize {
    match device.clone().without_autodiff().as_dispatch() {
        DispatchDevice::Flex(_) => rayon::current_num_threads(),
        #[allow(unreachable_patterns)]
        _ => 1,
    }
}

/// Whether fused operations can take a tensor: on flex (with or without gradients), in 32 bits.
pub(crate) fn can_take<const D: usize>(tensor: &Tensor<D>) -> bool {
    let device = tensor.device().without_autodiff();
    tensor.dtype() == DType::F32 && matches!(device.as_dispatch(), DispatchDevice::Flex(_))
}

/// What a tensor on flex is made of.
pub(super) fn primitive<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    match tensor.into_dispatch().kind {
        DispatchTensorKind::Flex(tensor) => tensor.float(),
        _ => unreachable!("can_take was asked before"),
    }
}

/// The same with its values one after the other; copied only if they were not. Taken by value, so that whoever
/// holds the tensor alone can write into it: a copy is made at the first write while another handle lives.
pub(super) fn contiguous(tensor: FlexTensor) -> FlexTensor {
    tensor.to_contiguous()
}

/// A tensor's values as a slice, not copied if they lie one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Values(FlexTensor);

impl Values {
    /// The values of a tensor that `can_take` takes.
    pub fn of<const D: usize>(tensor: Tensor<D>) -> Self {
        Self(primitive(tensor).to_contiguous())
    }
}

impl std::ops::Deref for Values {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        floats(&self.0)
    }
}

/// The values of a contiguous tensor in 32 bits.
#[allow(clippy::expect_used)]
pub(super) fn floats(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("can_take and to_contiguous were asked before")
}

/// A tensor that takes over values.
pub(super) fn tensor<const D: usize>(values: Vec<f32>, shape: [usize; D]) -> FlexTensor {
    FlexTensor::new(Bytes::from_elems(values), Layout::contiguous(Shape::from(shape)), DType::F32)
}
