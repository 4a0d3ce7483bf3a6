//! New sentences in the augmentation of given ones: more sources for a teacher to translate.
//!
//! Words are sampled one after the other. Each is one that followed, in the given sentences, the longest context
//!
//! ```text
//! w₋ₘ … w₋₁,   m ≤ order − 1,
//! ```
//!
//! that occurs there at least `least` times, the beginning of a sentence being a word of its own: a Markov chain whose order gives way
//! where it would only repeat what it has read. A word is drawn as often as it followed.
//!
//! All positions of the text are sorted by what stands before them, read backwards, so that the occurrences of a context lie together and
//! those of a longer one lie among them: O(n log n) to read n words, 8 bytes for each, and O(m log n) to draw one.

use std::cmp::Ordering;
use std::collections::HashMap;

use padir_base::random::Stream;
use rayon::prelude::*;
use thiserror::Error;

use crate::distinct::Draw;

/// Where a sentence begins and ends.
const BOUNDARY: u32 = 0;

/// How closely what is given is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Augmentation {
    /// Words that are looked at together, the drawn one included; at least 2.
    pub order: usize,
    /// Occurrences that a context of more than one word must have.
    pub least: usize,
    /// Most words of a sentence; longer ones are given up.
    pub longest: usize,
}

/// More text than places can be counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the text has more than 4294967295 words and sentences")]
pub struct TooMuch;

/// Sentences to be read.
#[derive(Debug)]
pub struct Reader {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    /// Boundary, sentence, boundary, sentence, …, boundary.
    text: Vec<u32>,
}

/// What has been read, ready to be drawn from.
#[derive(Debug)]
pub struct NgramSource {
    augmentation: Augmentation,
    names: Vec<String>,
    text: Vec<u32>,
    /// Places of `text`, sorted by what stands before them.
    places: Vec<u32>,
}

impl Default for Reader {
    fn default() -> Self {
        Self { names: vec![String::new()], numbers: HashMap::new(), text: vec![BOUNDARY] }
    }
}

impl Reader {
    /// Reads a sentence.
    ///
    /// # Errors
    /// If that is more than can be read.
    pub fn read(&mut self, sentence: &str) -> Result<(), TooMuch> {
        let before = self.text.len();
        for word in sentence.split_whitespace() {
            let number = if let Some(&number) = self.numbers.get(word) {
                number
            } else {
                let number = self.names.len() as u32;
                self.names.push(word.to_owned());
                self.numbers.insert(word.to_owned(), number);
                number
            };
            self.text.push(number);
        }
        if self.text.len() > before {
            self.text.push(BOUNDARY);
        }
        u32::try_from(self.text.len()).map(drop).map_err(|_| TooMuch)
    }

    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.text.len() == 1
    }

    /// Puts everything in order; none if nothing was read.
    pub fn finish(self, augmentation: Augmentation) -> Option<NgramSource> {
        if self.is_empty() {
            return None;
        }
        let Self { names, text, .. } = self;
        let mut places: Vec<u32> = (1..text.len() as u32).collect();
        let most = augmentation.order.saturating_sub(1);
        places.par_sort_unstable_by(|&a, &b| {
            by_context(&text[..a as usize], &text[..b as usize], most).then(a.cmp(&b))
        });
        Some(NgramSource { augmentation, names, text, places })
    }
}

/// Compares what stands before two places, from the last word backwards to the beginning of the sentence.
fn by_context(a: &[u32], b: &[u32], most: usize) -> Ordering {
    for (x, y) in a.iter().rev().zip(b.iter().rev()).take(most) {
        let order = x.cmp(y);
        if order != Ordering::Equal || *x == BOUNDARY {
            return order;
        }
    }
    Ordering::Equal
}

impl NgramSource {
    /// The places that may follow what was said; never empty, because every word that was said stands somewhere.
    fn places_after(&self, said: &[u32]) -> &[u32] {
        let mut places = self.places.as_slice();
        for depth in 1..self.augmentation.order.min(said.len() + 1) {
            let word = said[said.len() - depth];
            let before = |place: &u32| self.text[*place as usize - depth];
            let start = places.partition_point(|place| before(place) < word);
            let end = places.partition_point(|place| before(place) <= word);
            if depth > 1 && end - start < self.augmentation.least.max(1) {
                break;
            }
            places = &places[start..end];
            if word == BOUNDARY {
                break;
            }
        }
        places
    }
}

impl Draw for NgramSource {
    type Item = String;

    /// A sentence; none if it became too long.
    fn draw(&self, stream: &mut Stream) -> Option<String> {
        let mut said = vec![BOUNDARY];
        let mut sentence = String::new();
        loop {
            let &place = stream.choose(self.places_after(&said))?;
            let word = self.text[place as usize];
            if word == BOUNDARY {
                return Some(sentence);
            }
            if said.len() > self.augmentation.longest {
                return None;
            }
            if !sentence.is_empty() {
                sentence.push(' ');
            }
            sentence.push_str(&self.names[word as usize]);
            said.push(word);
        }
    }

    fn text(sentence: &String) -> &str {
        sentence
    }
}

#[cfg(test)]
mod tests;
