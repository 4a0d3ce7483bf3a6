//! What can be done about errors of the pipeline: libraries state facts, hints are added here.

use padir_pipeline::Error;
use padir_pipeline::distil::DistilError;
use padir_pipeline::recipe::{RecipeError, Supply};
use padir_pipeline::report::ReportError;

use crate::corpus::{explain, explain_write, hinted};

/// Adds to an error what can be done about it, if anything.
pub(crate) fn advise(error: Error) -> anyhow::Error {
    match error {
        Error::Corpus(error) => explain(error),
        Error::Pairs(error) => explain_write(error),
        Error::Distil(error) => advise_distil(error),
        Error::Report(error) => advise_report(error),
        Error::Recipe(error) => advise_recipe(error),
        other => other.into(),
    }
}

fn advise_report(error: ReportError) -> anyhow::Error {
    let advice = match &error {
        ReportError::NoStage(_) => "name directories in which `padir run` worked".to_owned(),
        ReportError::Altered { stage, .. } | ReportError::Form { stage, .. } => {
            format!("`padir run` with --from {stage} makes it again")
        }
        _ => return error.into(),
    };
    hinted(error, &advice)
}

fn advise_distil(error: DistilError) -> anyhow::Error {
    let advice = match &error {
        DistilError::Stopped { .. } => "the same command goes on from there".to_owned(),
        DistilError::Manifest { directory, .. } => {
            format!("remove {} to begin again", directory.display())
        }
        DistilError::Other { directory, .. } => format!(
            "go on with the settings it was begun with, or remove {} to begin again",
            directory.display()
        ),
        DistilError::Foreign { .. } => {
            "the working directory is called like the last --output, with .parts behind it"
                .to_owned()
        }
        DistilError::Program { .. } => {
            "what is done is kept: the same command goes on from there; --timeout and --retries say how patient it is"
                .to_owned()
        }
        DistilError::Part { .. } => "remove it, and it will be translated again".to_owned(),
        _ => return error.into(),
    };
    hinted(error, &advice)
}

/// Adds to an error about a recipe what can be done about it, if anything.
pub(crate) fn advise_recipe(error: RecipeError) -> anyhow::Error {
    let advice = match &error {
        RecipeError::Read { .. } => {
            "recipes that come with padir are in its directory `recipes`".to_owned()
        }
        RecipeError::Faults(_) => "docs/recipes.md says what a recipe is made of".to_owned(),
        RecipeError::NoStage { known, .. } => format!("there are: {}", known.join(", ")),
        RecipeError::Absent { from: Supply::Data(Some(words)), .. } => words.trim().to_owned(),
        RecipeError::Absent { from: Supply::Data(None), .. } => {
            "--set data.NAME=PATH says where data is".to_owned()
        }
        RecipeError::Absent { from: Supply::Stages(makers), .. } => {
            format!("made by: {}; leave --only out, or choose these, too", makers.join(", "))
        }
        RecipeError::Record { .. } => {
            "remove it to run all stages again; what they made is then moved to `replaced`"
                .to_owned()
        }
        RecipeError::Locked(_) => {
            "wait for it, or give this one another directory with --set dir=…".to_owned()
        }
        RecipeError::Incomplete { stage, missing, .. } => {
            let missing = missing.join(", ");
            format!(
                "if it was stopped, run the recipe again; if {missing} was removed, --from {stage} begins anew; otherwise `outputs` \
                 are not what it makes"
            )
        }
        RecipeError::Failed { .. } => {
            "its own message is above; run the recipe again to go on with this stage".to_owned()
        }
        _ => return error.into(),
    };
    hinted(error, &advice)
}
