//! Shorthand for several texts: `{a/b}` is a or b, `[a]` is a or nothing, `[a/b]` is a, b or nothing; brackets nest.
//!
//! Cost: the number of texts it stands for, at most [`MOST`].

use super::PhraseFault;

/// The most texts that a shorthand may stand for.
const MOST: usize = 10_000;
/// The deepest nesting of brackets.
const DEEPEST: usize = 16;

/// English contractions, which stand for their full forms too.
const FULL_FORMS: [(&str, &str); 31] = [
    ("I'm", "I am"),
    ("you're", "you are"),
    ("we're", "we are"),
    ("they're", "they are"),
    ("it's", "it is"),
    ("that's", "that is"),
    ("what's", "what is"),
    ("where's", "where is"),
    ("how's", "how is"),
    ("he's", "he is"),
    ("she's", "she is"),
    ("there's", "there is"),
    ("who's", "who is"),
    ("here's", "here is"),
    ("don't", "do not"),
    ("doesn't", "does not"),
    ("didn't", "did not"),
    ("isn't", "is not"),
    ("aren't", "are not"),
    ("can't", "cannot"),
    ("couldn't", "could not"),
    ("won't", "will not"),
    ("I'd", "I would"),
    ("we'd", "we would"),
    ("I'll", "I will"),
    ("we'll", "we will"),
    ("I've", "I have"),
    ("we've", "we have"),
    ("haven't", "have not"),
    ("wasn't", "was not"),
    ("when's", "when is"),
];

/// All texts that a shorthand stands for, in order.
pub(super) fn readings(text: &str) -> Result<Vec<String>, PhraseFault> {
    let mut reader = Reader { text, at: 0, depth: 0 };
    let found = reader.sequence("")?;
    if reader.at == text.len() { Ok(found) } else { Err(reader.unbalanced()) }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    /// The readings up to one of some characters or the end.
    fn sequence(&mut self, stops: &str) -> Result<Vec<String>, PhraseFault> {
        let mut readings = vec![String::new()];
        while let Some(next) = self.text[self.at..].chars().next() {
            if stops.contains(next) {
                break;
            }
            let inner = match next {
                '{' => self.choice('}')?,
                '[' => self.choice(']')?,
                '}' | ']' => return Err(self.unbalanced()),
                _ => {
                    self.at += next.len_utf8();
                    for reading in &mut readings {
                        reading.push(next);
                    }
                    continue;
                }
            };
            if readings.len() * inner.len() > MOST {
                let text = self.text.chars().take(60).collect();
                return Err(PhraseFault::TooMany { text, most: MOST });
            }
            let joined = readings.iter().flat_map(|a| inner.iter().map(move |b| format!("{a}{b}")));
            readings = joined.collect();
        }
        Ok(readings)
    }

    /// The readings of a bracket that opens here and closes with `close`.
    fn choice(&mut self, close: char) -> Result<Vec<String>, PhraseFault> {
        if self.depth == DEEPEST {
            return Err(self.unbalanced());
        }
        self.depth += 1;
        let stops = format!("/{close}");
        let mut readings = Vec::new();
        loop {
            self.at += 1;
            readings.extend(self.sequence(&stops)?);
            match self.text[self.at..].chars().next() {
                Some('/') => {}
                Some(_) => break,
                None => return Err(self.unbalanced()),
            }
        }
        self.at += 1;
        self.depth -= 1;
        if close == ']' {
            readings.push(String::new());
        }
        Ok(readings)
    }

    fn unbalanced(&self) -> PhraseFault {
        PhraseFault::Bracket(self.text.chars().take(60).collect())
    }
}

/// A text, and the same with contractions in full, in every combination.
pub(super) fn with_full_forms(text: &str) -> Vec<String> {
    let mut forms = vec![text.to_owned()];
    for (short, full) in FULL_FORMS {
        let longer: Vec<String> = forms
            .iter()
            .flat_map(|form| places(form, short).map(move |at| replaced(form, at, short, full)))
            .collect();
        forms.extend(longer);
    }
    forms
}

/// Where a word stands in a text, whatever its case.
fn places<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    text.char_indices().map(|(at, _)| at).filter(move |&at| {
        text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
            && !text[..at].chars().next_back().is_some_and(is_letter)
            && !text[at + word.len()..].chars().next().is_some_and(is_letter)
    })
}

fn replaced(text: &str, at: usize, short: &str, full: &str) -> String {
    let is_upper = text[at..].starts_with(char::is_uppercase);
    let (first, rest) = full.split_at(1);
    let first = if is_upper { first.to_uppercase() } else { first.to_owned() };
    format!("{}{first}{rest}{}", &text[..at], &text[at + short.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_choices() {
        for (text, expected) in [
            ("a", vec!["a"]),
            ("{a/b}c", vec!["ac", "bc"]),
            ("[a/b]c", vec!["ac", "bc", "c"]),
            ("{a[b]/c}{d/e}", vec!["abd", "abe", "ad", "ae", "cd", "ce"]),
            ("1/2", vec!["1/2"]),
            ("ä{ö/ü}", vec!["äö", "äü"]),
        ] {
            assert_eq!(readings(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn contractions_stand_for_full_forms() {
        assert_eq!(
            with_full_forms("It's here, isn't it?"),
            [
                "It's here, isn't it?",
                "It is here, isn't it?",
                "It's here, is not it?",
                "It is here, is not it?",
            ]
        );
        assert_eq!(with_full_forms("audit's"), ["audit's"]);
    }
}
