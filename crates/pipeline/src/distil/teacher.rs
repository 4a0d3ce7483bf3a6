//! Who translates: a model of ours, or a program.

use std::collections::BTreeMap;
use std::path::PathBuf;

use padir_base::hash::Sha256;
use padir_text::vocab::Vocabulary;
use padir_translate::{Decoding, Translator};
use serde::Serialize;

use super::program::Program;
use crate::Error;
use crate::model::hash_model;

/// Who translates.
pub enum Teacher {
    /// A model.
    Model {
        /// Its directory: another model is other work.
        directory: PathBuf,
        /// Whether it uses its shortlist.
        shortlist: bool,
        /// The model at work.
        translator: Box<Translator>,
    },
    /// A program.
    Program(Program),
}

/// What of a teacher decides what it says.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Identity {
    /// A model.
    Model {
        /// The hash of every file of the model that matters.
        model: BTreeMap<String, Sha256>,
        /// The engine's arithmetic.
        precision: String,
        /// How the model decodes, all defaults resolved.
        decoding: Box<Decoding>,
    },
    /// A program: its command line is all that we know.
    Program {
        /// The command line.
        command: String,
    },
}

impl Teacher {
    pub(super) fn identity(&self) -> Result<Identity, Error> {
        Ok(match self {
            Self::Model { directory, shortlist, translator } => Identity::Model {
                model: hash_model(directory, *shortlist)?,
                precision: translator.engine().precision().to_string(),
                decoding: Box::new(translator.decoding().clone()),
            },
            Self::Program(program) => Identity::Program { command: program.command.clone() },
        })
    }

    /// The vocabulary whose tokens are counted; a program's words are counted instead.
    pub(super) fn vocabulary(&self) -> Option<&Vocabulary> {
        match self {
            Self::Model { translator, .. } => Some(translator.vocabulary()),
            Self::Program(_) => None,
        }
    }
}
