//! Sampling and refinement, written against mask laws and denoisers only.
//!
//! [`Gibbs`] resamples blocks jointly by unmasking them one position after the other;
//! [`Refiner`] predicts all chosen positions at once, by arg-max or by chance. *Independent
//! parallel* is the refiner that looks at the whole sequence, chooses every position and samples.
//! Both are iterators of [`Step`]s: decoding yields data, and whoever wants to show or stop it
//! consumes the iterator.
//!
//! Translators decode whole sentences: [`padir`] refines them in parallel, [`autoregression`] decodes
//! token by token. Both return [`Hypothesis`] lists, best first, and tell an [`Observer`] what
//! every step does.
//!
//! Chance itself is a parameter ([`Chance`]): [`Streams`] for real runs, and [`exact_law`], which
//! runs the very same code through every possible outcome and returns its exact law. So a claim
//! like "this sampler leaves p invariant" is tested on the sampler, not on a formula beside it.
//!
//! ```
//! use padir_base::TokenId;
//! use padir_base::mask::MaskLaw;
//! use padir_base::random::Seed;
//! use padir_decode::{Batch, Gibbs, Streams};
//! # use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
//! # struct Fair;
//! # impl Denoiser for Fair {
//! #     type Error = std::convert::Infallible;
//! #     fn vocabulary_size(&self) -> usize { 2 }
//! #     fn denoise(&mut self, _: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error> {
//! #         for (i, c) in answers.candidates_mut().iter_mut().enumerate() {
//! #             *c = Candidate { token: TokenId(i as u32 % 2), log_prob: 0.5_f64.ln() };
//! #         }
//! #         Ok(())
//! #     }
//! # }
//! # let mut denoiser = Fair;
//! let start = Batch::new([(0, vec![TokenId(0); 6])]);
//! let law = MaskLaw::Exactly { k: 2 };
//! let chance = Streams::new(Seed(7), start.rows());
//! let last = Gibbs::new(&mut denoiser, &law, start, chance).take(10).last();
//! assert_eq!(last.unwrap()?.hidden[0].count(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod autoregression;
mod batch;
mod chain;
mod chance;
pub mod ctc;
pub mod decoding;
mod easy_first;
mod event;
mod exact;
mod gibbs;
mod hypothesis;
mod mask_predict;
pub mod padir;
mod refine;
mod sampling;
mod settings;
mod step;
mod sundae;

pub use batch::Batch;
pub use chain::{GibbsChain, VisitOrder, gibbs_by, gibbs_each};
pub use chance::{Chance, ChanceError, Streams};
pub use decoding::{Abilities, Decoding, Method, Order};
pub use easy_first::{EasyFirst, easy_first_each};
pub use event::{Each, Event, Observer, Status};
pub use exact::{ExactLaw, Replay, exact_law};
pub use gibbs::Gibbs;
pub use hypothesis::{Hypothesis, LengthCandidate, distinct, normalise, sort};
pub use mask_predict::{MaskPredict, Repredict};
pub use refine::{Input, Pick, Refinement, Refiner};
pub use sampling::{COLD, Sampling};
pub use settings::{MAX_HYPOTHESES, MAX_LENGTH, MAX_STEPS, SettingsError};
pub use step::{DecodeError, Step};
pub use sundae::{Sundae, SundaeMode};
