//! Words of a translation that stand fixed.
//!
//! A vocabulary does not join what white space separates, so that the tokens of a text are those of its words, one word after the other.

use padir_base::TokenId;
use padir_decode::padir::Template;
use padir_text::vocab::Vocabulary;

use crate::error::TranslateError;

/// A translation to start from, of words and whether each stands fixed.
///
/// # Errors
/// If a fixed word has a character that the vocabulary lacks.
pub fn template_of<'t>(
    vocabulary: &Vocabulary,
    words: impl IntoIterator<Item = (&'t str, bool)>,
) -> Result<Template, TranslateError> {
    let mut template = Template::new();
    let mut encoder = vocabulary.encoder();
    let mut ids: Vec<TokenId> = Vec::new();
    for (word, forced) in words {
        encoder.encode_into(word, &mut ids);
        if forced && ids.contains(&vocabulary.unknown()) {
            return Err(TranslateError::Unspellable(word.to_owned()));
        }
        template.extend(ids.iter().copied(), forced);
    }
    Ok(template)
}
