//! PaDIR: parallel decoding by iterative refinement of whole sentences.
//!
//! ```text
//! candidate lengths → start from random tokens → predict every position at once, again and again → best length
//! ```
//!
//! [`refine`] takes sentences with their predicted lengths and a [`Denoiser`](padir_base::denoise::Denoiser), and
//! returns the n-best list of each. All hypotheses of all sentences are refined together; those that are finished or
//! given up are not computed again. [`Settings`] are the paper's by default; its exact procedure, traps included,
//! is [`Settings::exactly_as_in_the_paper`].
//!
//! ```
//! use padir_base::TokenId;
//! use padir_decode::padir::{Sentence, Settings, Symbols, refine};
//! # use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
//! # struct Counting;
//! # impl Denoiser for Counting {
//! #     type Error = std::convert::Infallible;
//! #     fn vocabulary_size(&self) -> usize { 100 }
//! #     fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error> {
//! #         for row in (0..query.rows()).map(|r| query.row(r)) {
//! #             let n = row.tokens.len();
//! #             for i in 0..n {
//! #                 let token = if i + 1 == n { TokenId::EOS } else { TokenId(10 + i as u32) };
//! #                 answers.at_mut(row.start + i).unwrap()[0] = Candidate { token, log_prob: -0.1 };
//! #             }
//! #         }
//! #         Ok(())
//! #     }
//! # }
//! # let mut denoiser = Counting;
//! let sentences = [Sentence { number: 0, context: 0, lengths: vec![(4, -0.2), (5, -1.9)] }];
//! let symbols = Symbols::new(3..100, None);
//! let lists = refine(&mut denoiser, &Settings::default(), &symbols, &sentences, &mut ())?;
//! assert_eq!(lists[0][0].tokens, [TokenId(10), TokenId(11), TokenId(12)]);
//! assert_eq!(lists[0][0].steps, 2); // the second changes nothing
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod prune;
mod remask;
mod run;
mod settings;
mod start;
mod state;
mod template;

pub use run::{refine, refine_by, refine_each, refine_from};
pub use settings::{
    Counted, Initial, Procedure, Prune, RemaskRule, Replacement, Settings, StopRule, Wanted,
};
pub use start::{Sentence, Symbols, initial_tokens};
pub(crate) use start::{Start, plan};
pub use template::Template;
