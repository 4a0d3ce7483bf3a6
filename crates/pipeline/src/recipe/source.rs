//! A recipe as it is written: TOML with positions, and `--set` that changes it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Deserializer, de};
use toml::Spanned;

use super::faults::{Faults, Place};

/// Something with its position.
pub(super) type At<T> = Spanned<T>;

/// The file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Source {
    /// Where everything goes; relative to the working directory.
    pub(super) dir: String,
    /// Where data can be had.
    pub(super) needs_data: Option<At<String>>,
    /// Names of paths; relative to the working directory.
    #[serde(default)]
    pub(super) data: BTreeMap<At<String>, At<String>>,
    /// Names of numbers and words.
    #[serde(default)]
    pub(super) values: BTreeMap<At<String>, Scalar>,
    /// Files that stages read, with what is in them.
    #[serde(default)]
    pub(super) files: BTreeMap<At<String>, At<String>>,
    /// What is to be done.
    #[serde(default)]
    pub(super) stage: Vec<SourceStage>,
}

/// `[[stage]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceStage {
    pub(super) name: At<String>,
    /// The stage is repeated for all combinations of these.
    #[serde(default)]
    pub(super) each: BTreeMap<At<String>, Vec<Scalar>>,
    /// What a user would type after `padir`.
    pub(super) run: At<Vec<At<String>>>,
    /// The file that receives what the command prints.
    pub(super) stdout: Option<At<String>>,
    /// What is read, besides what the command line names.
    #[serde(default)]
    pub(super) inputs: Vec<At<String>>,
    /// What is made.
    #[serde(default)]
    pub(super) outputs: Vec<At<String>>,
    /// What else the stage writes: kept to go on with, moved away when it begins anew.
    #[serde(default)]
    pub(super) work: Vec<At<String>>,
}

/// A number or a word, as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scalar(pub(super) String);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor)
    }
}

struct ScalarVisitor;

impl de::Visitor<'_> for ScalarVisitor {
    type Value = Scalar;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number or a word")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Scalar, E> {
        Ok(Scalar(text.to_owned()))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<Scalar, E> {
        Ok(Scalar(number.to_string()))
    }

    fn visit_bool<E: de::Error>(self, switch: bool) -> Result<Scalar, E> {
        Ok(Scalar(switch.to_string()))
    }
}

/// Where something stands.
pub(super) fn place<T>(spanned: &At<T>) -> Place {
    Place(spanned.span().start)
}

impl Source {
    /// Reads a recipe. What is not TOML, or not a recipe, is the only fault then.
    pub(super) fn parse(text: &str, flags: &[String], faults: &mut Faults) -> Option<Self> {
        match toml::from_str::<Self>(text) {
            Ok(mut source) => {
                for flag in flags {
                    if let Err(message) = source.set(flag) {
                        faults.in_flag(flag, message);
                    }
                }
                Some(source)
            }
            Err(error) => {
                let start = error.span().map_or(0, |span| span.start);
                faults.at(Place(start), error.message());
                None
            }
        }
    }

    /// Applies `a.b=c`.
    fn set(&mut self, flag: &str) -> Result<(), String> {
        let (key, value) = flag.split_once('=').ok_or("there is no `=` between key and value")?;
        let (key, value) = (key.trim(), value.trim().to_owned());
        if key == "dir" {
            self.dir = value;
            return Ok(());
        }
        match key.split_once('.') {
            Some(("data", name)) => {
                let known = names(self.data.keys());
                let old = self.data.get_mut(name).ok_or_else(|| unknown("data", &known))?;
                *old.as_mut() = value;
            }
            Some(("values", name)) => {
                let known = names(self.values.keys());
                let old = self.values.get_mut(name).ok_or_else(|| unknown("values", &known))?;
                *old = Scalar(value);
            }
            _ => return Err("what can be set is `dir`, `data.…` and `values.…`".to_owned()),
        }
        Ok(())
    }
}

fn names<'a>(keys: impl Iterator<Item = &'a At<String>>) -> String {
    keys.map(|key| key.get_ref().as_str()).collect::<Vec<_>>().join(", ")
}

fn unknown(table: &str, known: &str) -> String {
    if known.is_empty() {
        format!("there is no [{table}] in the recipe")
    } else {
        format!("[{table}] has no such name; it has {known}")
    }
}
