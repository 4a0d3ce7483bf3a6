//! Predicting the lengths of targets.
//!
//! | predictor | what is kept of a source | lengths |
//! |---|---|---|
//! | token | logits s·Lᵀ of the LENGTH token's state s | c + 1 for the likeliest classes c |
//! | offset | the same | n + c − C/2 for the likeliest of C classes |
//! | pooled | logits of a small network over pools of all states | as token or offset |
//! | affine | a·n + b for n source tokens | whole numbers by their distance from it |
//! | fertility | n + Σⱼ E\[offset of token j\] | the same |
//! | upsample | the number of slots | that one, with certainty |

use padir_checkpoint::{LengthPredictor, candidates_around};
use padir_kernels::packed::{Finish, grow};

use crate::engine::Inner;
use crate::layers::Work;
use crate::length_pool::PoolWork;

/// What the sources say about the lengths of their targets.
#[derive(Debug, Default)]
pub(crate) struct Lengths {
    /// Of each source one row of logits, or one number.
    numbers: Vec<f32>,
    /// Logits of each source; 0 if there is one number instead.
    classes: usize,
    sources: usize,
    /// What classes mean, and for which numbers of source tokens.
    predictor: Option<LengthPredictor>,
    tokens: Vec<usize>,
    pool: PoolWork,
    /// Of each source, if there are slots instead of lengths.
    slots: Vec<usize>,
}

impl Lengths {
    /// Forgets all sources.
    pub(crate) fn clear(&mut self) {
        self.sources = 0;
        self.slots.clear();
    }

    /// From the states of LENGTH tokens, one per source.
    pub(crate) fn read_tokens(
        &mut self,
        engine: &Inner,
        work: &mut Work,
        states: &[f32],
        lengths: &[usize],
    ) {
        let Some(table) = &engine.weights.length else { return };
        self.remember(engine, lengths);
        self.sources = states.len() / table.inputs();
        self.classes = table.outputs();
        let logits = grow(&mut self.numbers, self.sources * self.classes);
        let columns = 0..self.classes;
        table.product(&mut work.tools, states, columns, logits, self.classes, Finish::Store);
    }

    /// What classes mean for sources of some lengths.
    fn remember(&mut self, engine: &Inner, lengths: &[usize]) {
        self.predictor = engine.config.parallel().map(|parallel| parallel.length);
        self.tokens.clear();
        self.tokens.extend_from_slice(lengths);
    }

    /// From the states of all source tokens.
    pub(crate) fn read_sources(
        &mut self,
        engine: &Inner,
        work: &mut Work,
        states: &[f32],
        lengths: &[usize],
    ) {
        (self.classes, self.sources) = (0, 0);
        if let Some(pool) = &engine.weights.length_pool {
            self.remember(engine, lengths);
            (self.classes, self.sources) = (pool.classes(), lengths.len());
            let logits = grow(&mut self.numbers, self.sources * self.classes);
            pool.logits(&mut work.tools, &mut self.pool, states, lengths, logits);
            return;
        }
        if let Some(parallel) = engine.config.parallel() {
            self.slots.extend(lengths.iter().filter_map(|&length| parallel.slots(length)));
        }
        let (Some(parallel), Some(table)) = (engine.config.parallel(), &engine.weights.length)
        else {
            return;
        };
        self.sources = lengths.len();
        let numbers = grow(&mut self.numbers, lengths.len());
        if let LengthPredictor::Fertility { max_fertility } = parallel.length {
            let classes = table.outputs();
            let rows = states.len() / table.inputs();
            let logits = grow(&mut work.qkv, rows * classes);
            table.product(&mut work.tools, states, 0..classes, logits, classes, Finish::Store);
            let mut offsets = logits.chunks_exact(classes).map(|z| mean_offset(z, max_fertility));
            for (number, &length) in numbers.iter_mut().zip(lengths) {
                let sum: f32 = offsets.by_ref().take(length).sum();
                *number = length as f32 + sum;
            }
        } else {
            let mut factor = [0.0];
            table.copy_row(0, &mut factor);
            for (number, &length) in numbers.iter_mut().zip(lengths) {
                *number = length as f32 * factor[0] + engine.weights.length_bias;
            }
        }
    }

    /// The likeliest lengths of a source with their log-probabilities, the best first.
    pub(crate) fn best(&self, source: usize, most: usize) -> Vec<(usize, f64)> {
        if let Some(&slots) = self.slots.get(source) {
            return vec![(slots, 0.0); most.min(1)];
        }
        if source >= self.sources {
            return Vec::new();
        }
        if let (Some(predictor), true) = (self.predictor, self.classes > 0) {
            let logits = &self.numbers[source * self.classes..][..self.classes];
            predictor.candidates(logits, self.tokens[source], most)
        } else {
            candidates_around(f64::from(self.numbers[source]), most)
        }
    }
}

/// E\[offset\] under the softmax of logits: class c stands for c − m − 1.
fn mean_offset(logits: &[f32], max_fertility: usize) -> f32 {
    let top = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let least = -(max_fertility as f32) - 1.0;
    let (mut total, mut sum) = (0.0, 0.0);
    for (class, logit) in logits.iter().enumerate() {
        let weight = (logit - top).exp();
        total += weight;
        sum += weight * (least + class as f32);
    }
    sum / total
}
