//! What placeholders stand for: `{data.…}` are paths, `{values.…}` numbers and words.

use std::collections::BTreeMap;
use std::path::Path;

use super::faults::Faults;
use super::source::{At, Source, place};
use super::template::{Text, fill};

/// What placeholders stand for.
pub(super) struct Names(BTreeMap<String, Text>);

impl Names {
    pub(super) fn of(source: &Source, faults: &mut Faults) -> Self {
        let mut names = BTreeMap::new();
        for (key, value) in &source.values {
            names.insert(format!("values.{}", key.get_ref()), Text::plain(&value.0));
        }
        let mut open: Vec<(&At<String>, &At<String>)> = source.data.iter().collect();
        // Paths may be made of other paths: as long as one more is known each time, go on.
        loop {
            let before = open.len();
            open.retain(|(key, value)| {
                let Ok(path) = fill(value.get_ref(), |name| names.get(name).cloned()) else {
                    return true;
                };
                let name = format!("data.{}", key.get_ref());
                let full = match std::path::absolute(&path.full) {
                    Ok(path) => path.display().to_string(),
                    Err(_) => path.full,
                };
                names.insert(name.clone(), Text { full, shown: format!("{{{name}}}") });
                false
            });
            if open.is_empty() || open.len() == before {
                break;
            }
        }
        for (key, value) in open {
            let unknown = fill(value.get_ref(), |name| names.get(name).cloned());
            let unknown = unknown.err().unwrap_or_default().join("}, {");
            faults.at(
                place(value),
                format!("`data.{}` is made of {{{unknown}}}, which is not known", key.get_ref()),
            );
            names.insert(format!("data.{}", key.get_ref()), Text::plain(value.get_ref()));
        }
        Self(names)
    }

    /// Fills a text in, or says what is unknown in it. `more` are names of a combination.
    pub(super) fn fill(
        &self,
        text: &At<String>,
        more: &[(String, String)],
        faults: &mut Faults,
    ) -> Text {
        let meaning = |name: &str| {
            let own = more.iter().find(|(key, _)| key == name).map(|(_, value)| value);
            own.map(Text::plain).or_else(|| self.0.get(name).cloned())
        };
        fill(text.get_ref(), meaning).unwrap_or_else(|unknown| {
            let own = more.iter().map(|(key, _)| key.as_str());
            let known: Vec<&str> = own.chain(self.0.keys().map(String::as_str)).collect();
            let known = match known.len() {
                0 => "no names are defined".to_owned(),
                _ => format!("there are {}", known.join(", ")),
            };
            faults.at(place(text), format!("{{{}}} is not known; {known}", unknown.join("}, {")));
            Text::plain(text.get_ref())
        })
    }

    /// A path with its beginning called by the longest name of data that it has: `{data.root}/train.en`, or `{data.train}.en` if no
    /// directory is data.
    pub(super) fn call(&self, path: &str) -> Text {
        // Nothing would be the beginning of everything.
        let is_path =
            |(name, data): &(&String, &Text)| name.starts_with("data.") && !data.full.is_empty();
        let data = || self.0.iter().filter(is_path);
        let below = data().filter_map(|(_, data)| {
            let rest = Path::new(path).strip_prefix(&data.full).ok()?.display().to_string();
            let bar = if rest.is_empty() { "" } else { "/" };
            Some((rest.len(), format!("{}{bar}{rest}", data.shown)))
        });
        let longer = data().filter_map(|(_, data)| {
            let rest = path.strip_prefix(&data.full)?;
            Some((rest.len(), format!("{}{rest}", data.shown)))
        });
        let called = below.min().or_else(|| longer.min());
        called.map_or_else(|| Text::plain(path), |(_, shown)| Text { full: path.to_owned(), shown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_called_by_the_longest_name() {
        let names = [
            ("data.none", ""),
            ("data.root", "/d"),
            ("data.train", "/d/train"),
            ("data.other", "/e/train"),
        ];
        let name = |(name, full): (&str, &str)| {
            (name.to_owned(), Text { full: full.to_owned(), shown: format!("{{{name}}}") })
        };
        let names = Names(names.into_iter().map(name).collect());
        let cases = [
            ("/d/train", "{data.train}"),
            ("/d/train/en", "{data.train}/en"),
            ("/d/train.en", "{data.root}/train.en"),
            ("/e/train.en", "{data.other}.en"),
            ("/e/tr", "/e/tr"),
            ("vocab", "vocab"),
        ];
        for (path, expected) in cases {
            assert_eq!(names.call(path).shown, expected);
        }
    }
}
