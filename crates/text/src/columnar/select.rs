//! Which two columns of a parquet file hold the sentences.

use std::str::FromStr;

use parquet::basic::Type;
use parquet::schema::types::SchemaDescriptor;
use thiserror::Error;

use crate::pair::CorpusError;

/// The names of the columns for source and target, usually languages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Languages {
    /// The column of the sources.
    pub source: String,
    /// The column of the targets.
    pub target: String,
}

/// Languages that cannot be.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("languages are two different names, as in en,de, not {0:?}")]
pub struct LanguagesError(String);

impl FromStr for Languages {
    type Err = LanguagesError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once(',') {
            Some((source, target))
                if !source.is_empty()
                    && !target.is_empty()
                    && source != target
                    && !target.contains(',') =>
            {
                Ok(Self { source: source.to_owned(), target: target.to_owned() })
            }
            _ => Err(LanguagesError(text.to_owned())),
        }
    }
}

/// A column that can hold one text per row.
struct TextColumn {
    index: usize,
    path: Vec<String>,
}

impl TextColumn {
    fn matches(&self, name: &str) -> bool {
        self.path.join(".") == name || self.path.last().is_some_and(|last| last == name)
    }
}

/// The indices of the source and the target column among all leaves.
pub(super) fn columns(
    file: &str,
    schema: &SchemaDescriptor,
    languages: Option<&Languages>,
) -> Result<[usize; 2], CorpusError> {
    let texts = text_columns(schema);
    match languages {
        Some(Languages { source, target }) => {
            Ok([find(file, &texts, source)?, find(file, &texts, target)?])
        }
        None => obvious(file, &texts),
    }
}

fn text_columns(schema: &SchemaDescriptor) -> Vec<TextColumn> {
    let leaves = schema.columns().iter().enumerate();
    leaves
        .filter(|(_, leaf)| leaf.physical_type() == Type::BYTE_ARRAY && leaf.max_rep_level() == 0)
        .map(|(index, leaf)| TextColumn { index, path: leaf.path().parts().to_vec() })
        .collect()
}

fn find(file: &str, texts: &[TextColumn], name: &str) -> Result<usize, CorpusError> {
    let matching: Vec<&TextColumn> = texts.iter().filter(|text| text.matches(name)).collect();
    let exact = matching.iter().find(|text| text.path.join(".") == name);
    match (exact, matching.as_slice()) {
        (Some(column), _) | (None, [column]) => Ok(column.index),
        (None, []) => Err(CorpusError::NoColumn {
            file: file.to_owned(),
            wanted: name.to_owned(),
            found: list(texts),
        }),
        (None, _) => Err(CorpusError::WhichColumns {
            file: file.to_owned(),
            count: matching.len(),
            found: list(texts),
        }),
    }
}

/// The two fields of `translation`, or the only two texts there are.
fn obvious(file: &str, texts: &[TextColumn]) -> Result<[usize; 2], CorpusError> {
    let is_translation = |text: &&TextColumn| text.path.first().is_some_and(|p| p == "translation");
    let translation: Vec<&TextColumn> = texts.iter().filter(is_translation).collect();
    match (translation.as_slice(), texts) {
        ([source, target], _) => Ok([source.index, target.index]),
        ([], [source, target]) => Ok([source.index, target.index]),
        _ => Err(CorpusError::WhichColumns {
            file: file.to_owned(),
            count: texts.len(),
            found: list(texts),
        }),
    }
}

fn list(texts: &[TextColumn]) -> String {
    let mut names: Vec<String> = texts.iter().take(20).map(|text| text.path.join(".")).collect();
    if names.is_empty() {
        return "none".to_owned();
    }
    if texts.len() > names.len() {
        names.push(format!("and {} more", texts.len() - names.len()));
    }
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_parsed() {
        let cases = [
            ("en,de", true),
            ("translation.en,translation.de", true),
            ("en", false),
            ("en,", false),
            (",de", false),
            ("en,en", false),
            ("en,de,fr", false),
            ("", false),
        ];
        for (text, good) in cases {
            assert_eq!(text.parse::<Languages>().is_ok(), good, "{text:?}");
        }
    }
}
