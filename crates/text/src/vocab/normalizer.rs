//! Text before segmentation: characters normalised, spaces collapsed and made visible.
//!
//! Follows SentencePiece: the longest rule is applied at each place, runs of spaces shrink to
//! one, spaces become `▁` (U+2581), and one is put before the text so that a word looks the same
//! at the start of a sentence and inside it. Linear in the text; ASCII is copied in runs.

use super::charsmap::CharsMap;
use super::double_array::DoubleArray;

/// What stands for a space inside pieces.
pub const SPACE: &str = "\u{2581}";

/// A normaliser with its settings.
#[derive(Clone, Debug)]
pub struct Normalizer {
    rule: Option<CharsMap>,
    /// Symbols that no rule may change.
    fixed: Option<DoubleArray>,
    spaces: Spaces,
}

/// The switches of a [`Normalizer`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "four independent switches of the file format")]
pub struct Spaces {
    /// Put a space before (or after) the text.
    pub add_dummy_prefix: bool,
    /// Remove leading, trailing and repeated spaces.
    pub remove_extra: bool,
    /// Write spaces as `▁`.
    pub escape: bool,
    /// The added space goes to the end.
    pub as_suffix: bool,
}

impl Default for Spaces {
    fn default() -> Self {
        Self { add_dummy_prefix: true, remove_extra: true, escape: true, as_suffix: false }
    }
}

impl Normalizer {
    /// A normaliser with a rule (or none), symbols that stay as they are, and its switches.
    pub fn new(rule: Option<CharsMap>, mut fixed: Vec<&str>, spaces: Spaces) -> Self {
        fixed.sort_unstable();
        fixed.dedup();
        fixed.retain(|symbol| !symbol.is_empty() && !symbol.contains('\0'));
        let keys: Vec<(&str, u32)> = fixed.into_iter().map(|symbol| (symbol, 0)).collect();
        Self { rule, fixed: (!keys.is_empty()).then(|| DoubleArray::build(&keys)), spaces }
    }

    /// The normal form of a text.
    pub fn normalize(&self, text: &str) -> String {
        let mut normal = String::with_capacity(text.len() + text.len() / 2 + 3);
        self.normalize_into(text, &mut normal);
        normal
    }

    /// Writes the normal form of a text over `normal`.
    pub fn normalize_into(&self, text: &str, normal: &mut String) {
        normal.clear();
        let mut rest = text;
        if self.spaces.remove_extra {
            rest = self.skip_spaces(rest);
        }
        if rest.is_empty() {
            return;
        }
        if self.spaces.add_dummy_prefix && !self.spaces.as_suffix {
            self.push_space(normal);
        }
        self.push_normal_form(rest, normal);
        if self.spaces.remove_extra {
            let space = if self.spaces.escape { SPACE } else { " " };
            normal.truncate(normal.trim_end_matches(space).len());
        }
        if self.spaces.add_dummy_prefix && self.spaces.as_suffix {
            self.push_space(normal);
        }
    }

    fn push_space(&self, normal: &mut String) {
        normal.push_str(if self.spaces.escape { SPACE } else { " " });
    }

    /// The text without the characters at its start that become exactly a space.
    fn skip_spaces<'t>(&self, mut text: &'t str) -> &'t str {
        while !text.is_empty() {
            match self.next(text) {
                (" ", length) => text = &text[length..],
                _ => break,
            }
        }
        text
    }

    fn push_normal_form(&self, text: &str, normal: &mut String) {
        let mut after_space = self.spaces.remove_extra;
        let mut rest = text;
        while !rest.is_empty() {
            let run = self.plain_run(rest);
            if run > 0 {
                normal.push_str(&rest[..run]);
                rest = &rest[run..];
                after_space = false;
                continue;
            }
            let (mut piece, length) = self.next(rest);
            if after_space {
                piece = piece.trim_start_matches(' ');
            }
            if !piece.is_empty() {
                self.push_escaped(piece, normal);
                after_space = self.spaces.remove_extra && piece.ends_with(' ');
            }
            rest = &rest[length..];
        }
    }

    /// How many bytes at the start are ASCII, not spaces, and untouched by any rule.
    #[inline]
    fn plain_run(&self, text: &str) -> usize {
        if self.fixed.is_some() {
            return 0;
        }
        let bytes = text.as_bytes();
        let next = |i: usize| bytes.get(i + 1).copied().unwrap_or(0);
        let keeps = |i: usize| match &self.rule {
            Some(rule) => rule.keeps(bytes[i], next(i)),
            None => bytes[i] < 128,
        };
        (0..bytes.len()).find(|&i| bytes[i] == b' ' || !keeps(i)).unwrap_or(bytes.len())
    }

    fn push_escaped(&self, piece: &str, normal: &mut String) {
        if !self.spaces.escape || !piece.contains(' ') {
            normal.push_str(piece);
            return;
        }
        for (index, part) in piece.split(' ').enumerate() {
            if index > 0 {
                normal.push_str(SPACE);
            }
            normal.push_str(part);
        }
    }

    /// What the start of a non-empty text becomes, and how many bytes that start has.
    #[inline]
    fn next<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        if let Some(fixed) = &self.fixed
            && let Some((length, _)) = fixed.longest_prefix(text.as_bytes())
        {
            return (&text[..length], length);
        }
        if let Some(replaced) = self.rule.as_ref().and_then(|rule| rule.replace_prefix(text)) {
            return replaced;
        }
        let length = text.chars().next().map_or(0, char::len_utf8);
        (&text[..length], length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tab_is_space() -> CharsMap {
        CharsMap::compile(&[("\t".to_owned(), " ".to_owned())].into())
    }

    #[test]
    fn spaces_are_collapsed_and_shown() {
        let normalizer = Normalizer::new(Some(tab_is_space()), vec![], Spaces::default());
        let cases = [
            ("", ""),
            ("   ", ""),
            ("a", "▁a"),
            ("  a  b ", "▁a▁b"),
            ("a\t \tb", "▁a▁b"),
            ("\ta", "▁a"),
            ("ä ö", "▁ä▁ö"),
        ];
        for (text, expected) in cases {
            assert_eq!(normalizer.normalize(text), expected, "{text:?}");
        }
    }

    #[test]
    fn switches_do_what_they_say() {
        let all = Spaces::default();
        let cases = [
            (Spaces { remove_extra: false, ..all }, " a  b ", "▁▁a▁▁b▁"),
            (Spaces { add_dummy_prefix: false, ..all }, " a b", "a▁b"),
            (Spaces { escape: false, ..all }, " a  b ", " a b"),
            (Spaces { as_suffix: true, ..all }, "a b", "a▁b▁"),
        ];
        for (spaces, text, expected) in cases {
            let normalizer = Normalizer::new(Some(tab_is_space()), vec![], spaces);
            assert_eq!(normalizer.normalize(text), expected, "{spaces:?}");
        }
    }

    #[test]
    fn fixed_symbols_are_left_alone() {
        let normalizer = Normalizer::new(Some(tab_is_space()), vec!["\t\t"], Spaces::default());
        assert_eq!(normalizer.normalize("a\t\tb\tc"), "▁a\t\tb▁c");
    }
}
