//! Words of a translation that stand fixed, as clients name them.

use padir_decode::padir::Template;
use padir_translate::template_of;
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
        let words = words.iter().enumerate().map(|(at, word)| (*word, self.words.contains(&at)));
        template_of(&model.vocabulary, words).map_err(|error| Refusal::from(&error))
    }
}
