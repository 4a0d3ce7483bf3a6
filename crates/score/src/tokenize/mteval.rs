//! 13a: what `mteval-v13a.pl` does, and WMT with it.

use std::borrow::Cow;

use super::marks::{self, Edge, western};
use super::unescape;

/// Emits the tokens of a right-stripped text.
pub(super) fn visit(text: &str, emit: impl FnMut(&str)) {
    let text = prepare(text);
    marks::visit(&text, Edge::Padded, |_, c| western(c), emit);
}

/// Drops `<skipped>`, joins lines (a hyphen before the break goes with it), undoes escapes.
fn prepare(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for (found, instead) in [("<skipped>", ""), ("-\n", ""), ("\n", " ")] {
        if text.contains(found) {
            text = Cow::Owned(text.replace(found, instead));
        }
    }
    unescape(text)
}
