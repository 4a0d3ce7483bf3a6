//! The paper's bounds as calculators, each with its assumptions checked one by one.

mod generalisation;
mod loss;
mod modes;

pub use generalisation::{FamilyBox, Generalisation, IsingBox};
pub use loss::PopulationLoss;
pub use modes::{Assumption, ModeFast, ModeRatios, ModeSlow, Separation, Strength};
