//! What a recipe wants to know of a command line before it runs: each command describes itself.

use clap::error::ErrorKind;
use padir_pipeline::recipe::{Commands, Description, RecipeFiles};

use crate::arguments;
use crate::commands::Command;

/// Command lines of this program, parsed by the parser that will parse them.
pub(super) struct CommandLine;

impl Commands for CommandLine {
    fn describe(&self, words: &[&str], files: &RecipeFiles<'_>) -> Description {
        let words = std::iter::once("padir").chain(words.iter().copied());
        match arguments::parse(words) {
            Ok(cli) => cli.command.describe(files),
            Err(error) => Description::faulty(first_words(&error)),
        }
    }
}

impl Command {
    fn describe(&self, files: &RecipeFiles<'_>) -> Description {
        match self {
            Self::Train(train) => train.describe(files),
            Self::Evaluate(evaluate) => evaluate.describe(),
            Self::Distil(distil) => distil.describe(),
            Self::Translate(translate) => translate.describe(),
            Self::Run(_) => Description::faulty("a recipe cannot run a recipe"),
            // They read what stands on the command line, and make what the stage lists.
            _ => Description::default(),
        }
    }
}

/// What clap says, without the usage and the advice.
fn first_words(error: &clap::Error) -> String {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help {
        return "the command line only asks for help".to_owned();
    }
    let text = error.to_string();
    let lines = text.lines().take_while(|line| !line.trim().is_empty());
    let words: Vec<&str> = lines.flat_map(str::split_whitespace).collect();
    let words = words.join(" ");
    words.strip_prefix("error: ").unwrap_or(&words).to_owned()
}
