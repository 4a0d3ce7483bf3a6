//! What target positions attend to, and what that says about their dependence.
//!
//! The paper's last experiment: adjacent target positions that stutter (equal tokens) do not attend to *each other* more than other neighbours do,
//! but they look at the *same source positions*. [`Study`] repeats it for any model: it takes the sentences a translator has just decoded, asks the engine
//! for the attention weights of the pass that made them, and measures every pair of neighbours ([`measure`]). [`Report`] sums up, with confidence intervals
//! by bootstrap over sentences, permutation tests and AUCs ([`statistics`]).
//!
//! Cross-attention is also a word alignment: [`alignment`]. Pictures of both: [`figure`].

pub mod alignment;
pub mod figure;
pub mod measure;
mod report;
pub mod statistics;
mod study;
mod table;

pub use report::{
    Contrast, CrossTable, Difference, Flips, HeadReport, LayerReport, Moments, Report, SelfTable,
    Spreads, StepReport, Tables,
};
pub use study::{Condition, MEMORY, Pass, Study, StudyError};
