//! The models that are served.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use padir_base::TokenId;
use padir_decode::{Abilities, Decoding};
use padir_text::vocab::Vocabulary;
use padir_translate::{Segmentation, Translator, abilities_of};

use crate::detect;
use crate::error::{Refusal, ServeError};

/// A model to serve.
pub struct Loaded {
    /// What clients know it by. Not a path.
    pub name: String,
    /// The language it translates from.
    pub source: String,
    /// The language it translates into.
    pub target: String,
    /// The model.
    pub translator: Translator,
}

/// Why models cannot be loaded.
pub type LoadError = Box<dyn StdError + Send + Sync>;

/// Loads all models, at the start and whenever they are to be loaded again.
pub type Load = Box<dyn Fn() -> Result<Vec<Loaded>, LoadError> + Send + Sync>;

/// A model and what requests need to know of it without waiting for it.
pub(crate) struct Model {
    pub(crate) name: String,
    pub(crate) source: String,
    pub(crate) target: String,
    pub(crate) abilities: Abilities,
    pub(crate) decoding: Arc<Decoding>,
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) vocabulary_size: usize,
    /// What stands for nothing in an alignment.
    pub(crate) blank: Option<TokenId>,
    translator: Mutex<Translator>,
}

impl Model {
    fn new(loaded: Loaded) -> Self {
        let Loaded { name, source, target, mut translator } = loaded;
        // Requests are cut into sentences before they wait, so that they can take turns.
        translator.set_segmentation(Segmentation::Lines);
        Self {
            name,
            source,
            target,
            abilities: abilities_of(translator.config()),
            decoding: Arc::new(translator.decoding().clone()),
            vocabulary: Arc::clone(translator.vocabulary()),
            vocabulary_size: translator.config().symbols.vocab_size,
            blank: translator.config().symbols.blank,
            translator: Mutex::new(translator),
        }
    }

    /// The translator. Only the engine thread asks for it; a batch that panicked leaves nothing that the next one reads.
    pub(crate) fn translator(&self) -> MutexGuard<'_, Translator> {
        self.translator.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A token as it stands in the vocabulary.
    pub(crate) fn piece(&self, token: TokenId) -> String {
        if Some(token) == self.blank {
            return "·".to_owned();
        }
        self.vocabulary.piece(token).unwrap_or_default().into_owned()
    }
}

/// All models.
pub(crate) struct Catalogue {
    pub(crate) models: Vec<Arc<Model>>,
}

/// A language and what it can be translated into.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Language {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) targets: Vec<String>,
}

impl Catalogue {
    /// Loads models.
    pub(crate) fn load(load: &Load) -> Result<Self, ServeError> {
        Self::of(load()?)
    }

    fn of(loaded: Vec<Loaded>) -> Result<Self, ServeError> {
        let mut models: Vec<Arc<Model>> = Vec::new();
        for new in loaded {
            let same =
                |model: &&Arc<Model>| model.source == new.source && model.target == new.target;
            if let Some(model) = models.iter().find(same) {
                return Err(ServeError::TwoModels {
                    first: model.name.clone(),
                    second: new.name,
                    source_language: new.source,
                    target_language: new.target,
                });
            }
            models.push(Arc::new(Model::new(new)));
        }
        if models.is_empty() {
            return Err(ServeError::NoModels);
        }
        Ok(Self { models })
    }

    /// The model for two languages.
    pub(crate) fn find(&self, source: &str, target: &str) -> Result<Arc<Model>, Refusal> {
        let is = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
        let fits = |model: &&Arc<Model>| is(&model.source, source) && is(&model.target, target);
        if let Some(model) = self.models.iter().find(fits) {
            return Ok(Arc::clone(model));
        }
        let languages = self.languages();
        let known = |code: &str| languages.iter().any(|language| is(&language.code, code));
        for code in [source, target] {
            if !known(code) {
                return Err(Refusal::Invalid(format!("{} is not supported", shown(code))));
            }
        }
        let (source, target) = (shown(source), shown(target));
        Err(Refusal::Invalid(format!(
            "{target} is not available as a target language from {source}"
        )))
    }

    /// The languages that are translated from, without duplicates.
    pub(crate) fn sources(&self) -> Vec<&str> {
        let mut sources: Vec<&str> = Vec::new();
        for model in &self.models {
            if !sources.contains(&model.source.as_str()) {
                sources.push(&model.source);
            }
        }
        sources
    }

    /// All languages, those that are translated from first.
    pub(crate) fn languages(&self) -> Vec<Language> {
        let mut languages: Vec<Language> = Vec::new();
        let all = self.models.iter().map(|model| &model.source);
        for code in all.chain(self.models.iter().map(|model| &model.target)) {
            if languages.iter().any(|language| language.code == *code) {
                continue;
            }
            let from_here = self.models.iter().filter(|model| model.source == *code);
            let targets = from_here.map(|model| model.target.clone()).collect();
            languages.push(Language { code: code.clone(), name: detect::name(code), targets });
        }
        languages
    }
}

/// A language code as a client wrote it, bounded.
fn shown(code: &str) -> String {
    code.chars().filter(|c| !c.is_control()).take(20).collect()
}
