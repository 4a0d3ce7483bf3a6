//! The step that 13a, zh, intl and tercom share: set punctuation apart, but not inside numbers.
//!
//! All four are defined by the same two substitutions over *marks* (period and comma, or all of
//! `\p{P}`) and *numbers* (0-9, or all of `\p{N}`), applied from left to right:
//!
//! ```text
//! (not a number)(mark)  ->  \1 _ \2 _
//! (mark)(not a number)  ->  _ \1 _ \2
//! ```
//!
//! A match takes two characters and a mark counts as "not a number", so in a run of marks they
//! are consumed in pairs. What remains is at most one *loose* mark at the run's end, and it alone
//! may stay joined to a number: `1.5` is one token, `a..5` is `a` `.` `.5`, `a...5` is five.

use crate::unicode::is_space;

/// What a character is to the scanner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// White space.
    Space,
    /// Part of a word.
    Word,
    /// A digit.
    Number,
    /// Apart after a number, otherwise part of a word.
    Dash,
    /// Apart unless numbers hold it.
    Mark,
    /// Always apart.
    Alone,
    /// Begins a word even if none ended before it.
    Head,
}

/// What stands around the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// A space on either side: what is not a number.
    Padded,
    /// Nothing: neither a number nor something else.
    Bare,
}

/// What precedes a run of marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    Number,
    Other,
}

/// Emits the tokens of `text`; `kind` sorts its characters and is told their byte offset.
pub(super) fn visit(
    text: &str,
    edge: Edge,
    kind: impl Fn(usize, char) -> Kind,
    emit: impl FnMut(&str),
) {
    let mut tokens = Open { text, start: 0, emit };
    let mut before = if edge == Edge::Padded { Before::Other } else { Before::Start };
    let mut chars = text.char_indices();
    let mut next = chars.next();
    while let Some((at, c)) = next {
        let end = at + c.len_utf8();
        next = chars.next();
        let this = kind(at, c);
        match this {
            Kind::Space => tokens.skip(at, end),
            Kind::Dash if before == Before::Number => tokens.alone(at, end),
            Kind::Word | Kind::Number | Kind::Dash => {}
            Kind::Alone => tokens.alone(at, end),
            Kind::Head => tokens.cut(at),
            Kind::Mark => {
                // Only a run of marks needs to look ahead; the usual one is a single mark.
                let mut marks = 1;
                let mut last = (at, end);
                // Whether the last mark seen is the first half of a pair still waiting.
                let mut is_loose = before != Before::Other;
                if !is_loose {
                    tokens.alone(at, end);
                }
                while let Some((at, c)) = next
                    && kind(at, c) == Kind::Mark
                {
                    if is_loose {
                        tokens.alone(last.0, last.1);
                    }
                    last = (at, at + c.len_utf8());
                    if is_loose {
                        tokens.alone(last.0, last.1);
                    }
                    is_loose = !is_loose;
                    marks += 1;
                    next = chars.next();
                }
                if is_loose {
                    let other_follows = match next {
                        Some((at, c)) => kind(at, c) != Kind::Number,
                        None => edge == Edge::Padded,
                    };
                    if other_follows {
                        tokens.alone(last.0, last.1);
                    } else if marks > 1 || before != Before::Number {
                        tokens.cut(last.0);
                    }
                }
            }
        }
        before = if this == Kind::Number { Before::Number } else { Before::Other };
    }
    tokens.cut(text.len());
}

/// The token being read: it began at `start` and has not been emitted.
struct Open<'a, F> {
    text: &'a str,
    start: usize,
    emit: F,
}

impl<F: FnMut(&str)> Open<'_, F> {
    /// Ends the open token before `at`; the next one begins there.
    fn cut(&mut self, at: usize) {
        if self.start < at {
            (self.emit)(&self.text[self.start..at]);
            self.start = at;
        }
    }

    /// Leaves out `at..end`.
    fn skip(&mut self, at: usize, end: usize) {
        self.cut(at);
        self.start = end;
    }

    /// Emits `at..end` as a token of its own.
    fn alone(&mut self, at: usize, end: usize) {
        self.cut(at);
        self.cut(end);
    }
}

/// How 13a, zh and tercom sort characters: only ASCII has punctuation and digits.
pub(super) fn western(c: char) -> Kind {
    if c.is_ascii() {
        return ASCII[c as usize];
    }
    if is_space(c) { Kind::Space } else { Kind::Word }
}

const ASCII: [Kind; 128] = {
    let mut kinds = [Kind::Word; 128];
    let mut byte = 0u8;
    while byte < 128 {
        kinds[byte as usize] = match byte {
            _ if crate::unicode::is_ascii_space(byte) => Kind::Space,
            b'0'..=b'9' => Kind::Number,
            b'.' | b',' => Kind::Mark,
            b'-' => Kind::Dash,
            b'{'..=b'~' | b'['..=b'`' | b'!'..=b'&' | b'('..=b'+' | b':'..=b'@' | b'/' => {
                Kind::Alone
            }
            _ => Kind::Word,
        };
        byte += 1;
    }
    kinds
};
