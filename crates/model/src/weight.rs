//! A parameter and its place in the inventory.

use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Flex};
use burn::module::{Module, Param};
use burn::tensor::{Device, Tensor, TensorData};

/// A parameter: a matrix, or a vector as a matrix of one row.
#[derive(Module, Debug)]
pub struct Weight {
    value: Param<Tensor<2>>,
    index: usize,
}

impl Weight {
    /// From its place in the inventory and its numbers.
    pub fn new(index: usize, numbers: Vec<f32>, shape: [usize; 2], device: &Device) -> Self {
        let value = Param::from_tensor(Tensor::from_data(TensorData::new(numbers, shape), device));
        Self { value, index }
    }

    /// Its place in the inventory.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Rows and columns.
    pub fn shape(&self) -> [usize; 2] {
        self.value.val().dims()
    }

    /// The tensor.
    pub fn tensor(&self) -> Tensor<2> {
        self.value.val()
    }

    /// The tensor, with or without a graph as another tensor that it meets in an operation.
    pub(crate) fn beside<const D: usize>(&self, other: &Tensor<D>) -> Tensor<2> {
        let tensor = self.tensor();
        if other.device().is_autodiff() { tensor } else { tensor.inner() }
    }

    /// A copy of the numbers.
    pub fn numbers(&self) -> Vec<f32> {
        host(self.tensor())
    }

    /// Changes the numbers in place (on a CPU; on other devices they come and go).
    pub fn update(&mut self, change: impl FnOnce(&mut [f32])) {
        let device = self.value.val().device();
        let placeholder = Param::from_tensor(Tensor::zeros([1, 1], &device));
        let id = self.value.id;
        let mut data = std::mem::replace(&mut self.value, placeholder).into_value().into_data();
        change(singles(&mut data));
        let tensor = Tensor::from_data(data, &device).require_grad();
        self.value = Param::initialized(id, tensor);
    }

    /// The numbers where a CPU can read them.
    pub(crate) fn flex(&self) -> FlexTensor {
        flex(self.tensor())
    }
}

/// The storage of a tensor on the CPU, contiguous.
///
/// # Panics
/// If the tensor lives elsewhere: fused operations are chosen for the CPU only.
pub(crate) fn flex<const D: usize>(tensor: Tensor<D>) -> FlexTensor {
    let storage = if tensor.device().is_autodiff() {
        tensor.try_into_primitive::<Autodiff<Flex>>().map(|tensor| tensor.primitive().clone())
    } else {
        tensor.try_into_primitive::<Flex>()
    };
    let storage = storage.expect("fused operations take tensors of the CPU");
    if storage.is_contiguous() { storage } else { storage.to_contiguous() }
}

/// The numbers of a contiguous tensor.
pub(crate) fn numbers(tensor: &FlexTensor) -> &[f32] {
    tensor.as_slice().expect("contiguous single precision")
}

/// The numbers of a tensor, wherever it lives.
pub(crate) fn host<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec().expect("tensors are single precision")
}

fn singles(data: &mut TensorData) -> &mut [f32] {
    data.as_mut_slice().expect("tensors are single precision")
}
