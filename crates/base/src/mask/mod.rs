//! Mask laws: probability distributions over sets of hidden positions.
//!
//! A [`MaskLaw`] is p(K | X), a law over subsets K of the positions of a sequence X. It can be
//! sampled, enumerated with probabilities where that is finite, and asked for its expected size.
//! What it may look at is the [`Scene`]: the tokens, their confidences and the step of a
//! schedule. Positions that must never be hidden (an end-of-sentence mark) are simply not part
//! of the scene that is shown to the law.
//!
//! ```
//! use padir_base::mask::{MaskLaw, Scene};
//! use padir_base::random::{Purpose, Seed};
//! let law = MaskLaw::Exactly { k: 2 };
//! let scene = Scene::of_length(4);
//! assert_eq!(law.enumerate(&scene)?.count(), 6);
//! let mask = law.sample(&scene, &mut Seed(1).stream(Purpose::Block, 0))?;
//! assert_eq!(mask.count(), 2);
//! # Ok::<(), padir_base::mask::LawError>(())
//! ```

mod enumerate;
mod law;
mod scene;
mod set;

pub use enumerate::Enumeration;
pub use law::{Block, Case, LawError, MaskLaw};
pub use scene::Scene;
pub use set::Mask;
