//! A translation to start from, with tokens that stand fixed.
//!
//! Refinement reads a whole sentence and predicts all of it again, so a token can be held at every step while the rest is refined
//! around it. A left-to-right search cannot do this: what stands to the right of a position is not there yet.

use padir_base::TokenId;

use super::settings::Settings;
use crate::settings::SettingsError;

/// Tokens that the first step reads, and which of them no step changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Template {
    tokens: Vec<TokenId>,
    forced: Vec<bool>,
}

impl Template {
    /// An empty template.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds tokens that may change, or forced ones.
    pub fn extend(&mut self, tokens: impl IntoIterator<Item = TokenId>, forced: bool) {
        self.tokens.extend(tokens);
        self.forced.resize(self.tokens.len(), forced);
    }

    /// The tokens, without an end.
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Which of them are forced.
    pub fn forced(&self) -> &[bool] {
        &self.forced
    }

    /// The number of positions, the end included.
    pub fn length(&self) -> usize {
        self.tokens.len() + 1
    }

    /// Whether it can be refined with such settings.
    ///
    /// # Errors
    /// If it has no tokens, or more than the longest target.
    pub fn check(&self, settings: &Settings) -> Result<(), SettingsError> {
        let (length, longest) = (self.length(), settings.max_length);
        if self.tokens.is_empty() || length > longest {
            return Err(SettingsError::Template { length, longest });
        }
        Ok(())
    }

    /// The tokens with their end, and which of all these positions are forced: the end is not.
    pub(super) fn start(&self) -> (Vec<TokenId>, Vec<bool>) {
        ([&self.tokens[..], &[TokenId::EOS]].concat(), [&self.forced[..], &[false]].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_must_fit() {
        let settings = Settings { max_length: 4, ..Settings::default() };
        let mut template = Template::new();
        let error = template.check(&settings).unwrap_err().to_string();
        assert_eq!(
            error,
            "the template has 1 positions, its end included; it must have from 2 to 4"
        );
        template.extend([TokenId(5)], true);
        template.extend([TokenId(6), TokenId(7)], false);
        assert_eq!(template.check(&settings), Ok(()));
        assert_eq!(template.forced(), [true, false, false]);
        assert_eq!(template.start().1, [true, false, false, false]);
        template.extend([TokenId(8)], true);
        assert!(template.check(&settings).is_err());
    }
}
