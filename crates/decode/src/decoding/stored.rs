//! Decoding settings in a model's `generation_config.json`.
//!
//! Keys that `transformers` knows stand at the top and are called as there: `max_length`, and for beam search `num_beams` and
//! `length_penalty`. All others stand under `padir` with the `method`. One of the shared keys has another meaning: our
//! `length_penalty` is the α of score / ((5 + n)/6)^α (Wu et al. 2016), theirs divides by n^α.
//!
//! Files written before there was a `method` are read: what stands under `padir` is then refinement.

use serde_json::{Map, Value};

use super::change::object;
use super::{Abilities, Decoding, Method};
use crate::settings::SettingsError;

/// Our own part of the file.
const OURS: &str = "padir";
/// Keys at the top for every method.
const SHARED: &[&str] = &["max_length"];
/// Keys at the top for beam search.
const BEAM: &[&str] = &["max_length", "num_beams", "length_penalty"];

/// The keys of a method that stand at the top.
fn top_keys(method: Method) -> &'static [&'static str] {
    if method == Method::Beam { BEAM } else { SHARED }
}

/// Reads the settings of a file. Missing keys have the defaults of the model; foreign keys at the top are passed over.
///
/// # Errors
/// If a key under `padir` is unknown, a value is wrong, or the settings do not fit the model.
pub fn read(file: &Map<String, Value>, model: &Abilities) -> Result<Decoding, SettingsError> {
    let mut changes = match file.get(OURS) {
        None => Map::new(),
        Some(Value::Object(ours)) => ours.clone(),
        Some(other) => {
            let reason = format!("it is {other}, not an object");
            return Err(SettingsError::Value { key: OURS.to_owned(), reason });
        }
    };
    let method = match changes.get("method").and_then(Value::as_str) {
        Some(name) => name.parse()?,
        None => model.default_method(),
    };
    for &key in top_keys(method) {
        if let (Some(value), false) = (file.get(key), changes.contains_key(key)) {
            changes.insert(key.to_owned(), value.clone());
        }
    }
    let decoding = Decoding::of(method, model).with(&changes, model)?;
    decoding.check_for(model)?;
    Ok(decoding)
}

/// Writes the settings into a file.
pub fn write(decoding: &Decoding, file: &mut Map<String, Value>) {
    let mut ours = object(decoding);
    for &key in top_keys(decoding.method()) {
        if let Some(value) = ours.remove(key) {
            file.insert(key.to_owned(), value);
        }
    }
    file.insert(OURS.to_owned(), Value::Object(ours));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autoregression::{Beam, Sample};
    use crate::mask_predict::MaskPredict;
    use crate::padir::{Initial, Prune, RemaskRule, Settings};

    fn parse(text: &str, model: &Abilities) -> Result<Decoding, SettingsError> {
        read(&serde_json::from_str(text).unwrap(), model)
    }

    fn able() -> Abilities {
        Abilities { mask: true, confidence_head: true, ..Abilities::parallel() }
    }

    #[test]
    fn what_is_written_is_read() {
        let refine = Settings {
            steps: 7,
            remask: RemaskRule::Confidence { below: 0.3 },
            prune: Prune::Keep { most: 2 },
            length_penalty: Some(2.5),
            max_length: 99,
            ..Settings::default()
        };
        let causal = Abilities::autoregressive();
        let cases = [
            (Decoding::Refine(Box::new(refine)), able()),
            (Decoding::MaskPredict(MaskPredict { steps: 4, ..MaskPredict::default() }), able()),
            (Decoding::Beam(Beam { groups: 5, max_length: 77, ..Beam::default() }), causal),
            (Decoding::Sample(Sample { samples: 3, ..Sample::default() }), causal),
        ];
        for (decoding, model) in cases {
            let mut file = Map::new();
            write(&decoding, &mut file);
            assert_eq!(file["max_length"], decoding.max_length());
            assert_eq!(file.contains_key("num_beams"), decoding.method() == Method::Beam);
            assert_eq!(read(&file, &model), Ok(decoding));
        }
    }

    #[test]
    fn files_without_a_method_are_read() {
        let refine = r#"{"max_length": 64, "eos_token_id": 1, "padir": {"steps": 3, "initial": "mask",
            "rejecter": {"rule": "learned", "below": 0.2}, "length_weight": 0.2}}"#;
        let expected = Settings {
            max_length: 64,
            steps: 3,
            initial: Initial::Mask,
            remask: RemaskRule::Confidence { below: 0.2 },
            length_weight: 0.2,
            ..Settings::default()
        };
        assert_eq!(parse(refine, &able()), Ok(Decoding::Refine(Box::new(expected))));
        let beam = r#"{"num_beams": 2, "length_penalty": 1.5, "transformers_version": "5"}"#;
        let expected = Beam { num_beams: 2, length_penalty: 1.5, ..Beam::default() };
        assert_eq!(parse(beam, &Abilities::autoregressive()), Ok(Decoding::Beam(expected)));
        let model = Abilities { initial: Initial::Mask, max_length: Some(50), ..able() };
        assert_eq!(parse("{}", &model), Ok(Decoding::default_for(&model)));
    }

    #[test]
    fn faults_are_told_as_everywhere() {
        let cases = [
            (r#"{"padir": 3}"#, "`padir`: it is 3, not an object"),
            (r#"{"padir": {"stepps": 3}}"#, "refine has no setting `stepps`; is `steps` meant?"),
            (r#"{"padir": {"steps": 0}}"#, "`steps` is 0; it must be from 1 to 10000"),
            (r#"{"padir": {"method": "beam"}}"#, "beam needs an autoregressive model"),
            (r#"{"max_length": -1}"#, "`max_length=-1`: invalid value: integer `-1`"),
        ];
        for (text, expected) in cases {
            let error = parse(text, &able()).expect_err(text).to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
