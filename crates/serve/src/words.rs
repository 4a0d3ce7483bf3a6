//! Words of a translation that stand fixed.
//!
//! A vocabulary does not join what white space separates, so that the tokens of a text are those of its words, one word after the other.

use padir_base::TokenId;
use padir_decode::padir::Template;
use serde::Deserialize;
use utoipa::ToSchema;

use crate::catalogue::Model;
use crate::error::Refusal;

/// A translation to start from, and the words of it that every step keeps.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Force {
    /// The translation of the sentence, with the words that are wanted.
    #[schema(example = "Meine Schwester lernt seit zwei Jahren Klavier.")]
    pub(crate) text: String,
    /// The numbers of the words that stand fixed, from 0; words are separated by white space.
    pub(crate) words: Vec<usize>,
}

impl Force {
    /// The tokens to start from.
    pub(crate) fn template(&self, model: &Model) -> Result<Template, Refusal> {
        let words: Vec<&str> = self.text.split_whitespace().collect();
        if let Some(&beyond) = self.words.iter().find(|&&word| word >= words.len()) {
            let count = words.len();
            return Err(Refusal::Invalid(format!(
                "`force.words` has {beyond}; `force.text` has {count} words, counted from 0"
            )));
        }
        let mut template = Template::new();
        let mut encoder = model.vocabulary.encoder();
        let mut ids: Vec<TokenId> = Vec::new();
        for (at, word) in words.iter().enumerate() {
            encoder.encode_into(word, &mut ids);
            let forced = self.words.contains(&at);
            if forced && ids.contains(&model.vocabulary.unknown()) {
                return Err(Refusal::Invalid(format!(
                    "the model cannot spell {word:?}: its vocabulary lacks a character"
                )));
            }
            template.extend(ids.iter().copied(), forced);
        }
        Ok(template)
    }
}
