//! Corpora as token ids, some thousand pairs at a time.
//!
//! A portion is read, encoded on all cores, and used in its order, so that nothing depends on the number of threads. Memory: one
//! portion, which is used again.

use padir_base::TokenId;
use rayon::prelude::*;

use crate::corpus::Pairs;
use crate::pair::{CorpusError, Pair};
use crate::vocab::Vocabulary;

/// A portion ends with so many pairs or bytes of text.
const PAIRS: usize = 8192;
const BYTES: usize = 8 << 20;

/// Some pairs of text and their tokens.
#[derive(Debug, Default)]
pub struct Portion {
    slots: Vec<Slot>,
    filled: usize,
}

#[derive(Debug, Default)]
struct Slot {
    text: Pair,
    source: Vec<TokenId>,
    target: Vec<TokenId>,
}

impl Portion {
    /// Reads the next pairs; false if there are none.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read(&mut self, pairs: &mut Pairs) -> Result<bool, CorpusError> {
        let mut bytes = 0;
        self.filled = 0;
        while self.filled < PAIRS && bytes < BYTES {
            if self.filled == self.slots.len() {
                self.slots.push(Slot::default());
            }
            let text = &mut self.slots[self.filled].text;
            if !pairs.read(text)? {
                break;
            }
            bytes += text.source.len() + text.target.len();
            self.filled += 1;
        }
        Ok(self.filled > 0)
    }

    /// The pairs that were read.
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.slots[..self.filled].iter().map(|slot| &slot.text)
    }

    /// Encodes them, without ends of sentences: sources and targets in their order.
    pub fn encode(
        &mut self,
        vocabulary: &Vocabulary,
    ) -> impl Iterator<Item = (&[TokenId], &[TokenId])> {
        let slots = &mut self.slots[..self.filled];
        slots.par_iter_mut().with_min_len(64).for_each_init(
            || vocabulary.encoder(),
            |encoder, slot| {
                encoder.encode_into(&slot.text.source, &mut slot.source);
                encoder.encode_into(&slot.text.target, &mut slot.target);
            },
        );
        slots.iter().map(|slot| (&slot.source[..], &slot.target[..]))
    }
}
