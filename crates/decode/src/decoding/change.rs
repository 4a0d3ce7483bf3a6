//! Changing settings by their keys.
//!
//! A change is a JSON object, `{"steps": 2, "stop": {"rule": "confident", "min_log_prob": -0.1}}`: a table of a configuration file is one,
//! and assignments like `stop.rule=confident` are put together to one. A value with a `rule` replaces the old value, since
//! another rule has other numbers; other objects are merged key by key.

use serde_json::{Map, Value};

use super::{Abilities, Decoding, Method};
use crate::settings::SettingsError;

/// Keys that have been renamed, old and new.
pub(super) const RENAMED: [(&str, &str); 4] = [
    ("draft_steps", "low_precision_steps"),
    ("enough", "early_exit"),
    ("rejecter", "remask"),
    ("halt", "stop"),
];

/// The key that a setting has today, if it was renamed.
pub fn renamed(key: &str) -> Option<&'static str> {
    RENAMED.iter().find(|(old, _)| *old == key).map(|(_, new)| *new)
}

/// Puts assignments of the form key=value together, later ones over earlier ones. Dots in keys lead into objects; a value that is
/// not JSON is a string.
///
/// # Errors
/// If one of them has another form.
pub fn parse_assignments(
    assignments: &[impl AsRef<str>],
) -> Result<Map<String, Value>, SettingsError> {
    let mut changes = Map::new();
    for assignment in assignments.iter().map(AsRef::as_ref) {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| SettingsError::NotAnAssignment(assignment.to_owned()))?;
        let value = value.trim();
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        insert(&mut changes, key.trim(), value);
    }
    Ok(changes)
}

/// Puts a value where a dotted key points to. What stands in its way is replaced.
fn insert(changes: &mut Map<String, Value>, key: &str, value: Value) {
    let Some((table, rest)) = key.split_once('.') else {
        changes.insert(key.to_owned(), value);
        return;
    };
    let entry = changes.entry(table).or_insert(Value::Null);
    // A rule is named first and given its numbers then.
    if !entry.is_object() || rest == "rule" {
        *entry = Value::Object(Map::new());
    }
    if let Value::Object(inner) = entry {
        insert(inner, rest, value);
    }
}

impl Decoding {
    /// The same with some settings changed. A change of `method` begins with the defaults of that method.
    ///
    /// # Errors
    /// If there is no such setting, or not with such a value. Whether the settings make sense together is for
    /// [`Decoding::check_for`] to say.
    pub fn with(
        &self,
        changes: &Map<String, Value>,
        model: &Abilities,
    ) -> Result<Self, SettingsError> {
        let method = match changes.get("method") {
            None => self.method(),
            Some(Value::String(name)) => name.parse()?,
            Some(other) => return Err(SettingsError::UnknownMethod { name: other.to_string() }),
        };
        let mut settings =
            if method == self.method() { object(self) } else { object(&Self::of(method, model)) };
        for (key, value) in changes {
            let key = renamed(key).unwrap_or(key);
            let Some(place) = settings.get_mut(key) else {
                return Err(unknown(key, method, &settings));
            };
            let old = std::mem::replace(place, merged(place.clone(), value));
            // One at a time, so that a fault is told by its key.
            if let Err(fault) = serde_json::from_value::<Self>(Value::Object(settings.clone())) {
                let changed = settings.get(key).unwrap_or(&old);
                return Err(SettingsError::Value {
                    key: format!("{key}={changed}"),
                    reason: fault.to_string(),
                });
            }
        }
        let settings = Value::Object(settings);
        serde_json::from_value(settings).map_err(|fault| SettingsError::Value {
            key: method.name().to_owned(),
            reason: fault.to_string(),
        })
    }

    /// [`Decoding::with`] for assignments.
    ///
    /// # Errors
    /// As there, or if an assignment is none.
    pub fn with_assignments(
        &self,
        assignments: &[impl AsRef<str>],
        model: &Abilities,
    ) -> Result<Self, SettingsError> {
        self.with(&parse_assignments(assignments)?, model)
    }
}

/// All settings with their keys, `method` among them.
pub(super) fn object(decoding: &Decoding) -> Map<String, Value> {
    match serde_json::to_value(decoding) {
        Ok(Value::Object(settings)) => settings,
        // A struct of plain values is an object.
        _ => Map::new(),
    }
}

