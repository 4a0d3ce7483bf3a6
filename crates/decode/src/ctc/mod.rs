//! Latent alignments (CTC): all slots at once, no length to predict.
//!
//! ```text
//! slots: a multiple of the source → one pass → a token or BLANK for each → merge repeats, drop blanks
//! ```
//!
//! [`decode`] takes sentences with their numbers of slots and a [`Denoiser`](padir_base::denoise::Denoiser) over the vocabulary, BLANK
//! included. A first pass sees hidden slots only; further [passes](Ctc::steps) read the alignment of the pass before and may change it:
//! tokens can be inserted and deleted, since only the slots are fixed. The result is the best path, or the n-best list of a
//! [prefix beam search](Ctc::num_beams), which a reranker can order.
//!
//! ```
//! use padir_base::TokenId;
//! use padir_decode::ctc::{Ctc, Sentence, Symbols, decode};
//! # use padir_base::denoise::{Answers, Candidate, Denoiser, Query};
//! # struct Spelling;
//! # impl Denoiser for Spelling {
//! #     type Error = std::convert::Infallible;
//! #     fn vocabulary_size(&self) -> usize { 100 }
//! #     fn denoise(&mut self, query: &Query<'_>, answers: &mut Answers) -> Result<(), Self::Error> {
//! #         for (slot, id) in [99, 11, 11, 99, 12, 99].into_iter().enumerate() {
//! #             answers.at_mut(slot).unwrap()[0] = Candidate { token: TokenId(id), log_prob: -0.1 };
//! #         }
//! #         Ok(())
//! #     }
//! # }
//! # let mut denoiser = Spelling;
//! let symbols = Symbols::new(TokenId(99), TokenId(98));
//! let sentences = [Sentence { context: 0, slots: 6 }];
//! let lists = decode(&mut denoiser, &Ctc::default(), &symbols, &sentences, &mut ())?;
//! assert_eq!(lists[0][0].tokens, [TokenId(11), TokenId(12)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod collapse;
mod prefix;
mod run;
mod settings;

use padir_base::TokenId;

pub use run::{decode, decode_each};
pub use settings::Ctc;

/// A sentence to translate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// What the denoiser knows it by.
    pub context: usize,
    /// Its slots.
    pub slots: usize,
}

/// What the ids of a model mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbols {
    /// Stands for nothing.
    pub blank: TokenId,
    /// Stands for an unknown token in the input.
    pub mask: TokenId,
    /// Other tokens that are not part of a target. They count as blanks.
    pub silent: Vec<TokenId>,
}

impl Symbols {
    /// The symbols of a model whose padding and ends are silent.
    pub fn new(blank: TokenId, mask: TokenId) -> Self {
        Self { blank, mask, silent: vec![TokenId::PAD, TokenId::EOS] }
    }

    /// Whether a token stands for nothing in a target.
    fn is_silent(&self, token: TokenId) -> bool {
        token == self.blank || token == self.mask || self.silent.contains(&token)
    }
}
