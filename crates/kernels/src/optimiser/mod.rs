//! Optimiser updates on plain slices: Adafactor, AdamW, and averages of parameters.
//!
//! An [`Optimiser`] is the choice and its constants; a [`State`] is what it remembers of one
//! parameter between steps; [`Optimiser::step`] moves the parameter. A parameter is a matrix of
//! rows × columns in row-major order; a vector is a matrix of one row.
//!
//! *Cost.* AdamW and the averages touch every number once. Adafactor cannot: its factors need the
//! whole gradient, and its clipping needs the factors. It reads a factored gradient three times
//! and the parameter twice, an unfactored one twice each, and remembers rows + columns numbers.
//!
//! *Reproducibility.* Work is cut into chunks whose size depends on the shape alone, and partial
//! sums are added in the order of the chunks: results do not depend on the number of threads.
//! Sums run in single precision over at most 1024 numbers, in double beyond.

mod adafactor;
mod adamw;
mod average;
mod state;
mod sum;

pub use adafactor::Adafactor;
pub use adamw::AdamW;
pub use average::{move_average, running_average};
pub use state::{Shape, State, StateTensor};
pub use sum::squared_norm;

/// Which optimiser, with its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimiser {
    /// Shazeer and Stern 2018: second moments as an outer product, steps relative to the
    /// parameter's size.
    Adafactor(Adafactor),
    /// Loshchilov and Hutter 2019: Adam with decoupled weight decay.
    AdamW(AdamW),
}

/// How far one step goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The number of this step, counted from 1.
    pub step: u64,
    /// The learning rate.
    pub rate: f32,
    /// What the gradient is multiplied with before use: 1 / tokens, clipping to a global norm.
    pub scale: f32,
}

impl Optimiser {
    /// What is remembered of a parameter of this shape before its first step.
    pub fn begin(&self, shape: Shape) -> State {
        match self {
            Self::Adafactor(adafactor) => adafactor.begin(shape),
            Self::AdamW(_) => AdamW::begin(shape),
        }
    }

    /// Moves a parameter against its gradient.
    ///
    /// # Panics
    /// If the slices do not have the shape the state was made for, the state was made by the
    /// other optimiser, or the step is 0.
    pub fn step(&self, state: &mut State, parameter: &mut [f32], gradient: &[f32], pace: Pace) {
        assert_eq!(parameter.len(), state.shape().len(), "the parameter has another shape");
        assert_eq!(gradient.len(), state.shape().len(), "the gradient has another shape");
        assert!(pace.step > 0, "steps are counted from 1");
        match self {
            Self::Adafactor(adafactor) => adafactor.step(state, parameter, gradient, pace),
            Self::AdamW(adamw) => adamw.step(state, parameter, gradient, pace),
        }
    }
}

#[cfg(test)]
mod golden;
#[cfg(test)]
mod tests;
