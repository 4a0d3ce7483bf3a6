//! `[run.decode]`: how dev sets are translated, and how the trained model decodes unless told otherwise.
//!
//! Besides `lines` and `tokenize`, its keys are those of the decoder: the same names, defaults and checks as in `generation_config.json` and
//! behind `--set`. One default differs: beam search is greedy, since dev sets are decoded often.

use padir_checkpoint::GenerationConfig;
use padir_decode::decoding::{renamed, stored};
use padir_decode::{Abilities, Decoding, Order};
use padir_score::Tokenizer;
use serde::Serialize;
use serde_json::{Map, Value};

use super::section::Section;

/// The longest translation of a dev set unless another one is asked for, its end included.
const MAX_LENGTH: usize = 128;

/// `[run.decode]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DecodeConfig {
    /// How many lines of each dev set are translated; 0 means none: only the loss is measured.
    pub lines: u64,
    /// What BLEU counts as words.
    pub tokenize: Tokenizer,
    /// The method and its settings.
    #[serde(flatten)]
    pub decoding: Decoding,
}

impl DecodeConfig {
    pub(super) fn read(mut section: Section<'_>, model: &Abilities) -> Self {
        let lines = section.count("lines", 0..=u64::MAX).unwrap_or(500);
        let names = r#""13a", "intl", "zh", "char" or "none""#;
        let tokenize = section.choice("tokenize", names).unwrap_or_default();
        let mut decoding = usual(model);
        for (key, value) in entries(&mut section, model) {
            let changes = Map::from_iter([(key.clone(), value)]);
            match decoding.with(&changes, model) {
                Ok(changed) => decoding = changed,
                Err(fault) => section.complain(&key, fault),
            }
        }
        if let Err(fault) = decoding.check_for(model) {
            section.complain(fault.key().unwrap_or("method"), &fault);
        }
        section.finish();
        Self { lines, tokenize, decoding }
    }

    /// What travels with a model that decodes like this.
    pub fn generation(&self) -> GenerationConfig {
        let mut keys = Map::new();
        stored::write(&self.decoding, &mut keys);
        keys.into()
    }
}

/// How dev sets are decoded if nothing is said about it.
fn usual(model: &Abilities) -> Decoding {
    let mut decoding = Decoding::default_for(model);
    match &mut decoding {
        Decoding::Beam(beam) => {
            beam.num_beams = 1;
            beam.max_length = MAX_LENGTH;
        }
        Decoding::Refine(how) => how.max_length = how.max_length.min(MAX_LENGTH),
        Decoding::MaskPredict(how) => how.max_length = how.max_length.min(MAX_LENGTH),
        Decoding::EasyFirst(how) => how.max_length = how.max_length.min(MAX_LENGTH),
        Decoding::Sundae(how) => how.max_length = how.max_length.min(MAX_LENGTH),
        Decoding::Gibbs(how) => how.max_length = how.max_length.min(MAX_LENGTH),
        Decoding::Ctc(how) => how.max_length = how.max_length.min(MAX_LENGTH),
        Decoding::Sample(_) => {}
    }
    decoding
}

/// All other keys with their values, the method first, those of older configurations under the names they have today.
fn entries(section: &mut Section<'_>, model: &Abilities) -> Vec<(String, Value)> {
    let mut entries = Vec::new();
    for (key, value) in section.rest() {
        let today = match (key.as_str(), model.order) {
            // Once, keys of both kinds of models stood here, whatever the model.
            ("beam", Order::Autoregressive | Order::Alignment) => "num_beams",
            ("beam", Order::Parallel)
            | ("steps" | "lengths" | "drop_repeats", Order::Autoregressive) => {
                section.note(&key, "it does nothing for this model");
                continue;
            }
            ("drop_repeats", Order::Parallel) => {
                section.note(&key, "it is `remask_stutter` and `drop_unchanged` today");
                entries.push(("drop_unchanged".to_owned(), value.clone()));
                "remask_stutter"
            }
            (other, _) => renamed(other).unwrap_or(other),
        };
        if today != key && key != "drop_repeats" {
            section.note(&key, &format!("it is called `{today}` today"));
        }
        entries.push((today.to_owned(), value));
    }
    entries.sort_by_key(|(key, _)| key != "method");
    entries
}

#[cfg(test)]
mod tests {
    use padir_decode::{Method, SettingsError};

    use super::*;

    #[test]
    fn what_travels_with_a_model_is_read_again() {
        for model in [Abilities::parallel(), Abilities::autoregressive()] {
            let config =
                DecodeConfig { lines: 9, tokenize: Tokenizer::default(), decoding: usual(&model) };
            let file = config.generation();
            assert_eq!(stored::read(file.keys(), &model), Ok(config.decoding));
        }
    }

    #[test]
    fn dev_sets_are_decoded_greedily_or_refined() {
        let Decoding::Beam(beam) = usual(&Abilities::autoregressive()) else { panic!() };
        assert_eq!((beam.num_beams, beam.max_length), (1, 128));
        let model = Abilities { max_length: Some(40), ..Abilities::parallel() };
        assert_eq!(usual(&model).method(), Method::Refine);
        assert_eq!(usual(&model).max_length(), 40);
        let error = SettingsError::NoMask;
        assert_eq!(error.key(), Some("initial"));
    }
}
