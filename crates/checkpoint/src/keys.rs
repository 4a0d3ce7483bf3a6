//! Reading a JSON object key by key, so that every complaint names its key.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::config::ConfigError;

/// Longest excerpt of a value in a message.
const EXCERPT: usize = 60;

/// The keys of an object that are still unread.
pub(crate) struct Keys {
    /// `""` at the top, `"padir."` within it.
    prefix: &'static str,
    unread: Map<String, Value>,
}

impl Keys {
    pub(crate) fn of(prefix: &'static str, value: Value) -> Result<Self, ConfigError> {
        match value {
            Value::Object(unread) => Ok(Self { prefix, unread }),
            other => Err(ConfigError::Value {
                key: prefix.trim_end_matches('.').to_owned(),
                found: excerpt(&other),
                wanted: "an object".to_owned(),
            }),
        }
    }

    /// Whether an unread value is this text.
    pub(crate) fn says(&self, key: &str, text: &str) -> bool {
        self.unread.get(key).and_then(Value::as_str) == Some(text)
    }

    /// A value that must be there.
    pub(crate) fn take<T: DeserializeOwned>(
        &mut self,
        key: &str,
        wanted: &str,
    ) -> Result<T, ConfigError> {
        match self.unread.remove(key) {
            Some(value) => self.read(key, &value, wanted),
            None => Err(ConfigError::Missing { key: self.name(key) }),
        }
    }

    /// A value that may be missing or null.
    pub(crate) fn optional<T: DeserializeOwned>(
        &mut self,
        key: &str,
        wanted: &str,
    ) -> Result<Option<T>, ConfigError> {
        match self.unread.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => self.read(key, &value, wanted).map(Some),
        }
    }

    /// A value that has a default.
    pub(crate) fn or<T: DeserializeOwned>(
        &mut self,
        key: &str,
        wanted: &str,
        default: T,
    ) -> Result<T, ConfigError> {
        Ok(self.optional(key, wanted)?.unwrap_or(default))
    }

    /// A value of which only one is understood.
    pub(crate) fn only<T>(&mut self, key: &str, wanted: &str, value: &T) -> Result<(), ConfigError>
    where
        T: DeserializeOwned + PartialEq + serde::Serialize,
    {
        match self.unread.get(key).cloned() {
            Some(found) if !found.is_null() => {
                if self.take::<T>(key, wanted)? == *value {
                    Ok(())
                } else {
                    Err(self.wrong(key, &found, wanted))
                }
            }
            _ => Ok(()),
        }
    }

    /// An object within this one.
    pub(crate) fn object(
        &mut self,
        key: &str,
        prefix: &'static str,
    ) -> Result<Option<Self>, ConfigError> {
        match self.unread.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => Self::of(prefix, value).map(Some),
        }
    }

    /// All keys have been read.
    pub(crate) fn finish(self) -> Result<(), ConfigError> {
        match self.unread.keys().next() {
            None => Ok(()),
            Some(key) => Err(ConfigError::Unknown { key: self.name(key) }),
        }
    }

    pub(crate) fn wrong(&self, key: &str, found: &Value, wanted: &str) -> ConfigError {
        let (key, found) = (self.name(key), excerpt(found));
        ConfigError::Value { key, found, wanted: wanted.to_owned() }
    }

    fn read<T: DeserializeOwned>(
        &self,
        key: &str,
        value: &Value,
        wanted: &str,
    ) -> Result<T, ConfigError> {
        serde_json::from_value(value.clone()).map_err(|_| self.wrong(key, value, wanted))
    }

    fn name(&self, key: &str) -> String {
        let key: String = key.chars().take(EXCERPT).collect();
        format!("{}{key}", self.prefix)
    }
}

fn excerpt(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= EXCERPT {
        return text;
    }
    text.chars().take(EXCERPT).chain(std::iter::once('…')).collect()
}
