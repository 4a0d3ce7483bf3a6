//! What fingers know from sacrebleu: `-tok zh`, `-lc`, `-m bleu chrf ter`.
//!
//! Its options have long names behind a single dash and take lists without commas. They are spelt out before the command line is parsed.

use std::ffi::{OsStr, OsString};

use clap::ValueEnum;

use super::metrics::MetricName;

/// Long names behind a single dash, and what they are here.
const NAMES: [(&str, &str); 7] = [
    ("-tok", "--tokenize"),
    ("-lc", "--lowercase"),
    ("-sl", "--sentence"),
    ("-nr", "--num-refs"),
    ("-sv", "--smooth-value"),
    ("-sh", "--short"),
    ("-ci", "--confidence"),
];

/// Spells out the options of `padir score`; other command lines stay as they are.
pub(crate) fn accept(words: Vec<OsString>) -> Vec<OsString> {
    if !is_score(&words) {
        return words;
    }
    let mut accepted: Vec<OsString> = Vec::with_capacity(words.len());
    // Whether metrics are being listed.
    let mut lists = false;
    for word in words {
        let is_listed = lists && is_metric(&word);
        match accepted.last_mut() {
            Some(last) if is_listed && !is_list(last) => {
                last.push(",");
                last.push(word);
            }
            _ => {
                lists = is_listed || is_list(&word);
                accepted.push(spell_out(word));
            }
        }
    }
    accepted
}

/// Whether the first word that is no option, nor the value of one, is `score`.
fn is_score(words: &[OsString]) -> bool {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.to_str() {
            Some("--threads") => drop(rest.next()),
            Some(option) if option.starts_with('-') => {}
            other => return other == Some("score"),
        }
    }
    false
}

fn is_list(word: &OsStr) -> bool {
    word == "-m" || word == "--metrics"
}

fn is_metric(word: &OsStr) -> bool {
    word.to_str().is_some_and(|name| MetricName::from_str(name, false).is_ok())
}

fn spell_out(word: OsString) -> OsString {
    let Some(text) = word.to_str() else { return word };
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let Some((_, long)) = NAMES.iter().find(|(short, _)| *short == name) else { return word };
    value.map_or_else(|| (*long).into(), |value| format!("{long}={value}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_of_sacrebleu_are_spelt_out() {
        let cases = [
            ("score r -i h -tok zh -lc", "score r -i h --tokenize zh --lowercase"),
            ("score r h -tok=char", "score r h --tokenize=char"),
            ("score r -i h -m bleu chrf ter -w 2", "score r -i h -m bleu,chrf,ter -w 2"),
            ("score -m bleu chrf r h", "score -m bleu,chrf r h"),
            ("score -m bleu,chrf r h", "score -m bleu,chrf r h"),
            ("score --metrics chrf++ r ter", "score --metrics chrf++ r ter"),
            ("--threads 2 score r h -sl -ci", "--threads 2 score r h --sentence --confidence"),
            ("translate -m ter bleu -tok", "translate -m ter bleu -tok"),
            ("--quiet data -lc", "--quiet data -lc"),
        ];
        for (typed, expected) in cases {
            let words = |line: &str| -> Vec<OsString> {
                ["padir"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
            };
            assert_eq!(accept(words(typed)), words(expected), "{typed}");
        }
    }
}
