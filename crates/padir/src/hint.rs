//! Errors state facts; a hint says what to do about them.
//!
//! `hint` wraps an error so that the console prints `hint: …` below `error: …`.

use std::fmt;

/// Advice that travels with an error and is printed on a line of its own.
#[derive(Debug)]
pub(crate) struct Hint(String);

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Hint {
    pub(crate) fn text(&self) -> &str {
        &self.0
    }
}

/// Attaches advice to a failure.
pub(crate) trait WithHint<T> {
    /// On failure, keep the error and add what the user can do about it.
    fn hint(self, advice: impl Into<String>) -> anyhow::Result<T>;
}

impl<T, E: Into<anyhow::Error>> WithHint<T> for Result<T, E> {
    fn hint(self, advice: impl Into<String>) -> anyhow::Result<T> {
        self.map_err(|error| error.into().context(Hint(advice.into())))
    }
}
