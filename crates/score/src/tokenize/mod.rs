//! How BLEU cuts a segment into tokens: 13a, intl, zh, char, none.
//!
//! The published scanners are chains of regular expressions; here each is one pass over the
//! characters that emits slices of the text. Tokens are never copied. O(length).

mod chinese;
mod international;
mod marks;
mod mteval;
pub(crate) mod tercom;

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::unicode::{is_space, rstrip, split, strip};

/// A rule for cutting a segment into tokens.
///
/// ```
/// use padir_score::Tokenizer;
///
/// let tokens = Tokenizer::Mteval13a.tokens("It costs 3.50, she said.");
/// assert_eq!(tokens, ["It", "costs", "3.50", ",", "she", "said", "."]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tokenizer {
    /// The rule of `mteval-v13a.pl`, used by WMT: ASCII punctuation apart, periods and commas
    /// inside numbers kept.
    #[default]
    #[serde(rename = "13a")]
    Mteval13a,
    /// The international rule of `mteval-v14.pl`: Unicode punctuation and symbols apart.
    Intl,
    /// Chinese: every character of the CJK ranges apart, the rest as in 13a.
    Zh,
    /// Every character apart.
    Char,
    /// Only white space separates.
    None,
}

/// A name that is no tokeniser.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("no tokeniser is called {0:?}; there are 13a, intl, zh, char and none")]
pub struct UnknownTokenizer(pub String);

impl Tokenizer {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Mteval13a, Self::Intl, Self::Zh, Self::Char, Self::None];

    /// The name signatures use.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mteval13a => "13a",
            Self::Intl => "intl",
            Self::Zh => "zh",
            Self::Char => "char",
            Self::None => "none",
        }
    }

    /// The tokens of a segment, in order. White space at its end is dropped first, as BLEU does.
    pub fn tokens(self, segment: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.visit(segment, |token| tokens.push(token.to_owned()));
        tokens
    }

    /// Calls `emit` with every token of the segment, in order.
    pub fn visit(self, segment: &str, mut emit: impl FnMut(&str)) {
        let text = rstrip(segment);
        match self {
            Self::Mteval13a => mteval::visit(text, emit),
            Self::Intl => international::visit(text, emit),
            Self::Zh => chinese::visit(strip(text), emit),
            Self::Char => text
                .char_indices()
                .filter(|&(_, c)| !is_space(c))
                .for_each(|(at, c)| emit(&text[at..at + c.len_utf8()])),
            Self::None => split(text).for_each(emit),
        }
    }
}

impl fmt::Display for Tokenizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Tokenizer {
    type Err = UnknownTokenizer;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|tokenizer| tokenizer.name() == name)
            .ok_or_else(|| UnknownTokenizer(name.to_owned()))
    }
}

/// Replaces the four escapes that 13a and tercom know, one after the other, so that `&amp;lt;`
/// becomes `<` but `&amp;quot;` only `&quot;`.
fn unescape(text: Cow<'_, str>) -> Cow<'_, str> {
    if !text.contains('&') {
        return text;
    }
    let mut text = text.into_owned();
    for (escape, plain) in [("&quot;", "\""), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">")] {
        if text.contains(escape) {
            text = text.replace(escape, plain);
        }
    }
    Cow::Owned(text)
}
