//! Which characters a text is made of.
//!
//! Counting is one addition per character into a table of all code points; classes and scripts
//! are looked up once, at the end. The table's untouched parts take no memory.

use std::collections::BTreeMap;

use serde::Serialize;
use unicode_properties::{GeneralCategory, GeneralCategoryGroup, UnicodeGeneralCategory};
use unicode_script::UnicodeScript;

/// How many code points there are.
const ALL: usize = 0x11_0000;

#[derive(Clone, Debug)]
pub(super) struct Characters {
    counts: Vec<u64>,
}

/// What a text is made of.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CharacterReport {
    /// How many different characters.
    pub distinct: u64,
    /// Letters, marks, numbers, punctuation, symbols, separators, control and other.
    pub classes: Vec<Share>,
    /// Scripts of letters, the most frequent first.
    pub scripts: Vec<Share>,
    /// Characters that point to damage, with their code points: controls, U+FFFD, private use,
    /// unassigned.
    pub suspicious: Vec<Share>,
}

/// A name and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// What is counted.
    pub name: String,
    /// How often.
    pub count: u64,
}

impl Default for Characters {
    fn default() -> Self {
        Self { counts: vec![0; ALL] }
    }
}

impl Characters {
    /// Counts the characters of a line; gives their number and that of the words.
    pub(super) fn add(&mut self, text: &str) -> (usize, usize) {
        let (mut characters, mut words) = (0, 0);
        let mut inside = false;
        for character in text.chars() {
            self.counts[character as usize] += 1;
            characters += 1;
            let is_space = character.is_whitespace();
            words += usize::from(inside & is_space);
            inside = !is_space;
        }
        (characters, words + usize::from(inside))
    }

    pub(super) fn merge(&mut self, other: &Self) {
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            *count += more;
        }
    }

    pub(super) fn report(&self) -> CharacterReport {
        let mut classes = BTreeMap::new();
        let mut scripts = BTreeMap::new();
        let mut suspicious = BTreeMap::new();
        let mut distinct = 0;
        for (code, &count) in (0_u32..).zip(&self.counts) {
            let Some(character) = char::from_u32(code).filter(|_| count > 0) else { continue };
            distinct += 1;
            let group = character.general_category_group();
            *classes.entry(class_name(group)).or_insert(0) += count;
            if matches!(group, GeneralCategoryGroup::Letter) {
                *scripts.entry(character.script().full_name().to_owned()).or_insert(0) += count;
            }
            if is_suspicious(character) {
                suspicious.insert(format!("U+{code:04X}"), count);
            }
        }
        let classes = classes.into_iter().map(|(name, count)| (name.to_owned(), count)).collect();
        CharacterReport {
            distinct,
            classes: by_count(classes),
            scripts: by_count(scripts),
            suspicious: by_count(suspicious),
        }
    }
}

fn by_count(counts: BTreeMap<String, u64>) -> Vec<Share> {
    let mut shares: Vec<Share> =
        counts.into_iter().map(|(name, count)| Share { name, count }).collect();
    shares.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
    shares
}

fn class_name(group: GeneralCategoryGroup) -> &'static str {
    match group {
        GeneralCategoryGroup::Letter => "letters",
        GeneralCategoryGroup::Mark => "marks",
        GeneralCategoryGroup::Number => "numbers",
        GeneralCategoryGroup::Punctuation => "punctuation",
        GeneralCategoryGroup::Symbol => "symbols",
        GeneralCategoryGroup::Separator => "separators",
        GeneralCategoryGroup::Other => "control and other",
    }
}

fn is_suspicious(character: char) -> bool {
    character == char::REPLACEMENT_CHARACTER
        || matches!(
            character.general_category(),
            GeneralCategory::Control | GeneralCategory::PrivateUse | GeneralCategory::Unassigned
        ) && character != '\t'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn classes_and_scripts_are_told_apart() {
        let mut characters = Characters::default();
        assert_eq!(characters.add("Größe 12 м. 中文\u{301} €\u{fffd}\u{7}\u{e000}"), (20, 5));
        let report = characters.report();
        let count = |shares: &[Share], name: &str| {
            shares.iter().find(|share| share.name == name).map_or(0, |share| share.count)
        };
        for (name, expected) in [
            ("letters", 8),
            ("marks", 1),
            ("numbers", 2),
            ("punctuation", 1),
            ("symbols", 2),
            ("separators", 4),
            ("control and other", 2),
        ] {
            assert_eq!(count(&report.classes, name), expected, "{name}");
        }
        assert_eq!(count(&report.scripts, "Latin"), 5);
        assert_eq!(count(&report.scripts, "Cyrillic"), 1);
        assert_eq!(count(&report.scripts, "Han"), 2);
        let names: Vec<&str> = report.suspicious.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["U+0007", "U+E000", "U+FFFD"]);
    }

    proptest! {
        #[test]
        fn counting_agrees_with_the_standard_library(text in any::<String>()) {
            let (characters, words) = Characters::default().add(&text);
            prop_assert_eq!(characters, text.chars().count());
            prop_assert_eq!(words, text.split_whitespace().count());
        }
    }
}
