//! Models that are at hand: found by their languages, so that nobody needs to know where they lie.
//!
//! A model path is a directory of models. It is the one that `PADIR_MODELS` names, or `models` in the working directory, or `models` beside the program or in a
//! directory above it, whichever has a model that fits first. A model says in its configuration or card what it translates; one that
//! does not goes by the end of its name, `something-FROM-TO` or `FROM-TO`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use padir_checkpoint::{CONFIG, languages};

use crate::hint::WithHint;

/// The variable that names a model path.
const VARIABLE: &str = "PADIR_MODELS";
/// Other names of model directories.
const NAME: &str = "models";

/// The languages of a model if none are named.
const USUAL: (&str, &str) = ("en", "de");

/// The model that translates from one language into another: on the first model directory that has one, the first by name. If only one
/// language is named, the other is whatever models there are for it.
pub(super) fn find(from: Option<&str>, to: Option<&str>) -> Result<PathBuf> {
    let (from, to) = match (from, to) {
        (None, None) => (Some(USUAL.0), Some(USUAL.1)),
        named => named,
    };
    let is = |wanted: Option<&str>, found: &str| {
        wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(found))
    };
    let fits = |model: &&Model| {
        model.languages.as_ref().is_some_and(|(source, target)| is(from, source) && is(to, target))
    };
    let mut searched = Vec::new();
    for model_path in model_paths() {
        let models = models(&model_path)?;
        let fitting: Vec<&Model> = models.iter().filter(fits).collect();
        if let Some(model) = fitting.first() {
            let differs = |other: &&&Model| other.languages != model.languages;
            if let Some(other) = fitting.iter().find(differs) {
                let (model_path, one, other) = (model_path.display(), model.shown(), other.shown());
                return Err(anyhow!("{model_path} has {one} and {other}"))
                    .hint("say both languages, --from and --to");
            }
            return Ok(model.path.clone());
        }
        let names: Vec<String> = models.iter().map(Model::shown).collect();
        let names = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
        searched.push(format!("{} has {names}", model_path.display()));
    }
    if searched.is_empty() {
        searched.push("there is no directory of models".to_owned());
    }
    let there = searched.join("; ");
    let wanted = [("from", from), ("into", to)]
        .into_iter()
        .filter_map(|(word, language)| Some(format!(" {word} {}", language?)))
        .collect::<String>();
    Err(anyhow!("no model translates{wanted}"))
        .hint(format!("{there}; name one with --model DIR, or a directory of them with {VARIABLE}"))
}

/// A model on a model path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    /// Source and target.
    pub(crate) languages: Option<(String, String)>,
}

impl Model {
    pub(crate) fn of(name: String, path: PathBuf) -> Self {
        let own = languages(&path);
        let own = own.pair().map(|(source, target)| (source.to_string(), target.to_string()));
        Self { languages: own.or_else(|| by_name(&name)), name, path }
    }

    /// Its name, and what it translates if that is not part of it.
    fn shown(&self) -> String {
        match &self.languages {
            Some((source, target)) if !self.name.ends_with(&format!("{source}-{target}")) => {
                format!("{} ({source}-{target})", self.name)
            }
            _ => self.name.clone(),
        }
    }
}

/// `en` and `de` of `tatoeba-en-de`, and of `en-de`.
fn by_name(name: &str) -> Option<(String, String)> {
    let (rest, target) = name.rsplit_once('-')?;
    let source = rest.rsplit_once('-').map_or(rest, |(_, source)| source);
    Some((source.to_owned(), target.to_owned()))
}

/// All model directories, the nearest first; only one if it is named.
pub(crate) fn model_paths() -> Vec<PathBuf> {
    if let Some(named) = env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return vec![PathBuf::from(named)];
    }
    let here = PathBuf::from(NAME);
    let program = env::current_exe().and_then(|program| program.canonicalize()).ok();
    let above = program.iter().flat_map(|program| program.ancestors().skip(1));
    let above = above.map(|place| place.join(NAME));
    std::iter::once(here).chain(above).filter(|place| place.is_dir()).collect()
}

/// The models on a model path, by name.
pub(crate) fn models(model_path: &Path) -> Result<Vec<Model>> {
    let entries = fs::read_dir(model_path)
        .with_context(|| format!("cannot search {}", model_path.display()))?;
    let model = |entry: fs::DirEntry| {
        let (name, path) = (entry.file_name().to_string_lossy().into_owned(), entry.path());
        path.join(CONFIG).is_file().then(|| Model::of(name, path))
    };
    let mut models: Vec<Model> = entries.filter_map(|entry| model(entry.ok()?)).collect();
    models.sort();
    Ok(models)
}
