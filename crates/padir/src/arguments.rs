//! Command lines as people type them: negative numbers as values, and what sacrebleu understands.

use std::error::Error as _;
use std::ffi::{OsStr, OsString};

use clap::error::{ContextKind, ErrorKind};
use clap::{Command, CommandFactory, FromArgMatches};

use crate::Cli;
#[cfg(feature = "toolkit")]
use crate::commands::accept_habits;

/// Reads a command line, the program's name included.
pub(crate) fn parse<T: Into<OsString>>(
    words: impl IntoIterator<Item = T>,
) -> Result<Cli, clap::Error> {
    let words = words.into_iter().map(Into::into).collect();
    #[cfg(feature = "toolkit")]
    let words = accept_habits(words);
    let words = join_numbers(words);
    let mut command = with_negative_numbers(Cli::command());
    let matches = command.try_get_matches_from_mut(words).map_err(name_bounds)?;
    Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))
}

/// Lets all options take `-1` as their value, as if `=` stood before it.
fn with_negative_numbers(command: Command) -> Command {
    let allow = |arg: clap::Arg| {
        let takes_values = arg.get_action().takes_values();
        if takes_values { arg.allow_negative_numbers(true) } else { arg }
    };
    command.mut_args(allow).mut_subcommands(with_negative_numbers)
}

/// Puts `=` before negative numbers that clap does not take for such: `-1e-3` and lists like `-0.5,1`.
fn join_numbers(words: Vec<OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        match joined.last_mut() {
            Some(option) if is_intricate_number(&word) && is_bare_option(option) => {
                option.push("=");
                option.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

fn is_intricate_number(word: &OsStr) -> bool {
    let Some(text) = word.to_str() else { return false };
    let is_intricate = text.contains(',') || text.contains("e-") || text.contains("E-");
    let is_number = |part: &str| part.parse::<f64>().is_ok_and(f64::is_finite);
    text.starts_with('-') && is_intricate && text.split(',').all(is_number)
}

/// `--name` without a value.
fn is_bare_option(word: &OsStr) -> bool {
    word.to_str()
        .is_some_and(|text| text.len() > 2 && text.starts_with("--") && !text.contains('='))
}

/// Says which numbers are possible where the standard library only says that one is not.
fn name_bounds(error: clap::Error) -> clap::Error {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    let wanted = match cause.as_str() {
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "it must be a whole number, at least 0".to_owned()
        }
        "number too large to fit in target type" => {
            format!("it must be a whole number, at most {}", u64::MAX)
        }
        "invalid float literal" | "cannot parse float from empty string" => {
            "it must be a number".to_owned()
        }
        _ => return error,
    };
    let context = |kind| error.get(kind).map(ToString::to_string);
    match (context(ContextKind::InvalidValue), context(ContextKind::InvalidArg)) {
        (Some(value), Some(argument)) => clap::Error::raw(
            ErrorKind::ValueValidation,
            format!(
                "invalid value '{value}' for '{argument}': {wanted}\n\nFor more information, try '--help'.\n"
            ),
        ),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(line: &str) -> String {
        parse(line.split(' ')).err().map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn negative_numbers_need_no_equals_sign() {
        for line in [
            "padir translate --model m --judge j --judge-penalty -1 text",
            "padir evaluate --model m a b --length-penalty -1",
            "padir evaluate --model m a b --length-penalty -0.5,1",
            "padir lab exact --j -0.3 --h -1e-3",
            "padir evaluate --model m a b --length-penalty -1e-2,-3",
        ] {
            assert_eq!(refusal(line), "", "{line}");
        }
    }

    #[test]
    fn bounds_are_named() {
        let cases = [
            (
                "padir translate --steps -1 x",
                "'-1' for '--steps <N>': it must be a whole number, at least 0",
            ),
            (
                "padir data split a b --dev many",
                "'many' for '--dev <N>': it must be a whole number, at least 0",
            ),
            (
                "padir translate --beam 99999999999999999999 x",
                "it must be a whole number, at most 18446744073709551615",
            ),
            (
                "padir data filter a b -o c -o d --max-ratio x",
                "'x' for '--max-ratio <RATIO>': it must be a number",
            ),
            ("padir translate --batch 0 x", "0 is not in 1..=65535"),
            ("padir data augment a --sentences 1 --order 99", "99 is not in 2..=16"),
        ];
        for (line, expected) in cases {
            assert!(refusal(line).contains(expected), "{line}: {}", refusal(line));
        }
    }
}
