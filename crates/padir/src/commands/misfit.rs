//! What is said of a tokeniser that does not fit the text it cuts.

use padir_score::{Script, Tokenizer};

use crate::console::Console;

/// Says if BLEU would compare something else than words.
pub(crate) fn note_misfit<'a>(
    console: &Console,
    name: &str,
    lines: impl IntoIterator<Item = &'a str>,
    tokenizer: Tokenizer,
) {
    if let Some(misfit) = Script::of(lines).misfit(tokenizer) {
        console.note(format_args!(
            "note: {name}: {misfit}; --tokenize zh is for Chinese, char for any script, 13a for words between spaces"
        ));
    }
}
