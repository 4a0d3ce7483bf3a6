//! Python's idea of characters: spaces, lower case, punctuation.
//!
//! A score is comparable only if two programs cut the same line into the same tokens, and
//! Python's answers differ from Rust's: U+001C to U+001F are spaces there and not here, and the
//! versions of Unicode differ. These functions give Python's answers. O(1) for ASCII, O(log n)
//! in the size of a table for the rest.

mod tables;

use std::borrow::Cow;

/// The three general categories that the `intl` tokeniser looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// `\p{N}`
    Number,
    /// `\p{P}`
    Punctuation,
    /// `\p{S}`
    Symbol,
}

/// What a character means for a capital sigma that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SigmaRole {
    /// A letter with case: the sigma stands inside or at the end of a word.
    Cased,
    /// Looked through, like an apostrophe or a combining mark.
    Ignorable,
}

/// Finds the table row whose range holds `code`.
fn row<R>(table: &[R], code: u32, range: impl Fn(&R) -> (u32, u32)) -> Option<&R> {
    let after = table.partition_point(|r| range(r).0 <= code);
    let row = &table[after.checked_sub(1)?];
    (code <= range(row).1).then_some(row)
}

/// The category of a character, if it is one of the three.
pub(crate) fn class(c: char) -> Option<Class> {
    if c.is_ascii_alphabetic() {
        return None;
    }
    row(&tables::CLASSES, u32::from(c), |r| (r.0, r.1)).map(|r| r.2)
}

/// Whether the character is a word by itself: Han, kana and bopomofo, written without spaces.
pub(crate) fn is_ideograph(c: char) -> bool {
    c >= '\u{2e80}' && row(&tables::IDEOGRAPHS, u32::from(c), |&r| r).is_some()
}

/// Python's `str.isspace` for one character.
pub(crate) fn is_space(c: char) -> bool {
    if c.is_ascii() {
        return is_ascii_space(c as u8);
    }
    row(&tables::SPACES, u32::from(c), |&r| r).is_some()
}

/// [`is_space`] for a byte below 128.
pub(crate) const fn is_ascii_space(byte: u8) -> bool {
    matches!(byte, b'\t'..=b'\r' | 0x1c..=b' ')
}

/// Python's `str.rstrip()`.
///
/// ```
/// assert_eq!(padir_score::python::rstrip("a \u{1c}\u{3000}\r"), "a");
/// ```
pub fn rstrip(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Python's `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Python's `str.split()`.
///
/// ```
/// let words: Vec<&str> = padir_score::python::split(" a\u{85}b  c").collect();
/// assert_eq!(words, ["a", "b", "c"]);
/// ```
pub fn split(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|word| !word.is_empty())
}

/// Python's `str.lower()`, final sigma included.
///
/// ```
/// assert_eq!(padir_score::python::lower("ΟΔΥΣΣΕΥΣ İ"), "οδυσσευς i\u{307}");
/// ```
pub fn lower(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        if text.bytes().any(|b| b.is_ascii_uppercase()) {
            return Cow::Owned(text.to_ascii_lowercase());
        }
        return Cow::Borrowed(text);
    }
    let mut lowered = String::with_capacity(text.len() + 8);
    for (at, c) in text.char_indices() {
        match c {
            'Σ' => lowered.push(if is_final_sigma(text, at) { 'ς' } else { 'σ' }),
            'İ' => lowered.push_str("i\u{307}"),
            _ => lowered.push(lower_char(c)),
        }
    }
    Cow::Owned(lowered)
}

fn lower_char(c: char) -> char {
    if c.is_ascii() {
        return c.to_ascii_lowercase();
    }
    let code = u32::from(c);
    let Some(&(first, _, step, distance)) = row(&tables::LOWER, code, |r| (r.0, r.1)) else {
        return c;
    };
    if !(code - first).is_multiple_of(step) {
        return c;
    }
    code.checked_add_signed(distance).and_then(char::from_u32).unwrap_or(c)
}

/// Whether the sigma at byte `at` ends a word: a cased letter before it, none after it, not
/// counting what is case-ignorable.
fn is_final_sigma(text: &str, at: usize) -> bool {
    let role = |c: char| row(&tables::SIGMA, u32::from(c), |r| (r.0, r.1)).map(|r| r.2);
    let is_cased = |mut roles: &mut dyn Iterator<Item = Option<SigmaRole>>| {
        let first = (&mut roles).find(|&r| r != Some(SigmaRole::Ignorable));
        first.flatten() == Some(SigmaRole::Cased)
    };
    is_cased(&mut text[..at].chars().rev().map(role))
        && !is_cased(&mut text[at + 'Σ'.len_utf8()..].chars().map(role))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spaces_are_pythons() {
        let spaces: Vec<u32> =
            (0..=0x0010_ffff).filter(|&c| char::from_u32(c).is_some_and(is_space)).collect();
        assert_eq!(spaces.len(), 29);
        for space in ['\u{1c}', '\u{1d}', '\u{1e}', '\u{1f}', '\u{85}', '\u{3000}'] {
            assert!(is_space(space), "{space:?}");
        }
        for other in ['\u{200b}', '\u{feff}', '\u{180e}', '\0'] {
            assert!(!is_space(other), "{other:?}");
        }
    }

    #[test]
    fn lowers_like_python() {
        for (upper, expected) in [
            ("", ""),
            ("ABC xyz", "abc xyz"),
            ("ÄÖÜ ẞ ß", "äöü ß ß"),
            ("ΑΣ", "ας"),
            ("Σ", "σ"),
            ("ΑΣΑ", "ασα"),
            ("Α'Σ'", "α'ς'"),
            ("ΑΣ'Α", "ασ'α"),
            ("ΑΣ 1", "ας 1"),
            ("İI", "i̇i"),
            ("Ǆǅ", "ǆǆ"),
            ("Ⅷ Ⓐ", "ⅷ ⓐ"),
            ("𐐀", "𐐨"),
        ] {
            assert_eq!(lower(upper), expected, "{upper}");
        }
    }
}
