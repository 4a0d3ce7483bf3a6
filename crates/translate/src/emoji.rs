//! Emoji, which need no translation: between sentences and at the ends of a text they are copied.
//!
//! An emoji is often several characters: a picture, a variation selector, a skin tone, a joiner and another picture. Copying the run as a whole keeps them
//! together. O(n).

use unicode_properties::UnicodeEmoji;

/// Whether a character is a picture. Digits and the signs ©, ®, ™ count as emoji in Unicode's table, but they are text.
pub(crate) fn is_emoji(c: char) -> bool {
    c >= '\u{2190}' && c.is_emoji_char()
}

/// Characters that join or vary emoji: joiner, variation selectors, keycap, tags of flags.
fn joins(c: char) -> bool {
    matches!(c, '\u{200d}' | '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}' | '\u{e0020}'..='\u{e007f}')
}

fn is_copied(c: char) -> bool {
    c.is_whitespace() || is_emoji(c) || joins(c)
}

/// A text without the emoji and the white space that it begins with.
pub(crate) fn trim_start(text: &str) -> &str {
    let rest = text.trim_start_matches(is_copied);
    if text[..text.len() - rest.len()].contains(is_emoji) { rest } else { text.trim_start() }
}

/// A text without the emoji and the white space that it ends with.
pub(crate) fn trim_end(text: &str) -> &str {
    let rest = text.trim_end_matches(is_copied);
    if text[rest.len()..].contains(is_emoji) { rest } else { text.trim_end() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn emoji_are_trimmed_whole() {
        let cases = [
            ("picture", "👋 Hi", "Hi"),
            ("several, joined", "👩‍👩‍👧 ❤️ Hi", "Hi"),
            ("flag", "🇩🇪 Hi", "Hi"),
            ("none", "  Hi", "Hi"),
            ("digits are text", "1 Hi", "1 Hi"),
            ("signs are text", "© Hi", "© Hi"),
            ("a joiner alone is text", "\u{200d}Hi", "\u{200d}Hi"),
            ("nothing else", "😀 😀", ""),
        ];
        for (name, text, expected) in cases {
            assert_eq!(trim_start(text), expected, "{name}");
            let turned: String = text.split(' ').rev().collect::<Vec<_>>().join(" ");
            let rest: String = expected.split(' ').rev().collect::<Vec<_>>().join(" ");
            if !name.contains("joiner") {
                assert_eq!(trim_end(&turned), rest, "{name}");
            }
        }
    }
}
