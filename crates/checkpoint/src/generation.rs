//! `generation_config.json`: how a model decodes unless told otherwise.
//!
//! This crate keeps the file. What its keys mean, which are allowed and what they default to is known to whoever decodes:
//! `padir_decode::decoding::stored` reads and writes them. Ids of special tokens are added here, where `transformers` looks for them.

use serde_json::{Map, Value, json};

use crate::config::{ConfigError, ModelConfig};

/// The content of a `generation_config.json`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenerationConfig {
    keys: Map<String, Value>,
}

impl GenerationConfig {
    /// Reads the content of a file.
    ///
    /// # Errors
    /// If it is no JSON object.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        match serde_json::from_str(text) {
            Ok(Value::Object(keys)) => Ok(Self { keys }),
            Ok(other) => {
                let mut found = other.to_string();
                found.truncate(found.floor_char_boundary(60));
                let (key, wanted) = ("the file".to_owned(), "an object".to_owned());
                Err(ConfigError::Value { key, found, wanted })
            }
            Err(error) => Err(ConfigError::Syntax(error.to_string())),
        }
    }

    /// All keys.
    pub fn keys(&self) -> &Map<String, Value> {
        &self.keys
    }

    /// The content of the file of a model, with the ids of its special tokens.
    pub fn to_json(&self, config: &ModelConfig) -> String {
        let mut keys = self.keys.clone();
        keys.insert("pad_token_id".to_owned(), json!(config.symbols.pad));
        keys.insert("eos_token_id".to_owned(), json!(config.symbols.eos));
        // transformers looks for it here and not in config.json.
        keys.insert("decoder_start_token_id".to_owned(), json!(config.symbols.start));
        format!("{:#}\n", Value::Object(keys))
    }
}

impl From<Map<String, Value>> for GenerationConfig {
    fn from(keys: Map<String, Value>) -> Self {
        Self { keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{DecoderKind, Preset};

    #[test]
    fn keys_are_kept_and_ids_are_added() {
        let config = ModelConfig::preset(Preset::Tiny, 300, DecoderKind::Causal);
        let text = r#"{"num_beams": 3, "padir": {"method": "beam"}, "eos_token_id": 99}"#;
        let file = GenerationConfig::from_json(text).unwrap();
        let again = GenerationConfig::from_json(&file.to_json(&config)).unwrap();
        assert_eq!(again.keys()["num_beams"], 3);
        assert_eq!(again.keys()["padir"]["method"], "beam");
        assert_eq!(again.keys()["eos_token_id"], 1);
        assert_eq!(again.keys()["decoder_start_token_id"], 0);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        let long = format!("[{}]", "\"é\",".repeat(100) + "1");
        for text in ["", "{", "3", &long] {
            assert!(GenerationConfig::from_json(text).is_err(), "{text}");
        }
    }
}
