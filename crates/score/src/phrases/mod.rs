//! Phrase lists: sources with every translation that is acceptable, and whether a translation is one of them.
//!
//! A line of a list is `source ;; source => answer | answer`, in the shorthand of `shorthand`; lines that begin with `#` are comments.
//! Two texts are equal if they are so after NFC, case folding, collapse of white space and removal of punctuation at both ends.

mod shorthand;

use std::collections::HashSet;

use thiserror::Error;
use unicode_normalization::UnicodeNormalization;

use crate::unicode::{Class, class, is_space, lower, split};

/// Sources with the translations that are accepted.
#[derive(Clone, Debug)]
pub struct PhraseList {
    phrases: Vec<Phrase>,
}

/// A source and what it may be translated to.
#[derive(Clone, Debug)]
pub struct Phrase {
    /// What is translated.
    pub source: String,
    /// Every accepted translation, as it would be written.
    pub answers: Vec<String>,
    /// The same, normalised.
    keys: HashSet<String>,
}

/// A line that is not one of a phrase list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("line {line}: {fault}")]
pub struct PhraseError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub fault: PhraseFault,
}

/// What is wrong with a line of a phrase list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PhraseFault {
    /// Sources and answers are not told apart.
    #[error("no `source => answer`")]
    NoArrow,
    /// A source or an answer is empty.
    #[error("an empty source or answer")]
    Empty,
    /// A bracket without its partner.
    #[error("a bracket of {0:?} has no partner")]
    Bracket(String),
    /// The shorthand stands for more texts than anybody means.
    #[error("{text:?} stands for more than {most} texts")]
    TooMany {
        /// The shorthand.
        text: String,
        /// How many there may be.
        most: usize,
    },
    /// A source that another line has.
    #[error("the source {0:?} is there twice")]
    Repeated(String),
}

impl PhraseList {
    /// Reads the content of a list.
    ///
    /// # Errors
    /// If a line is not `source => answer`, its brackets do not match, or a source is repeated.
    pub fn parse(text: &str) -> Result<Self, PhraseError> {
        let mut phrases: Vec<Phrase> = Vec::new();
        let mut seen = HashSet::new();
        for (number, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let at = |fault| PhraseError { line: number + 1, fault };
            for phrase in read_line(line).map_err(at)? {
                if !seen.insert(phrase.source.clone()) {
                    return Err(at(PhraseFault::Repeated(phrase.source)));
                }
                phrases.push(phrase);
            }
        }
        Ok(Self { phrases })
    }

    /// The phrases, in the order of the list.
    pub fn phrases(&self) -> &[Phrase] {
        &self.phrases
    }
}

impl Phrase {
    /// Whether a translation is one of the accepted.
    pub fn accepts(&self, translation: &str) -> bool {
        self.keys.contains(&normalise(translation))
    }
}

/// The phrases of a line, one for each source.
fn read_line(line: &str) -> Result<Vec<Phrase>, PhraseFault> {
    let (sources, answers) = line.split_once(" => ").ok_or(PhraseFault::NoArrow)?;
    let mut phrase = Phrase { source: String::new(), answers: Vec::new(), keys: HashSet::new() };
    for answer in answers.split(" | ") {
        for reading in shorthand::readings(answer.trim())? {
            for form in shorthand::with_full_forms(&tidy(&reading)) {
                let curly = form.replace('\'', "’");
                phrase.accept(form)?;
                phrase.accept(curly)?;
            }
        }
    }
    let named = |source: &str| match source.trim() {
        "" => Err(PhraseFault::Empty),
        source => Ok(Phrase { source: source.to_owned(), ..phrase.clone() }),
    };
    sources.split(" ;; ").map(named).collect()
}

impl Phrase {
    fn accept(&mut self, answer: String) -> Result<(), PhraseFault> {
        let key = normalise(&answer);
        if key.is_empty() {
            return Err(PhraseFault::Empty);
        }
        if self.keys.insert(key) {
            self.answers.push(answer);
        }
        Ok(())
    }
}

