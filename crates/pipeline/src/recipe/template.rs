//! Placeholders: `{data.train}` in a text becomes what it stands for. Linear in the text.
//!
//! A placeholder is a name in braces and nothing else, so that braces of TOML and JSON stay what they are; `{{name}}` is `{name}`
//! in the end.

/// A text in two forms: as it is used, and with data called by name, so that moving data changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Text {
    pub(super) full: String,
    pub(super) shown: String,
}

impl Text {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        let full = text.into();
        Self { shown: full.clone(), full }
    }
}

/// Replaces all placeholders, or names those that stand for nothing.
pub(super) fn fill(
    text: &str,
    meaning: impl Fn(&str) -> Option<Text>,
) -> Result<Text, Vec<String>> {
    let mut filled = Text::plain("");
    let mut unknown = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('{') {
        let (before, behind) = rest.split_at(start);
        push(&mut filled, &Text::plain(before));
        if let Some(name) = behind.strip_prefix("{{").and_then(|text| name_before(text, "}}")) {
            push(&mut filled, &Text::plain(format!("{{{name}}}")));
            rest = &behind[name.len() + 4..];
        } else if let Some(name) = behind.strip_prefix('{').and_then(|text| name_before(text, "}"))
        {
            match meaning(name) {
                Some(text) => push(&mut filled, &text),
                None => unknown.push(name.to_owned()),
            }
            rest = &behind[name.len() + 2..];
        } else {
            push(&mut filled, &Text::plain("{"));
            rest = &behind[1..];
        }
    }
    push(&mut filled, &Text::plain(rest));
    if unknown.is_empty() { Ok(filled) } else { Err(unknown) }
}

/// The name that is all there is of a text, if it is a placeholder.
pub(super) fn only_name(text: &str) -> Option<&str> {
    let name = name_before(text.strip_prefix('{')?, "}")?;
    (name.len() + 2 == text.len()).then_some(name)
}

fn push(filled: &mut Text, more: &Text) {
    filled.full += &more.full;
    filled.shown += &more.shown;
}

fn name_before<'t>(text: &'t str, end: &str) -> Option<&'t str> {
    let name = &text[..text.find(end)?];
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    (name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(is_part))
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(name: &str) -> Option<Text> {
        match name {
            "data.a" => Some(Text { full: "/d/a".to_owned(), shown: "{data.a}".to_owned() }),
            "n" => Some(Text::plain("7")),
            _ => None,
        }
    }

    #[test]
    fn names_in_braces_are_replaced_and_nothing_else() {
        let cases = [
            ("nothing", "", "", ""),
            ("a path", "{data.a}.gz", "/d/a.gz", "{data.a}.gz"),
            ("two", "{n}{n} {data.a}", "77 /d/a", "77 {data.a}"),
            ("an inline table", "{ lines = {n} }", "{ lines = 7 }", "{ lines = 7 }"),
            ("JSON", r#"{"n": {}}"#, r#"{"n": {}}"#, r#"{"n": {}}"#),
            ("escaped", "{{n}} {n}", "{n} 7", "{n} 7"),
            ("open", "{n {", "{n {", "{n {"),
            ("not ASCII", "{ä}{n}ß", "{ä}7ß", "{ä}7ß"),
        ];
        for (case, text, full, shown) in cases {
            let expected = Text { full: full.to_owned(), shown: shown.to_owned() };
            assert_eq!(fill(text, meaning), Ok(expected), "{case}");
        }
    }

    #[test]
    fn all_unknown_names_are_told() {
        let unknown = fill("{x} {n} {data.y}", meaning).unwrap_err();
        assert_eq!(unknown, ["x", "data.y"]);
    }

    #[test]
    fn a_lone_placeholder_is_recognised() {
        let cases = [("{outputs.a-1}", Some("outputs.a-1")), ("{a}b", None), ("a", None)];
        for (text, expected) in cases {
            assert_eq!(only_name(text), expected, "{text}");
        }
    }
}
