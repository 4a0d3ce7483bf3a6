//! How TER cuts a segment into words: the options of Tercom's normaliser.

use std::borrow::Cow;

use super::marks::{self, Edge, Kind, western};
use super::unescape;
use crate::unicode::{lower, rstrip, split};

/// What TER does to a segment before it counts edits. The default only lowercases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "four independent switches, as in Tercom")]
pub struct TercomOptions {
    /// Undo escapes and set punctuation and possessives apart.
    pub normalized: bool,
    /// Remove punctuation.
    pub no_punct: bool,
    /// With `normalized`, set CJK characters apart; with `no_punct`, remove CJK punctuation too.
    pub asian_support: bool,
    /// Keep upper and lower case distinct.
    pub case_sensitive: bool,
}

impl TercomOptions {
    /// The words of a hypothesis.
    pub fn words(self, segment: &str) -> Vec<String> {
        let mut words = Vec::new();
        self.visit(segment, |word| words.push(word.to_owned()));
        words
    }

    /// Emits the words of a segment.
    pub(crate) fn visit(self, segment: &str, mut emit: impl FnMut(&str)) {
        let text = rstrip(segment);
        let text = if self.case_sensitive { Cow::Borrowed(text) } else { lower(text) };
        let mut kept = String::new();
        let emit = |word: &str| {
            if !self.no_punct {
                return emit(word);
            }
            kept.clear();
            kept.extend(word.chars().filter(|&c| !self.is_removed(c)));
            if !kept.is_empty() {
                emit(&kept);
            }
        };
        if self.normalized {
            self.visit_normalized(text, emit);
        } else {
            split(&text).for_each(emit);
        }
    }

    /// The words of a reference. sacrebleu prepares references twice, and the second time finds
    /// something to do: `a..5` becomes `a . .5`, and then `a . . 5`.
    pub(crate) fn visit_twice(self, segment: &str, emit: impl FnMut(&str)) {
        let mut once = String::with_capacity(segment.len() + 16);
        self.visit(segment, |word| {
            if !once.is_empty() {
                once.push(' ');
            }
            once.push_str(word);
        });
        self.visit(&once, emit);
    }

    fn visit_normalized(self, text: Cow<'_, str>, emit: impl FnMut(&str)) {
        let text = unescape(join_lines(text));
        let kind = |at: usize, c: char| match c {
            '\'' if is_possessive(&text[at..]) => Kind::Head,
            _ if self.asian_support && is_asian(c) => Kind::Alone,
            _ => western(c),
        };
        marks::visit(&text, Edge::Padded, kind, emit);
    }

    fn is_removed(self, c: char) -> bool {
        matches!(c, '.' | ',' | '?' | ':' | ';' | '!' | '"' | '(' | ')')
            || self.asian_support && is_asian_punctuation(c)
    }
}

/// Undoes hyphenation at the end of a line, then joins lines.
fn join_lines(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.contains('\n') { Cow::Owned(text.replace("\n-", "").replace('\n', " ")) } else { text }
}

/// Whether the text begins with `'s` before a space, the end, or a character that gets a space
/// before it; a period and a comma get theirs later.
fn is_possessive(text: &str) -> bool {
    text.strip_prefix("'s").is_some_and(|rest| match rest.chars().next() {
        None | Some(' ') => true,
        Some(c) => c.is_ascii() && western(c) == Kind::Alone,
    })
}

/// CJK ideographs, radicals, strokes and compatibility forms, and the two sets of punctuation.
/// Kana are not split: the rule meant for them can only match a line that has no space around it.
fn is_asian(c: char) -> bool {
    matches!(c,
        '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{31c0}'..='\u{31ef}'
        | '\u{2e80}'..='\u{2eff}' | '\u{3300}'..='\u{33ff}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{3200}'..='\u{3f22}')
        || is_asian_punctuation(c)
}

fn is_asian_punctuation(c: char) -> bool {
    matches!(c,
        '\u{3001}' | '\u{3002}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}'
        | '\u{ff61}'..='\u{ff65}' | '\u{30fb}'
        | '．' | '，' | '？' | '：' | '；' | '！' | '＂' | '（' | '）')
}
