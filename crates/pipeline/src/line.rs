//! Translations as lines of a file.

/// A text that fits on a line: control characters, which a model may spell byte by byte, become spaces.
pub fn one_line(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_has_two_lines() {
        let cases =
            [("a\nb", "a b"), ("\ta\r\n", "a"), ("\0", ""), ("a\u{85}b", "a b"), ("é", "é")];
        for (text, expected) in cases {
            assert_eq!(one_line(text), expected, "{text:?}");
        }
    }
}
