//! Texts that are too long for a model, cut where it hurts least.
//!
//! A text that fits stays whole. Another is cut after the ends of its sentences; a sentence that does not fit, after
//! its clauses; a clause, between words; a word, between characters. Neighbours that fit together are then
//! put together again, so that a model sees as much context as it can. Nothing is lost: the parts and the gaps
//! between them are the text.
//!
//! Every character is looked at a few times, and measured as often.

/// A part of a text, and the white space that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part<'t> {
    /// What is to be translated; without white space at its ends.
    pub text: &'t str,
    /// What stands between this part and the next.
    pub gap: &'t str,
}

/// Where a text may be cut, from the best place to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    Sentence,
    Clause,
    Word,
    Character,
}

impl Cut {
    fn finer(self) -> Self {
        match self {
            Self::Sentence => Self::Clause,
            Self::Clause => Self::Word,
            Self::Word | Self::Character => Self::Character,
        }
    }

    /// Whether one may cut before `next`; `last` is the character before it and before marks that close.
    fn allows(self, last: Option<char>, next: char) -> bool {
        let spaced = next.is_whitespace();
        match self {
            Self::Character => true,
            Self::Word => spaced,
            // Scripts without spaces do not put one after their stops either.
            Self::Clause => last.is_some_and(|c| {
                spaced && matches!(c, ',' | ';' | ':' | '–' | '—')
                    || matches!(c, '、' | '，' | '；' | '：')
            }),
            Self::Sentence => last.is_some_and(|c| {
                spaced && matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '।')
                    || matches!(c, '。' | '！' | '？') && !closes(next)
            }),
        }
    }
}

/// Marks that belong to the sentence they close.
pub(crate) fn closes(c: char) -> bool {
    matches!(c, ')' | ']' | '}' | '"' | '\'' | '»' | '«' | '“' | '”' | '’' | '」' | '』' | '）')
}

/// Cuts a text into parts whose sizes are at most `most`, where that is possible: a part of one character
/// is as large as it is. A text without anything but white space has no parts.
pub fn split<'t>(text: &'t str, most: usize, size: &mut dyn FnMut(&str) -> usize) -> Vec<Part<'t>> {
    let mut pieces = Vec::new();
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Vec::new();
    }
    cut(trimmed, most, size, Cut::Sentence, &mut pieces);
    join(trimmed, most, &pieces)
}

/// A piece of a text, by its place, and its size.
struct Piece {
    start: usize,
    end: usize,
    size: usize,
}

/// Appends the pieces of a text; places count from the start of `text`.
fn cut(
    text: &str,
    most: usize,
    size: &mut dyn FnMut(&str) -> usize,
    at: Cut,
    pieces: &mut Vec<Piece>,
) {
    let whole = size(text);
    if whole <= most {
        pieces.push(Piece { start: 0, end: text.len(), size: whole });
        return;
    }
    let mut start = 0;
    for end in places(text, at) {
        let piece = &text[start..end];
        let bare = piece.trim_start();
        let from = end - bare.len();
        start = end;
        if bare.is_empty() {
            continue;
        }
        let (first, size_of) = (pieces.len(), size(bare));
        if size_of <= most || at == Cut::Character {
            pieces.push(Piece { start: from, end, size: size_of });
        } else {
            cut(bare, most, size, at.finer(), pieces);
            for piece in &mut pieces[first..] {
                piece.start += from;
                piece.end += from;
            }
        }
    }
}

/// Where a text may be cut, and its end.
fn places(text: &str, at: Cut) -> Vec<usize> {
    let mut places = Vec::new();
    let mut last = None;
    for (place, next) in text.char_indices() {
        if place > 0 && at.allows(last, next) {
            places.push(place);
        }
        if !closes(next) {
            last = Some(next);
        }
    }
    places.push(text.len());
    places
}

/// Puts neighbours together that fit together.
fn join<'t>(text: &'t str, most: usize, pieces: &[Piece]) -> Vec<Part<'t>> {
    let mut spans: Vec<Piece> = Vec::new();
    for piece in pieces {
        match spans.last_mut() {
            Some(last) if last.size + piece.size <= most => {
                last.end = piece.end;
                last.size += piece.size;
            }
            _ => spans.push(Piece { ..*piece }),
        }
    }
    let starts = spans.iter().skip(1).map(|span| span.start).chain([text.len()]);
    let between = spans.iter().zip(starts);
    between
        .map(|(span, next)| {
            let part = text[span.start..span.end].trim_end();
            Part { text: part, gap: &text[span.start + part.len()..next] }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Sizes are counted in words here, a word of n characters counting ⌈n/10⌉.
    fn words(text: &str) -> usize {
        text.split_whitespace().map(|word| word.chars().count().div_ceil(10)).sum()
    }

    #[test]
    fn texts_are_cut_where_it_hurts_least() {
        let cases: [(&str, &str, usize, &[&str]); 9] = [
            ("nothing", " \t ", 3, &[]),
            ("fits", " One two. Three. ", 3, &["One two. Three."]),
            ("sentences", "One two. Three four! Five?", 3, &["One two.", "Three four! Five?"]),
            ("quotes", "“One two.” Three four.", 2, &["“One two.”", "Three four."]),
            (
                "numbers are no ends",
                "About 3.5 or 4.5 of them.",
                3,
                &["About 3.5 or", "4.5 of them."],
            ),
            (
                "clauses",
                "One two, three four, five six.",
                4,
                &["One two, three four,", "five six."],
            ),
            ("words", "one two three four five", 2, &["one two", "three four", "five"]),
            ("characters", "abcdefghijklmnopqrstuvwxyz", 2, &["abcdefghijklmnopqrst", "uvwxyz"]),
            (
                "without spaces",
                "一二三四五六七八。一二三四五六七八。",
                1,
                &["一二三四五六七八。", "一二三四五六七八。"],
            ),
        ];
        for (name, text, most, expected) in cases {
            let parts: Vec<&str> =
                split(text, most, &mut |t| words(t)).iter().map(|part| part.text).collect();
            // A word that must be cut goes character by character, and each counts for one.
            if name == "characters" {
                assert_eq!(parts.concat(), expected.concat(), "{name}");
            } else {
                assert_eq!(parts, expected, "{name}");
            }
        }
    }

    /// A text of closing marks alone, which a search back from every place would go through from end to end.
    #[test]
    fn a_long_row_of_marks_is_cut_at_once() {
        let text = "\"".repeat(1 << 20);
        let parts = split(&text, 1 << 12, &mut |part| part.len());
        assert_eq!(parts.len(), 1 << 8);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_everything_fits(text in "(\\PC|[ .,!?a-z]){0,80}", most in 1..8_usize) {
            let mut measured = 0;
            let mut size = |part: &str| {
                measured += part.len();
                words(part)
            };
            let parts = split(&text, most, &mut size);
            let whole: String = parts.iter().flat_map(|part| [part.text, part.gap]).collect();
            prop_assert_eq!(whole, text.trim());
            prop_assert!(measured <= 8 * text.len());
            for part in parts {
                prop_assert!(words(part.text) <= most, "{:?}", part);
                prop_assert_eq!(part.text.trim(), part.text);
                prop_assert!(part.gap.trim().is_empty());
            }
        }
    }
}