/// The value that a change makes of another one.
fn merged(old: Value, change: &Value) -> Value {
    match (old, change) {
        (Value::Object(mut old), Value::Object(new)) if !new.contains_key("rule") => {
            for (key, value) in new {
                let before = old.remove(key).unwrap_or(Value::Null);
                old.insert(key.clone(), merged(before, value));
            }
            Value::Object(old)
        }
        (_, new) => new.clone(),
    }
}

/// What is wrong with a key that a method does not have.
fn unknown(key: &str, method: Method, settings: &Map<String, Value>) -> SettingsError {
    let has = |other: &Method| {
        let model = Abilities { order: other.order(), ..Abilities::parallel() };
        object(&Decoding::of(*other, &model)).contains_key(key)
    };
    let owner = Method::ALL.into_iter().filter(|other| *other != method).find(has);
    let closest = settings.keys().map(|known| (distance(known, key), known)).min();
    // Half of the letters may be wrong.
    let close = closest.filter(|(distance, known)| 2 * distance <= known.len().max(key.len()));
    let suggestion = close.map(|(_, known)| known.clone());
    SettingsError::Unknown { key: key.to_owned(), method, suggestion, owner }
}

/// The Levenshtein distance, O(|a|·|b|).
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.chars().enumerate() {
            let substituted = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::autoregression::Beam;
    use crate::padir::{RemaskRule, Settings, StopRule};

    fn changed(changes: &[&str]) -> Result<Decoding, SettingsError> {
        let model = Abilities::parallel();
        Decoding::default_for(&model).with_assignments(changes, &model)
    }

    fn refined(changes: &[&str]) -> Settings {
        changed(changes).unwrap().refinement().unwrap()
    }

    #[test]
    fn settings_are_changed_by_key() {
        let settings =
            refined(&["steps=2", "stop.rule=confident", "stop.min_log_prob=-0.1", "top_k=4"]);
        assert_eq!(settings.steps, 2);
        assert_eq!(settings.stop, StopRule::Confident { min_log_prob: -0.1 });
        assert_eq!(settings.top_k, Some(4));
        let law = refined(&["remask.rule=law", "remask.law.law=rate", "remask.law.rate=0.5"]);
        assert!(matches!(law.remask, RemaskRule::Law { .. }), "{law:?}");
        let model = Abilities::autoregressive();
        let beam = Decoding::default_for(&model).with_assignments(&["num_beams=3"], &model);
        assert_eq!(beam, Ok(Decoding::Beam(Beam { num_beams: 3, ..Beam::default() })));
    }

    #[test]
    fn old_keys_are_still_read() {
        let old =
            refined(&["draft_steps=1", "enough=-0.1", "rejecter.rule=learned", "halt.rule=never"]);
        let new = refined(&[
            "low_precision_steps=1",
            "early_exit=-0.1",
            "remask.rule=confidence",
            "stop.rule=never",
        ]);
        assert_eq!(old, new);
    }

    #[test]
    fn another_method_begins_with_its_defaults() {
        let decoding = changed(&["method=mask-predict", "steps=4"]).unwrap();
        assert_eq!(decoding.method(), Method::MaskPredict);
        let settings = decoding.refinement().unwrap();
        assert_eq!(settings, Settings::mask_predict(4));
    }

    #[test]
    fn what_cannot_be_set_is_said_in_a_sentence() {
        let cases = [
            ("steps", "`steps` is not of the form key=value"),
            ("stepps=4", "refine has no setting `stepps`; is `steps` meant?"),
            (
                "length_penality=4",
                "refine has no setting `length_penality`; is `length_penalty` meant?",
            ),
            ("num_beams=4", "refine has no setting `num_beams`; it belongs to beam"),
            ("xyzzy=4", "refine has no setting `xyzzy`"),
            ("steps=four", "`steps=\"four\"`: invalid type: string \"four\", expected usize"),
            ("stop.rule=never.x", "`stop={\"rule\":\"never.x\"}`: unknown variant `never.x`"),
            ("method=bean", "there is no decoding method `bean`; there are refine, mask-predict,"),
            ("steps.x=4", "`steps={\"x\":4}`: invalid type: map, expected usize"),
            ("=4", "refine has no setting ``"),
        ];
        for (change, expected) in cases {
            let error = changed(&[change]).expect_err(change).to_string();
            assert!(error.starts_with(expected), "{change}: {error}");
        }
    }

    #[test]
    fn distances_are_levenshteins() {
        let cases = [("", "", 0), ("abc", "", 3), ("", "ab", 2), ("kitten", "sitting", 3)];
        for (a, b, expected) in cases {
            assert_eq!(distance(a, b), expected, "{a} {b}");
        }
    }
}
