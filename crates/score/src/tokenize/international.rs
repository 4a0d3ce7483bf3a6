//! intl: what `mteval-v14.pl --international-tokenization` does.

use super::marks::{self, Edge, Kind};
use crate::unicode::{Class, class, is_space};

/// Emits the tokens of a right-stripped text.
pub(super) fn visit(text: &str, emit: impl FnMut(&str)) {
    marks::visit(text, Edge::Bare, |_, c| kind(c), emit);
}

fn kind(c: char) -> Kind {
    match class(c) {
        Some(Class::Number) => Kind::Number,
        Some(Class::Punctuation) => Kind::Mark,
        Some(Class::Symbol) => Kind::Alone,
        None if is_space(c) => Kind::Space,
        None => Kind::Word,
    }
}
