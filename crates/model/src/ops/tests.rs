//! Single operations: what a caller may ask of them, and what is refused.

use std::sync::Arc;

use burn::tensor::{Device, TensorData};
use padir_kernels::draw::Draw;

use super::*;
use crate::gradients::Gradients;
use crate::weight::host;

const LOSS: CrossEntropy = CrossEntropy { scale: 1.0, smoothing: 0.1, z_loss: 0.01, draw: None };

fn device() -> Device {
    Device::flex().autodiff()
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| (i as f32 * 0.7).sin()).collect()
}

fn matrix(rows: usize, columns: usize) -> Tensor<2> {
    let data = TensorData::new(numbers(rows * columns), [rows, columns]);
    Tensor::from_data(data, &device()).require_grad()
}

/// Five rows of width 3 are classified by a table of four classes, each counted with a factor.
struct Classified {
    y: Tensor<2>,
    table: Weight,
    pass: Pass,
    store: Arc<Gradients>,
    loss: Loss,
}

fn classified(fused: bool, factor: f32) -> Classified {
    let (y, table) = (matrix(5, 3), Weight::new(0, numbers(12), [4, 3], &device()));
    let store = Arc::new(Gradients::new([12]));
    let pass = Pass::training(fused, None, Arc::clone(&store));
    let weights = [1.0, 0.5, 0.0, 2.0, 1.0].map(|w| w * factor).to_vec();
    let targets = Arc::new(Targets { classes: vec![0, 3, 1, 2, 3], weights });
    let (loss, _) = classify(&pass, LOSS, &y, &table, &targets);
    Classified { y, table, pass, store, loss }
}

/// The gradients of y and of the table; a composed loss is multiplied when it is there, a fused one in its weights.
fn gradients(fused: bool, factor: f32) -> (Vec<f32>, Vec<f32>) {
    let Classified { y, table, pass, store, loss } =
        classified(fused, if fused { factor } else { 1.0 });
    let (total, _) = loss.into_parts();
    let total = if fused { total } else { total * factor };
    let mut found = total.backward();
    let dy = host(y.grad_remove(&mut found).unwrap());
    if let Some(gradient) = table.tensor().grad_remove(&mut found) {
        store.add(0, &host(gradient));
    }
    drop(pass);
    (dy, store.read(0).to_vec())
}

#[test]
fn a_factor_among_the_weights_equals_a_scaled_loss() {
    for factor in [1.0, 0.5, 3.0, -0.1, 1e-4] {
        let (fused, composed) = (gradients(true, factor), gradients(false, factor));
        for (a, b) in [(&fused.0, &composed.0), (&fused.1, &composed.1)] {
            assert!(b.iter().any(|b| *b != 0.0));
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                assert!((a - b).abs() < 1e-6 * factor.abs(), "{factor}, {at}: {a} and {b}");
            }
        }
    }
}

/// In every build: a release build trained with a wrong gradient once.
#[test]
#[should_panic(expected = "a fused loss counts with factor 1, not 0.5")]
fn a_fused_loss_that_is_scaled_all_the_same_is_refused() {
    let (total, _) = classified(true, 1.0).loss.into_parts();
    (total * 0.5).backward();
}

#[test]
fn the_losses_of_a_pass_are_counted() {
    let Classified { pass, loss, .. } = classified(true, 1.0);
    assert_eq!((loss.into_parts().1, pass.settle_losses(), pass.settle_losses()), (1, 1, 0));
    let Classified { pass, loss, .. } = classified(false, 1.0);
    assert_eq!((loss.into_parts().1, pass.settle_losses()), (0, 0));
}

#[test]
fn both_kinds_of_operations_draw_alike() {
    let draw = Some(Draw { temperature: 0.9, key: [1, 2], site: 3 });
    let loss = CrossEntropy { draw, ..LOSS };
    // More rows than there are logits at a time.
    let (y, table) = (matrix(300, 3), Weight::new(0, numbers(21), [7, 3], &device()));
    let targets = Arc::new(Targets { classes: vec![0; 300], weights: Vec::new() });
    let samples = |pass: &Pass| classify(pass, loss, &y, &table, &targets).1.samples;
    let training = |fused| Pass::training(fused, None, Arc::new(Gradients::new([21])));
    let expected = samples(&training(true));
    assert_eq!(expected.len(), 300);
    assert!((0..7).all(|class| expected.contains(&class)), "{expected:?}");
    assert_eq!(samples(&training(false)), expected);
    assert_eq!(samples(&Pass::evaluation(true)), expected);
}

#[test]
fn a_row_that_is_picked_twice_learns_from_both() {
    let rows = Arc::new(vec![2, 0, 2, 2, 1]);
    let gradient = |fused: bool| {
        let x = matrix(4, 3);
        let pass = Pass::training(fused, None, Arc::new(Gradients::new([])));
        let picked = pick(&pass, &x, &rows);
        // Rows must not weigh the same, or their order would not matter.
        let mut found = (picked * matrix(5, 3).detach()).sum().backward();
        host(x.grad_remove(&mut found).unwrap())
    };
    let (fused, w) = (gradient(true), numbers(15));
    assert_eq!(fused, gradient(false));
    assert_eq!(fused[0..3], w[3..6]);
    assert_eq!(fused[6..9], [0, 1, 2].map(|i| w[i] + w[6 + i] + w[9 + i]));
    assert_eq!(fused[9..12], [0.0; 3]);
}
