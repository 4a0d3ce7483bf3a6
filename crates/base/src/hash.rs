//! SHA-256 of files and bytes: how a run names the data it saw.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::Digest;
use thiserror::Error;

/// A SHA-256 digest; displayed as `sha256sum` prints it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Sha256(pub [u8; 32]);

/// The text is not a SHA-256 digest.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not a SHA-256 digest of 64 hexadecimal digits")]
pub struct NotADigest(String);

/// Hashes bytes as they come.
#[derive(Clone, Debug, Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far.
    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

/// The digest of some bytes.
pub fn hash_bytes(bytes: &[u8]) -> Sha256 {
    let mut hasher = Hasher::default();
    hasher.update(bytes);
    hasher.finish()
}

/// The digest of a file as it lies on the disk.
///
/// # Errors
/// If the file cannot be read.
pub fn hash_file(path: impl AsRef<Path>) -> io::Result<Sha256> {
    let mut file = File::open(path)?;
    let mut hasher = Hasher::default();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hasher.finish()),
            n => hasher.update(&buffer[..n]),
        }
    }
}

impl fmt::Display for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sha256({self})")
    }
}

impl FromStr for Sha256 {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        let digits: Option<Vec<u32>> = text.chars().map(|c| c.to_digit(16)).collect();
        match digits {
            Some(digits) if digits.len() == 64 => {
                Ok(Self(std::array::from_fn(|i| (digits[2 * i] << 4 | digits[2 * i + 1]) as u8)))
            }
            _ => Err(NotADigest(text.chars().take(80).collect())),
        }
    }
}

impl From<Sha256> for String {
    fn from(digest: Sha256) -> Self {
        digest.to_string()
    }
}

impl TryFrom<String> for Sha256 {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, NotADigest> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 180-2, appendix B.1, and the digest of nothing.
    #[test]
    fn digests_are_those_of_the_standard() {
        let cases = [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        ];
        for (text, expected) in cases {
            let digest = hash_bytes(text.as_bytes());
            assert_eq!(digest.to_string(), expected, "{text:?}");
            assert_eq!(expected.parse(), Ok(digest));
        }
    }

    #[test]
    fn foreign_text_is_refused() {
        for text in ["", "abc", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(text.parse::<Sha256>(), Err(NotADigest(text.to_owned())));
        }
    }
}
