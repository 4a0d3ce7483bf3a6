//! Nodes of burn's graph whose gradients are written by hand.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::flex::FlexTensor;
use burn::backend::{Autodiff, Flex};
use burn::tensor::{Shape, Tensor, TensorData};

use crate::weight::numbers;

/// From the gradient of the output to those of the N inputs.
type Gradient<const N: usize> = Box<dyn FnOnce(&[f32]) -> [Vec<f32>; N] + Send>;

/// A gradient that will be asked for once.
#[derive(Clone)]
struct Once<const N: usize>(Arc<Mutex<Option<Gradient<N>>>>);

impl<const N: usize> fmt::Debug for Once<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Once")
    }
}

#[derive(Debug)]
struct ByHand;

impl<const N: usize> Backward<Flex, N> for ByHand {
    type State = (Once<N>, [Shape; N]);

    fn backward(self, ops: Ops<Self::State, N>, grads: &mut Gradients, _: &mut Checkpointer) {
        let incoming = grads.consume::<Flex>(&ops.node);
        let incoming = if incoming.is_contiguous() { incoming } else { incoming.to_contiguous() };
        let (once, shapes) = ops.state;
        let gradient = once.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        let gradient = gradient.expect("a graph is walked once");
        let outgoing = gradient(numbers(&incoming));
        drop(incoming);
        for ((parent, numbers), shape) in ops.parents.into_iter().zip(outgoing).zip(shapes) {
            if let Some(parent) = parent {
                grads.register::<Flex>(
                    parent.id,
                    FlexTensor::from_data(TensorData::new(numbers, shape)),
                );
            }
        }
    }
}

/// The result of an operation on tracked tensors; `gradient` goes from its gradient to theirs.
pub(super) fn tracked<const N: usize, const D: usize>(
    inputs: [Tensor<2>; N],
    output: Vec<f32>,
    shape: [usize; D],
    gradient: impl FnOnce(&[f32]) -> [Vec<f32>; N] + Send + 'static,
) -> Tensor<D> {
    let shapes = inputs.each_ref().map(|input| Shape::from(input.dims()));
    let inputs = inputs.map(|input| {
        input
            .try_into_primitive::<Autodiff<Flex>>()
            .expect("fused operations take tracked tensors of the CPU")
    });
    #[expect(clippy::redundant_closure_for_method_calls, reason = "burn keeps the type to itself")]
    let guards = inputs.each_ref().map(|input| input.node());
    let output = FlexTensor::from_data(TensorData::new(output, shape));
    let once = Once(Arc::new(Mutex::new(Some(Box::new(gradient) as Gradient<N>))));
    let output = match ByHand.prepare::<NoCheckpointing>(guards).compute_bound().stateful() {
        OpsKind::Tracked(prep) => prep.finish((once, shapes), output),
        OpsKind::UnTracked(prep) => prep.finish(output),
    };
    Tensor::from_primitive::<Autodiff<Flex>>(output)
}

/// The result of an operation whose gradient nobody wants.
pub(super) fn untracked<const D: usize>(output: Vec<f32>, shape: [usize; D]) -> Tensor<D> {
    Tensor::from_primitive::<Flex>(FlexTensor::from_data(TensorData::new(output, shape)))
}
