//! Checksums of tensors, kept in the metadata of the header, which other programs ignore.
//!
//! The format has none of its own, and a flipped bit in a weight is not seen by any other check.
//! Under the key `xxh64` stand 16 hexadecimal digits for each tensor, in the order of the data:
//! the `XXH64` of its bytes, with that of its name as the seed. They protect from accidents, not
//! from forgers. Files without them, as others write, are read unchecked.

use twox_hash::XxHash64;

/// The key in the metadata.
pub(super) const KEY: &str = "xxh64";
/// Digits of one checksum.
pub(super) const DIGITS: usize = 16;

pub(super) fn of_tensor(name: &str, bytes: &[u8]) -> u64 {
    XxHash64::oneshot(XxHash64::oneshot(0, name.as_bytes()), bytes)
}

/// The text of all checksums.
pub(super) fn join(checksums: &[u64]) -> String {
    checksums.iter().fold(String::new(), |text, checksum| text + &format!("{checksum:0DIGITS$x}"))
}

/// The checksums of a text, if it has as many as there are tensors.
pub(super) fn split(text: &str, tensors: usize) -> Option<Vec<u64>> {
    if text.len() != DIGITS * tensors || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let digits = (0..tensors).map(|i| &text[DIGITS * i..DIGITS * (i + 1)]);
    digits.map(|digits| u64::from_str_radix(digits, 16).ok()).collect()
}

/// Whether a text is as long as checksums are and made of nearly nothing but their digits: then it is them, whatever its key became.
pub(super) fn resembles(text: &str, tensors: usize) -> bool {
    let strange = text.bytes().filter(|byte| !byte.is_ascii_hexdigit()).count();
    tensors > 0 && text.len() == DIGITS * tensors && strange <= tensors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_back() {
        let checksums = [0, 1, u64::MAX];
        assert_eq!(split(&join(&checksums), 3).unwrap(), checksums);
        assert_eq!(split(&join(&checksums), 2), None);
        assert_eq!(split("+00000000000000f", 1), None);
        assert_eq!(split("éééééééé", 1), None);
        // XXH64 of nothing with seed 0, from the specification's test vectors.
        assert_eq!(of_tensor("", b""), XxHash64::oneshot(0xef46_db37_51d8_e999, b""));
    }
}
