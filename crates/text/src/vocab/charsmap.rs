//! A compiled normalisation rule: which character sequences become which.
//!
//! SentencePiece stores it as `<size of trie: u32><trie: double array><strings: NUL-ended>`; the
//! trie maps a UTF-8 prefix to the place of its replacement among the strings. The longest
//! matching prefix is replaced.

use std::collections::BTreeMap;

use thiserror::Error;

use super::double_array::DoubleArray;

/// A normalisation rule that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CharsMapError {
    /// The blob ends too early.
    #[error("the normalisation rule has {found} bytes but announces a trie of {announced}")]
    Truncated {
        /// The bytes there are.
        found: usize,
        /// The bytes announced.
        announced: usize,
    },
    /// The replacement strings are not UTF-8.
    #[error("the replacements of the normalisation rule are not UTF-8")]
    Utf8,
}

/// A compiled normalisation rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CharsMap {
    trie: DoubleArray,
    strings: String,
    copied: FirstBytes,
}

impl CharsMap {
    /// Reads a compiled rule.
    ///
    /// # Errors
    /// If it is truncated or not UTF-8.
    pub fn parse(blob: &[u8]) -> Result<Self, CharsMapError> {
        let truncated = |announced| CharsMapError::Truncated { found: blob.len(), announced };
        let (size, rest) = blob.split_first_chunk().ok_or_else(|| truncated(4))?;
        let size = u32::from_le_bytes(*size) as usize;
        let (trie, strings) = rest.split_at_checked(size).ok_or_else(|| truncated(size))?;
        let (units, []) = trie.as_chunks() else { return Err(truncated(size)) };
        let units = units.iter().map(|&unit| u32::from_le_bytes(unit)).collect();
        let strings = str::from_utf8(strings).map_err(|_| CharsMapError::Utf8)?;
        Ok(Self::new(DoubleArray::from_units(units), strings.to_owned()))
    }

    /// Compiles a rule from its replacements. Keys must not be empty nor contain NUL.
    pub fn compile(rule: &BTreeMap<String, String>) -> Self {
        let mut strings = String::new();
        let mut places: BTreeMap<&str, u32> = rule.values().map(|v| (v.as_str(), 0)).collect();
        for (replacement, place) in &mut places {
            *place = strings.len() as u32;
            strings.push_str(replacement);
            strings.push('\0');
        }
        let keys: Vec<(&str, u32)> =
            rule.iter().map(|(key, value)| (key.as_str(), places[value.as_str()])).collect();
        Self::new(DoubleArray::build(&keys), strings)
    }

    fn new(trie: DoubleArray, strings: String) -> Self {
        let copied = FirstBytes::of(&trie);
        Self { trie, strings, copied }
    }

    /// The compiled form, as a `.model` file stores it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let units = self.trie.units();
        let mut blob = ((units.len() * 4) as u32).to_le_bytes().to_vec();
        blob.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        blob.extend_from_slice(self.strings.as_bytes());
        blob
    }

    /// The replacement of the longest matching prefix and that prefix's length.
    #[inline]
    pub fn replace_prefix(&self, text: &str) -> Option<(&str, usize)> {
        let (length, place) = self.trie.longest_prefix(text.as_bytes())?;
        let rest = self.strings.get(place as usize..)?;
        // A rule that stops inside a character cannot be applied to text.
        text.is_char_boundary(length)
            .then(|| (rest.split_once('\0').map_or(rest, |(replacement, _)| replacement), length))
    }

    /// Whether an ASCII byte followed by `next` (0 at the end) certainly stands for itself.
    #[inline]
    pub(super) fn keeps(&self, byte: u8, next: u8) -> bool {
        self.copied.keeps(byte, next)
    }
}

/// For each ASCII byte: does it stand for itself before this next byte? Most of most texts is
/// decided here, without a walk through the trie.
#[derive(Clone, Debug, PartialEq, Eq)]
struct FirstBytes(Box<[[u64; 4]; 128]>);

impl FirstBytes {
    fn of(trie: &DoubleArray) -> Self {
        let mut table = Box::new([[0_u64; 4]; 128]);
        for (byte, row) in (0_u8..).zip(table.iter_mut()) {
            let Some(cursor) = trie.step(trie.root(), byte) else {
                *row = [u64::MAX; 4];
                continue;
            };
            if trie.value(cursor).is_some() {
                continue;
            }
            for next in 0..=255_u8 {
                if trie.step(cursor, next).is_none() {
                    row[usize::from(next / 64)] |= 1 << (next % 64);
                }
            }
        }
        Self(table)
    }

    #[inline]
    fn keeps(&self, byte: u8, next: u8) -> bool {
        byte < 128 && self.0[usize::from(byte)][usize::from(next / 64)] >> (next % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> BTreeMap<String, String> {
        [("ﬁ", "fi"), ("a\u{301}", "á"), ("\t", " "), ("\u{ad}", ""), ("ab", "X")]
            .map(|(from, to)| (from.to_owned(), to.to_owned()))
            .into()
    }

    #[test]
    fn longest_rule_wins_and_survives_its_binary_form() {
        let map = CharsMap::compile(&rule());
        let read = CharsMap::parse(&map.to_bytes()).unwrap();
        assert_eq!(read, map);
        let cases = [
            ("ﬁn", Some(("fi", 3))),
            ("a\u{301}b", Some(("á", 3))),
            ("abc", Some(("X", 2))),
            ("ac", None),
            ("\u{ad}x", Some(("", 2))),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(read.replace_prefix(text), expected, "{text:?}");
        }
    }

    #[test]
    fn kept_bytes_are_those_without_a_rule() {
        let map = CharsMap::compile(&rule());
        let cases = [
            (b'x', b'y', true),
            (b'a', b'c', true),
            (b'a', b'b', false),
            (b'a', 0xCC, false),
            (b'\t', b'x', false),
            (0xEF, 0xAC, false),
        ];
        for (byte, next, expected) in cases {
            assert_eq!(map.keeps(byte, next), expected, "{byte:x} {next:x}");
        }
    }

    #[test]
    fn broken_blobs_are_refused() {
        let blob = CharsMap::compile(&rule()).to_bytes();
        for end in [0, 3, 4, 100, 500] {
            assert!(CharsMap::parse(&blob[..end]).is_err(), "{end} bytes");
        }
        let mut huge = blob.clone();
        huge[..4].fill(0xFF);
        assert!(CharsMap::parse(&huge).is_err());
        let mut foreign = blob;
        foreign.push(0xFF);
        assert_eq!(CharsMap::parse(&foreign), Err(CharsMapError::Utf8));
    }
}
