//! Words as a reader sees them, for the stutter metric.
//!
//! A segment is cut at white space; each Han, kana or bopomofo character is a word by itself;
//! other pieces lose the punctuation and symbols at their ends and keep those inside (`don't`,
//! `3.5`, `well-known`). What was lost separates: `no, no` is not the same as `no no`.

use crate::unicode::Class;
use crate::unicode::{class, is_ideograph, is_space};

/// How a word stands to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Link {
    /// Only white space, or nothing, lies between.
    Adjacent,
    /// Punctuation or a symbol lies between, or it is the first.
    Apart,
}

/// Calls `emit` with every word and its link to the word before.
pub(crate) fn visit(text: &str, mut emit: impl FnMut(&str, Link)) {
    let mut link = Link::Apart;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        if is_space(first) {
            rest = &rest[first.len_utf8()..];
        } else if is_ideograph(first) {
            let (word, after) = rest.split_at(first.len_utf8());
            emit(word, link);
            link = Link::Adjacent;
            rest = after;
        } else {
            let end = rest.find(|c| is_space(c) || is_ideograph(c)).unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            link = visit_piece(piece, link, &mut emit);
            rest = after;
        }
    }
}

/// Emits what is left of a piece without its outer marks; returns the link to what follows.
fn visit_piece(piece: &str, link: Link, emit: &mut impl FnMut(&str, Link)) -> Link {
    let headless = piece.trim_start_matches(is_mark);
    let word = headless.trim_end_matches(is_mark);
    if word.is_empty() {
        return Link::Apart;
    }
    emit(word, if headless.len() < piece.len() { Link::Apart } else { link });
    if word.len() < headless.len() { Link::Apart } else { Link::Adjacent }
}

fn is_mark(c: char) -> bool {
    matches!(class(c), Some(Class::Punctuation | Class::Symbol))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_links() {
        for (text, expected) in [
            ("", ""),
            ("the the", "the+the"),
            ("no, no", "no|no"),
            ("\"the the\"", "the+the"),
            ("don't don't.", "don't+don't"),
            ("a - a", "a|a"),
            ("3.5 3.5 %", "3.5+3.5"),
            ("好好 学习", "好+好+学+习"),
            ("好,好", "好|好"),
            ("ABC公司", "ABC+公+司"),
            ("(a)b (b", "a)b|b"),
            ("\u{1f}a\u{85}a", "a+a"),
            ("—", ""),
        ] {
            let mut found = String::new();
            visit(text, |word, link| {
                if !found.is_empty() {
                    found.push(if link == Link::Adjacent { '+' } else { '|' });
                }
                found.push_str(word);
            });
            assert_eq!(found, expected, "{text:?}");
        }
    }
}
