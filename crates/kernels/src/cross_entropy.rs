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
//! of y and E follow at once, so nothing of that size is kept. Whoever wants to go on with draws from softmax(l/τ) instead of the
//! likeliest classes must ask for them here, where the logits are.

use rayon::prelude::*;

use crate::draw::Draw;
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
    /// Whether a class is drawn for each row, and how. The loss does not depend on it.
    pub draw: Option<Draw>,
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
    /// The class drawn for each row, if that was asked for.
    pub samples: Vec<u32>,
}

/// The loss of one row; its logits become their gradient.
struct RowOutcome {
    loss: f64,
    entropy: f64,
    best: u32,
    sample: Option<u32>,
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
                    self.row(at, logits, targets.classes[at], targets.weight(at), want)
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
                outcome.samples.extend(result.sample);
            }
            if let Some((dy, slot)) = &mut gradients {
                let dlogits = Matrix::new(logits, rows, classes);
                let dy = &mut dy[first * width..(first + rows) * width];
                spread(dlogits, y, table, self.scale, dy, slot);
            }
        }
        if let Some((_, slot)) = &mut gradients {
            slot.sum(); // without rows the gradient is 0
        }
        outcome
    }

    fn row(
        &self,
        row: usize,
        logits: &mut [f32],
        class: u32,
        weight: f32,
        gradient: bool,
    ) -> RowOutcome {
        let (most, best, total) = survey(logits);
        let sample = self.draw.map(|draw| draw.class_below(row, logits, most));
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
        RowOutcome { loss: w * loss, entropy: w * entropy, best: best as u32, sample }
    }
}

crate::simd::vectorised! {
    pub(crate) fn scale_and_shift(x: &mut [f32], factor: f32, shift: f32) {
        for x in x {
            *x = *x * factor - shift;
        }
    }
}

/// From the gradient of some logits, scale · y·tableᵀ, those of y and of the table, which is added up in its slot.
pub(crate) fn spread(
    dlogits: Matrix<'_>,
    y: Matrix<'_>,
    table: Matrix<'_>,
    scale: f32,
    dy: &mut [f32],
    slot: &mut Slot<'_>,
) {
    run_all(vec![
        Product::new(dlogits, table, dy).scaled(scale),
        Product::new(dlogits.transposed(), y, slot.data).scaled(scale).onto(slot.onto),
    ]);
    slot.onto = Onto::Add;
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOSS: CrossEntropy =
        CrossEntropy { scale: 0.5, smoothing: 0.1, z_loss: 0.01, draw: None };
    const WIDTH: usize = 3;
    const CLASSES: usize = 11;

    fn numbers(count: usize) -> Vec<f32> {
        (0..count).map(|i| 3.0 * (i as f32 * 1.7).sin()).collect()
    }

    /// More rows than there are logits at a time, in three states.
    fn rows() -> (Vec<f32>, Vec<u32>) {
        let count = 90 * ROWS + 7;
        let states = numbers(3 * WIDTH);
        let y = (0..count).flat_map(|row| states[row % 3 * WIDTH..][..WIDTH].to_vec()).collect();
        (y, (0..count).map(|row| (row % CLASSES) as u32).collect())
    }

    fn evaluate(loss: CrossEntropy, threads: usize) -> Outcome {
        let ((y, classes), table) = (rows(), numbers(CLASSES * WIDTH));
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let targets = Targets { classes: &classes, weights: &[] };
        pool.install(|| loss.evaluate(&y, &table, WIDTH, targets))
    }

    /// Each state has a law of its own, and all rows of the batch together draw from it.
    #[test]
    fn samples_follow_the_softmax_of_their_row() {
        let (y, table) = (rows().0, numbers(CLASSES * WIDTH));
        for temperature in [0.7, 1.0, 2.0] {
            let draw = Some(Draw { temperature, key: [5, 6], site: 7 });
            let outcome = evaluate(CrossEntropy { draw, ..LOSS }, 2);
            for state in 0..3 {
                let logit = |class: usize| {
                    let pairs = y[state * WIDTH..][..WIDTH].iter().zip(&table[class * WIDTH..]);
                    let dot: f64 = pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                    dot * f64::from(LOSS.scale) / f64::from(temperature)
                };
                let weights: Vec<f64> = (0..CLASSES).map(|class| logit(class).exp()).collect();
                let total: f64 = weights.iter().sum();
                let drawn: Vec<u32> =
                    outcome.samples.iter().copied().skip(state).step_by(3).collect();
                let (mut chi2, mut bins) = (0.0, 0);
                for (class, weight) in weights.iter().enumerate() {
                    let expected = drawn.len() as f64 * weight / total;
                    let found = drawn.iter().filter(|&&d| d as usize == class).count() as f64;
                    // Of a class that hardly ever comes, χ² says nothing.
                    if expected >= 5.0 {
                        chi2 += (found - expected).powi(2) / expected;
                        bins += 1;
                    } else {
                        assert!(found < 25.0, "class {class}: {found} instead of {expected}");
                    }
                }
                let n = f64::from(bins);
                assert!(
                    chi2 < n + 5.0 * (2.0 * n).sqrt(),
                    "{temperature}, {state}: χ² = {chi2} of {n}"
                );
            }
        }
    }

    #[test]
    fn threads_draw_alike_and_the_loss_does_not_care() {
        let draw = Some(Draw { temperature: 1.0, key: [5, 6], site: 7 });
        let plain = evaluate(LOSS, 2);
        assert!(plain.samples.is_empty());
        let alone = evaluate(CrossEntropy { draw, ..LOSS }, 1);
        assert_eq!(alone, evaluate(CrossEntropy { draw, ..LOSS }, 3));
        assert_eq!(Outcome { samples: Vec::new(), ..alone }, plain);
    }

    /// Beside gradients the draws are the same, and the gradients are those without draws.
    #[test]
    fn learning_draws_the_same() {
        let ((y, classes), table) = (rows(), numbers(CLASSES * WIDTH));
        let targets = Targets { classes: &classes, weights: &[] };
        let draw = Some(Draw { temperature: 0.8, key: [5, 6], site: 7 });
        let learn = |loss: CrossEntropy| {
            let mut dtable = vec![0.0; table.len()];
            let slot = Slot::fresh(&mut dtable);
            let (outcome, dy) = loss.differentiate(&y, &table, WIDTH, targets, slot);
            (outcome, dy, dtable)
        };
        let (drawn, plain) = (learn(CrossEntropy { draw, ..LOSS }), learn(LOSS));
        assert_eq!(drawn.0, evaluate(CrossEntropy { draw, ..LOSS }, 2));
        assert_eq!((drawn.1, drawn.2), (plain.1, plain.2));
    }
}