/// A reading without the spaces that left-out parts leave behind.
fn tidy(reading: &str) -> String {
    let text = split(reading).collect::<Vec<_>>().join(" ");
    text.replace(" ,", ",").replace(" ?", "?").replace(" !", "!")
}

/// A text as it is compared. One of nothing but punctuation keeps it.
fn normalise(text: &str) -> String {
    let composed: String = text.nfc().collect();
    // Lower case and these two are what case folding does to the languages at hand.
    let folded = lower(&composed).replace('ß', "ss").replace('ς', "σ");
    let folded = split(&folded).collect::<Vec<_>>().join(" ");
    let inner = folded.trim_matches(|c| is_space(c) || class(c) == Some(Class::Punctuation));
    if inner.is_empty() { folded } else { inner.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn translations_are_compared_without_case_and_outer_punctuation() {
        let list = PhraseList::parse("Good bye ;; Bye! => {Tschüss/Tschüs}[, Tom] | Mach's gut\n")
            .unwrap();
        let [first, second] = list.phrases() else { panic!("{list:?}") };
        assert_eq!((first.source.as_str(), second.source.as_str()), ("Good bye", "Bye!"));
        for (translation, expected) in [
            ("Tschüss!", true),
            ("  tschüß, tom ", true),
            ("„Tschu\u{308}s“", true),
            ("Mach’s  gut.", true),
            ("Tschüss Tom", false),
            ("Machs gut", false),
            ("", false),
            ("!", false),
        ] {
            assert_eq!(first.accepts(translation), expected, "{translation}");
            assert_eq!(second.accepts(translation), expected, "{translation}");
        }
    }

    #[test]
    fn comments_and_empty_lines_are_no_phrases() {
        let list = PhraseList::parse("# greetings\n\nHi => Hallo\r\n").unwrap();
        assert_eq!(list.phrases().len(), 1);
        assert_eq!(list.phrases()[0].answers, ["Hallo"]);
    }

    #[test]
    fn bad_lines_are_named() {
        for (text, expected) in [
            ("Hi => Hallo\nHello\n", "line 2: no `source => answer`"),
            ("Hi => {Hallo\n", "line 1: a bracket of \"{Hallo\" has no partner"),
            ("Hi => Hallo}\n", "line 1: a bracket of \"Hallo}\" has no partner"),
            ("Hi => [Hallo\n", "line 1: a bracket of \"[Hallo\" has no partner"),
            ("Hi => Hallo | [x]\n", "line 1: an empty source or answer"),
            (" => Hallo\n", "line 1: an empty source or answer"),
            ("Hi => Hallo\nHo ;; Hi => Hi\n", "line 2: the source \"Hi\" is there twice"),
        ] {
            let error = PhraseList::parse(text).expect_err(text).to_string();
            assert_eq!(error, expected);
        }
        let line = format!("Hi => {}", "{a/b}".repeat(40));
        let error = PhraseList::parse(&line).unwrap_err().to_string();
        assert!(error.contains("stands for more than"), "{error}");
        let line = format!("Hi => {}", "[".repeat(100_000));
        assert!(PhraseList::parse(&line).is_err());
    }

    /// What `recipes/phrasebook/expand.py` counts.
    #[test]
    fn lists_of_the_phrasebook_have_the_answers_of_the_script() {
        for (name, text, sources, answers) in [
            (
                "dev-en-de",
                include_str!("../../../../recipes/phrasebook/lists/dev-en-de.txt"),
                159,
                2307,
            ),
            (
                "guard-en-de",
                include_str!("../../../../recipes/phrasebook/lists/guard-en-de.txt"),
                169,
                2908,
            ),
            (
                "dev-de-en",
                include_str!("../../../../recipes/phrasebook/lists/dev-de-en.txt"),
                161,
                2631,
            ),
            (
                "guard-de-en",
                include_str!("../../../../recipes/phrasebook/lists/guard-de-en.txt"),
                167,
                4111,
            ),
        ] {
            let list = PhraseList::parse(text).unwrap();
            let found: usize = list.phrases().iter().map(|phrase| phrase.answers.len()).sum();
            assert_eq!((list.phrases().len(), found), (sources, answers), "{name}");
        }
    }
}
