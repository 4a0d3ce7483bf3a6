//! Networks in the laboratory: a masked Transformer beside the distribution it is about.
//!
//! | module | |
//! |---|---|
//! | [`sites`] | how a sequence model sees a state; the denoiser of states that a denoiser of sentences is |
//! | [`train`] | a small network learns from samples, with the trainer's own objective and optimiser |
//! | [`study`] | what such networks get right, against the number of samples and the mask law |
//! | [`attention`] | what they look at |
//! | [`figures`] | pictures of a study |
//! | [`construct`], [`execute`] | a network whose weights are written down so that it runs a given chain, and the engine that runs it |

pub mod attention;
pub mod construct;
pub mod execute;
pub mod figures;
pub mod sites;
pub mod study;
pub mod train;

pub use construct::{Constructed, ProductChain};
pub use execute::{ExecuteError, Executed};
pub use sites::Sites;
pub use study::{Outcome, Study};
pub use train::{LearnError, Objective, Settings, Trained};
