//! Which parts of the work are ours: `--shard 2/4`.
//!
//! Parts are dealt out like cards, so that a corpus that is sorted by length or by origin is as much work for every shard.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// One of several workers; both numbers count from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    index: usize,
    of: usize,
}

/// Not a share.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ShareError {
    /// It is not two numbers.
    #[error("a shard is written like 2/4")]
    Form,
    /// There is no such one.
    #[error("there is no shard {index} of {of}; they count from 1")]
    Outside {
        /// Which one is asked for.
        index: usize,
        /// Of how many.
        of: usize,
    },
}

impl Share {
    /// All of the work.
    pub const WHOLE: Self = Self { index: 1, of: 1 };

    /// Whether a part, counted from 0, is ours.
    pub(super) fn takes(self, part: usize) -> bool {
        part % self.of == self.index - 1
    }
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let (index, of) = text.split_once('/').ok_or(ShareError::Form)?;
        let number = |text: &str| text.trim().parse().map_err(|_| ShareError::Form);
        let (index, of) = (number(index)?, number(of)?);
        if index == 0 || index > of {
            return Err(ShareError::Outside { index, of });
        }
        Ok(Self { index, of })
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_belongs_to_one_shard() {
        for of in 1..5 {
            let shards: Vec<Share> =
                (1..=of).map(|i| format!("{i}/{of}").parse().unwrap()).collect();
            for part in 0..20 {
                let takers = shards.iter().filter(|share| share.takes(part)).count();
                assert_eq!(takers, 1, "part {part} of {of} shards");
            }
        }
    }

    #[test]
    fn what_is_no_shard_is_said() {
        let cases = [
            ("0/3", ShareError::Outside { index: 0, of: 3 }),
            ("4/3", ShareError::Outside { index: 4, of: 3 }),
            ("0/0", ShareError::Outside { index: 0, of: 0 }),
            ("2", ShareError::Form),
            ("-1/2", ShareError::Form),
            ("a/b", ShareError::Form),
            ("1/2/3", ShareError::Form),
        ];
        for (text, expected) in cases {
            assert_eq!(text.parse::<Share>(), Err(expected), "{text}");
        }
    }
}
