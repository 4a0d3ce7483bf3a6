//! Writes an untrained model: `random_model DIRECTORY [causal|parallel] [tied|untied]`.
//!
//! `reference/model/t5_logits.py DIRECTORY` then tells what Hugging Face transformers makes of
//! the causal one.

use std::error::Error;

use padir_base::random::Seed;
use padir_checkpoint::{DecoderKind, Extras, ModelConfig, Preset, save};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let directory = arguments.first().ok_or("give a directory")?;
    let given = |word: &str| arguments.iter().any(|argument| argument == word);
    let kind = if given("parallel") { DecoderKind::Parallel } else { DecoderKind::Causal };
    let mut config = ModelConfig::preset(Preset::Tiny, 60, kind);
    config.tie_word_embeddings = !given("untied");
    let mut weights = config.initial(Seed(7));
    // Parameters are asked for in the order in which they are drawn.
    save(directory, &config, |_| weights.next().map(|(_, w)| w.into()), &Extras::default())?;
    Ok(())
}
