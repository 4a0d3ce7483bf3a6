//! Softmax cross-entropy with a table of classes, a few rows of logits at a time.
//!
//! With logits l = scale·y·Eᵀ, target t and weight w of a row:
//!
//! ```text
//! loss = Σ w·( (1−ε)(log Z − l_t) + ε·(log Z − mean(l)) + ζ·(log Z)² )
//! dl   = w·( (1 + 2ζ log Z)·p − (1−ε)·e_t − ε/V )
//! ```
//!
//! Logits, probabilities and their gradient share one buffer of [`ROWS`] × V numbers; the gradients
//! of y and E follow at once, so nothing of that size is kept.

use rayon::prelude::*;

use crate::matrix::{Matrix, Onto, Product, run_all};
use crate::simd::{exponentiate, survey};
use crate::slot::Slot;

/// Rows of logits that exist at a time.
pub const ROWS: usize = 256;

/// The loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossEntropy {
    /// Multiplies the logits.
    pub scale: f32,
    /// ε: the mass spread over all classes.
    pub smoothing: f32,
    /// ζ: pulls log Z towards 0.
    pub z_loss: f32,
}

/// What is to be predicted.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// The class of each row.
    pub classes: &'a [u32],
    /// The weight of each row; all 1 if empty.
    pub weights: &'a [f32],
}

impl Targets<'_> {
    fn weight(&self, row: usize) -> f32 {
        self.weights.get(row).copied().unwrap_or(1.0)
    }
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The loss.
    pub loss: f64,
    /// Its part that is the plain cross-entropy, in nats.
    pub entropy: f64,
    /// The sum of the weights.
    pub weight: f64,
    /// The number of rows, counted with 1 if their weight is not 0, whose likeliest class is right.
    pub right: usize,
    /// The number of rows whose weight is not 0.
    pub counted: usize,
    /// The likeliest class of each row.
    pub best: Vec<u32>,
}

/// The loss of one row; its logits become their gradient.
struct RowOutcome {
    loss: f64,
    entropy: f64,
    best: u32,
}

impl CrossEntropy {
    /// The loss without gradients.
    pub fn evaluate(
        &self,
        y: &[f32],
        table: &[f32],
        width: usize,
        targets: Targets<'_>,
    ) -> Outcome {
        self.run(y, table, width, targets, None)
    }

    /// The loss, the gradient of y, and that of the table in its slot.
    pub fn differentiate(
        &self,
        y: &[f32],
        table: &[f32],
        width: usize,
        targets: Targets<'_>,
        dtable: Slot<'_>,
    ) -> (Outcome, Vec<f32>) {
        let mut dy = vec![0.0; y.len()];
        let outcome = self.run(y, table, width, targets, Some((&mut dy, dtable)));
        (outcome, dy)
    }

    /// # Panics
    /// If the sizes do not fit or a class is outside of the table.
    fn run(
        &self,
        y: &[f32],
        table: &[f32],
        width: usize,
        targets: Targets<'_>,
        mut gradients: Option<(&mut [f32], Slot<'_>)>,
    ) -> Outcome {
        let classes = table.len() / width;
        assert_eq!(y.len(), targets.classes.len() * width, "a target for every row");
        let table = Matrix::new(table, classes, width);
        let mut outcome = Outcome::default();
        let mut logits = vec![0.0; ROWS.min(targets.classes.len()) * classes];
        for first in (0..targets.classes.len()).step_by(ROWS) {
            let rows = ROWS.min(targets.classes.len() - first);
            let logits = &mut logits[..rows * classes];
            let piece = &y[first * width..(first + rows) * width];
            let y = Matrix::new(piece, rows, width);
            Product::new(y, table.transposed(), logits).scaled(self.scale).run();
            let want = gradients.is_some();
            let results: Vec<RowOutcome> = logits
                .par_chunks_exact_mut(classes)
                .enumerate()
                .map(|(row, logits)| {
                    let at = first + row;
                    self.row(logits, targets.classes[at], targets.weight(at), want)
                })
                .collect();
            for (row, result) in results.into_iter().enumerate() {
                let weight = targets.weight(first + row);
                outcome.loss += result.loss;
                outcome.entropy += result.entropy;
                outcome.weight += f64::from(weight);
                if weight != 0.0 {
                    outcome.counted += 1;
                    outcome.right += usize::from(result.best == targets.classes[first + row]);
                }
                outcome.best.push(result.best);
            }
            if let Some((dy, slot)) = &mut gradients {
                let dlogits = Matrix::new(logits, rows, classes);
                let dy = &mut dy[first * width..(first + rows) * width];
                run_all(vec![
                    Product::new(dlogits, table, dy).scaled(self.scale),
                    Product::new(dlogits.transposed(), y, slot.data)
                        .scaled(self.scale)
                        .onto(slot.onto),
                ]);
                slot.onto = Onto::Add;
            }
        }
        if let Some((_, slot)) = &mut gradients {
            slot.sum(); // without rows the gradient is 0
        }
        outcome
    }

    fn row(&self, logits: &mut [f32], class: u32, weight: f32, gradient: bool) -> RowOutcome {
        let (most, best, total) = survey(logits);
        let target = logits[class as usize];
        let mean = f64::from(total) / logits.len() as f64;
        let sum = exponentiate(logits, most);
        let log_z = f64::from(most) + f64::from(sum).ln();
        let (w, e, z) = (f64::from(weight), f64::from(self.smoothing), f64::from(self.z_loss));
        let entropy = log_z - f64::from(target);
        let loss = (1.0 - e) * entropy + e * (log_z - mean) + z * log_z * log_z;
        if gradient {
            let factor = (w * (1.0 + 2.0 * z * log_z) / f64::from(sum)) as f32;
            let spread = (w * e) as f32 / logits.len() as f32;
            scale_and_shift(logits, factor, spread);
            logits[class as usize] -= (w * (1.0 - e)) as f32;
        }
        RowOutcome { loss: w * loss, entropy: w * entropy, best: best as u32 }
    }
}

crate::simd::vectorised! {
    fn scale_and_shift(x: &mut [f32], factor: f32, shift: f32) {
        for x in x {
            *x = *x * factor - shift;
        }
    }
}
