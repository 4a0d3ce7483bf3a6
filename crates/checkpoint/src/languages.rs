//! Which languages a model translates: what `config.json` says, else its card.
//!
//! The keys `source_language` and `target_language` stand at the top of `config.json`, where programs that do not know them leave them alone.
//! A card names languages in the field `language` that model hubs read, the source first.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The longest code, as BCP 47 has it.
const LONGEST: usize = 35;

/// The code of a language, such as `en`, `pt-BR` or `eng_Latn`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Language(String);

/// A text is not the code of a language.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0:?} is not the code of a language, such as \"en\"")]
pub struct NotALanguage(String);

/// The languages of a model, as far as they are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Languages {
    /// Of the sources.
    pub source: Option<Language>,
    /// Of the targets.
    pub target: Option<Language>,
}

impl Language {
    /// The code as it was written.
    pub fn code(&self) -> &str {
        &self.0
    }

    /// Whether a code means this language; case does not matter.
    pub fn is(&self, code: &str) -> bool {
        self.0.eq_ignore_ascii_case(code)
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Language {
    type Error = NotALanguage;

    fn try_from(code: String) -> Result<Self, NotALanguage> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let starts = code.starts_with(|c: char| c.is_ascii_alphabetic());
        if starts && code.len() <= LONGEST && code.chars().all(plain) {
            Ok(Self(code))
        } else {
            Err(NotALanguage(code.chars().take(2 * LONGEST).collect()))
        }
    }
}

impl From<Language> for String {
    fn from(language: Language) -> Self {
        language.0
    }
}

impl Languages {
    /// Source and target, if both are known.
    pub fn pair(&self) -> Option<(&Language, &Language)> {
        self.source.as_ref().zip(self.target.as_ref())
    }

    /// What a card says, if it names two languages.
    pub(crate) fn of_card(markdown: &str) -> Option<Self> {
        let codes = card_codes(markdown)?;
        let [source, target] = <[String; 2]>::try_from(codes).ok()?;
        Some(Self { source: source.try_into().ok(), target: target.try_into().ok() })
    }
}

/// The values of `language` in the front matter of a card: `language: ["en","de"]`, or one a line as `- en`.
fn card_codes(markdown: &str) -> Option<Vec<String>> {
    let mut lines = markdown.lines();
    if lines.next()?.trim_end() != "---" {
        return None;
    }
    let mut lines = lines.take_while(|line| line.trim_end() != "---");
    let value = lines.find_map(|line| line.strip_prefix("language:"))?.trim();
    let bare = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
    if let Some(list) = value.strip_prefix('[') {
        return Some(list.strip_suffix(']')?.split(',').map(bare).collect());
    }
    if !value.is_empty() {
        return Some(vec![bare(value)]);
    }
    Some(lines.map_while(|line| line.trim_start().strip_prefix("- ")).map(bare).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_told_from_other_text() {
        for code in ["en", "DE", "pt-BR", "eng_Latn", "zh-Hant-TW"] {
            assert!(Language::try_from(code.to_owned()).unwrap().is(&code.to_lowercase()));
        }
        for text in ["", "-", "3", "en de", "../en", "\u{e9}", &"x".repeat(36)] {
            let error = Language::try_from(text.to_owned()).unwrap_err();
            assert!(error.to_string().contains("not the code of a language"), "{text}");
        }
    }

    #[test]
    fn cards_name_the_source_first() {
        let cases = [
            ("---\nlicense: x\nlanguage: [\"en\",\"de\"]\ntags: []\n---\n# Title\n", Some("en-de")),
            ("---\r\nlanguage: [en, de]\r\n---\r\n", Some("en-de")),
            ("---\nlanguage:\n- de\n- en\nlicense: x\n---\n", Some("de-en")),
            ("---\nlanguage:\n  - 'de'\n  - en\n---\n", Some("de-en")),
            // One language, or three, say nothing of a direction.
            ("---\nlanguage: en\n---\n", None),
            ("---\nlanguage: [en, de, fr]\n---\n", None),
            ("---\nlanguage: [en, \"d e\"]\n---\n", None),
            ("---\nlanguage: [en, de\n---\n", None),
            ("---\ntags: []\n---\nlanguage: [en, de]\n", None),
            ("# Title\nlanguage: [en, de]\n", None),
            ("", None),
        ];
        for (card, expected) in cases {
            let found = Languages::of_card(card);
            let pair = found.as_ref().and_then(Languages::pair);
            let pair = pair.map(|(source, target)| format!("{source}-{target}"));
            assert_eq!(pair.as_deref(), expected, "{card:?}");
        }
    }
}
