//! The manual of all decoding settings. Tests compare it with the schema: every key, default, rule and old name is in it.

/// Every decoding setting of every method, with default, range and meaning, as Markdown.
pub const MANUAL: &str = include_str!("manual.md");

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::*;
    use crate::decoding::change::{RENAMED, object};
    use crate::decoding::{Abilities, Decoding, Method};

    /// The part of the manual between this heading and the next.
    fn section(heading: &str) -> &'static str {
        let start = MANUAL.find(&format!("\n## {heading}\n"));
        let text = &MANUAL[start.unwrap_or_else(|| panic!("no section {heading}")) + 4..];
        text.find("\n## ").map_or(text, |end| &text[..end])
    }

    /// The first two columns of the tables of a section: keys and defaults.
    fn rows(section: &str) -> Vec<(&str, &str)> {
        let cells = section.lines().filter_map(|line| {
            let mut cells = line.strip_prefix("| `")?.split(" | ");
            Some((cells.next()?.trim_end_matches('`'), cells.next()?.trim_matches('`')))
        });
        cells.collect()
    }

    fn defaults(method: Method) -> Map<String, Value> {
        let model = Abilities { order: method.order(), ..Abilities::parallel() };
        object(&Decoding::of(method, &model))
    }

    /// All keys with their defaults as they are typed. A rule is listed as a whole and by its name, another table by its keys.
    fn flattened(settings: &Map<String, Value>) -> Vec<(String, String)> {
        let typed = |value: &Value| value.as_str().map_or(value.to_string(), str::to_owned);
        let mut all = Vec::new();
        for (key, value) in settings.iter().filter(|(key, _)| *key != "method") {
            match value {
                Value::Object(inner) if inner.contains_key("rule") => {
                    all.push((key.clone(), value.to_string()));
                    all.push((format!("{key}.rule"), typed(&inner["rule"])));
                }
                Value::Object(inner) => {
                    all.extend(inner.iter().map(|(k, v)| (format!("{key}.{k}"), typed(v))));
                }
                _ => all.push((key.clone(), typed(value))),
            }
        }
        all
    }

    /// The names between backticks that follow "expected" in an error of serde's.
    fn expected_names(error: &str) -> Vec<String> {
        let list = error.split_once("expected").map_or("", |(_, list)| list);
        list.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    }

    /// What a value of a setting may be, by the error that another value causes.
    fn names(settings: &Map<String, Value>, key: &str, value: Value) -> Vec<String> {
        let mut changed = settings.clone();
        changed.insert(key.to_owned(), value);
        let read = serde_json::from_value::<Decoding>(Value::Object(changed));
        read.map_or_else(|error| expected_names(&error.to_string()), |_| Vec::new())
    }

    #[test]
    fn every_key_of_every_method_stands_there_with_its_default() {
        for method in Method::ALL {
            let settings = defaults(method);
            let mut found: Vec<_> = rows(section(&format!("`{method}`")));
            let mut expected = flattened(&settings);
            found.sort_unstable();
            expected.sort_unstable();
            let found: Vec<_> =
                found.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
            assert_eq!(found, expected, "{method}");
        }
    }

    #[test]
    fn every_choice_and_its_numbers_stand_there() {
        let old = self::section("Renamed keys");
        let mut choices = 0;
        for method in Method::ALL {
            let (settings, section) = (defaults(method), section(&format!("`{method}`")));
            // An old name of a rule stands at the end.
            let says = |word: &str| {
                let there = section.contains(&format!("`{word}`"));
                assert!(there || old.contains(&format!("={word}` |")), "{method} lacks {word}");
            };
            for (key, value) in settings.iter().filter(|(key, _)| *key != "method") {
                if value.is_string() {
                    for name in names(&settings, key, "?".into()) {
                        says(&name);
                        choices += 1;
                    }
                } else if value.get("rule").is_some() {
                    for rule in names(&settings, key, serde_json::json!({"rule": "?"})) {
                        says(&rule);
                        choices += 1;
                        let odd = serde_json::json!({"rule": rule, "?": 0});
                        for field in names(&settings, key, odd) {
                            says(&format!("{key}.{field}"));
                            choices += 1;
                        }
                    }
                }
            }
        }
        // If serde's errors read differently one day, nothing would be checked.
        assert!(choices >= 30, "only {choices} choices were found");
    }

    #[test]
    fn methods_and_old_names_stand_there() {
        for method in Method::ALL {
            assert!(MANUAL.contains(&format!("| `{method}` | ")), "{method}");
        }
        let found = rows(section("Renamed keys"));
        for pair in RENAMED {
            let there = found.iter().any(|(old, new)| (*old, new.trim_end_matches("` |")) == pair);
            assert!(there, "{pair:?} is not in {found:?}");
        }
    }
}
