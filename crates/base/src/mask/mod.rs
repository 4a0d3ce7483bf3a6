//! Mask laws: probability distributions over sets of hidden positions.
//!
//! A [`MaskLaw`] is p(K | X), a law over subsets K of the positions of a sequence X. It can be
//! sampled, enumerated with probabilities where that is finite, and asked for its expected size.
//! What it may look at is the [`MaskContext`]: the tokens, their confidences and the step of a
//! schedule. Positions that must never be hidden (an end-of-sentence mark) are simply not part
//! of the context that is shown to the law.
//!
//! ```
//! use padir_base::mask::{MaskLaw, MaskContext};
//! use padir_base::random::{Purpose, Seed};
//! let law = MaskLaw::Exactly { k: 2 };
//! let context = MaskContext::of_length(4);
//! assert_eq!(law.enumerate(&context)?.count(), 6);
//! let mask = law.sample(&context, &mut Seed(1).stream(Purpose::Block, 0))?;
//! assert_eq!(mask.count(), 2);
//! # Ok::<(), padir_base::mask::LawError>(())
//! ```

mod context;
mod enumerate;
mod law;
mod set;

pub use context::MaskContext;
pub use enumerate::Enumeration;
pub use law::{Block, Case, LawError, MaskLaw};
pub use set::Mask;
