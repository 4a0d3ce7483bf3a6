//! The translator.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use padir_base::TokenId;
use padir_checkpoint::{Checkpoint, GENERATION, ModelConfig, SENTENCEPIECE, TOKENIZER};
use padir_decode::autoregression::{self, Beam, Sample, Source};
use padir_decode::ctc::{self, Ctc};
use padir_decode::decoding::stored;
use padir_decode::padir::Template;
use padir_decode::{
    Decoding, EasyFirst, GibbsChain, Hypothesis, easy_first_each, gibbs_each, padir,
};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_text::shortlist::{SHORTLIST, Shortlist};
use padir_text::vocab::Vocabulary;

use crate::error::TranslateError;
use crate::model::{Model, abilities_of, causal_symbols_of, ctc_symbols_of, symbols_of};
use crate::observer::{Guide, Place, Watcher};
use crate::rerank::Reranker;
use crate::sentence::sentences;
use crate::split::{Part, split};
use crate::translation::{Translation, join};

/// Source tokens, times what each costs, that are decoded at a time. Ordinary batches are far below; a book in one line is not.
const BEARABLE: usize = 1 << 15;

/// How a translator works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The arithmetic of the engine; none for that of the model's file.
    pub precision: Option<Precision>,
    /// Threads of one step.
    pub threads: usize,
    /// Whether only tokens of the model's shortlist compete.
    pub shortlist: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { precision: None, threads: 1, shortlist: false }
    }
}

/// A text and its number, by which events name it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Text<'t> {
    /// The number.
    pub number: u64,
    /// The text.
    pub text: &'t str,
    /// How it is decoded; none for the translator's own way.
    pub decoding: Option<&'t Decoding>,
    /// What its refinement starts from, with tokens that stand fixed. Only for a text that is translated in one part.
    pub template: Option<&'t Template>,
}

impl<'t> Text<'t> {
    /// A text that is decoded as the translator decodes.
    pub fn new(number: u64, text: &'t str) -> Self {
        Self { number, text, decoding: None, template: None }
    }
}

/// A model that translates texts: an engine's, unless it is another one.
pub struct Translator<M = Session> {
    pub(crate) vocabulary: Arc<Vocabulary>,
    pub(crate) model: M,
    pub(crate) decoding: Decoding,
    segmentation: Segmentation,
    reranker: Option<Reranker>,
    shortlist: Option<Arc<Shortlist>>,
    listed: Vec<TokenId>,
}

/// What is translated in one piece, if it is not too long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Segmentation {
    /// Every [sentence](crate::sentence) of a text: models are trained on sentences.
    #[default]
    Sentences,
    /// The whole text: lines of corpora are sentences already.
    Lines,
}

/// Something that is decoded once, however often it was asked for.
struct Job<'t> {
    source: Vec<TokenId>,
    /// Chooses its randomness: a function of the source alone.
    number: u64,
    /// How it is decoded; none for the translator's own way.
    decoding: Option<&'t Decoding>,
    /// What its refinement starts from.
    template: Option<&'t Template>,
    /// Who asks for it.
    places: Vec<Place>,
}

/// A source that was decoded, while the model has it encoded.
#[derive(Clone, Copy, Debug)]
pub struct Decoded<'a> {
    /// The model's number of it.
    pub context: usize,
    /// Its tokens, the end included.
    pub source: &'a [TokenId],
    /// What its randomness is named by.
    pub number: u64,
    /// The parts of texts that it is.
    pub places: &'a [Place],
    /// What was found, best first.
    pub hypotheses: &'a [Hypothesis],
}

/// Looks at what a model has just decoded, with the watcher that saw it happen.
pub type Look<'a, M, W> =
    dyn FnMut(&mut M, &mut W, &[Decoded<'_>]) -> Result<(), TranslateError> + 'a;

/// How a text is translated.
struct Plan<'t> {
    /// Its parts and the jobs that translate them; emoji at the beginning need none.
    parts: Vec<(Part<'t>, Option<usize>)>,
    /// How many of them have a job.
    translated: usize,
    /// How many sentences were too long for the model.
    cut: usize,
}

impl Translator {
    /// Opens the model in a directory.
    ///
    /// # Errors
    /// If it is no model, damaged, or its vocabulary is not there or another's.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Self, TranslateError> {
        let directory = directory.as_ref();
        let checkpoint = Checkpoint::open(directory)?;
        let config = checkpoint.config();
        // Refinement knows no other end of a sentence.
        if config.parallel().is_some() && config.symbols.eos != TokenId::EOS {
            return Err(TranslateError::ForeignEnd(config.symbols.eos));
        }
        let vocabulary = load_vocabulary(directory, config)?;
        let (ids, known) = (vocabulary.size(), config.symbols.vocab_size);
        if ids > known {
            let directory = directory.to_owned();
            return Err(TranslateError::TooManyIds { directory, ids, known });
        }
        let source = config.layers().embeddings.vocabulary();
        if vocabulary.source_size() > source {
            let (directory, ids) = (directory.to_owned(), vocabulary.source_size());
            return Err(TranslateError::TooManyIds { directory, ids, known: source });
        }
        let decoding = decoding_of(&checkpoint)?;
        let stored = if checkpoint.is_quantised() { Precision::Int8 } else { Precision::F32 };
        let engine = Engine::load(&checkpoint, options.precision.unwrap_or(stored))?;
        if options.shortlist && vocabulary.is_marian() {
            return Err(TranslateError::NoShortlist);
        }
        let shortlist = if options.shortlist {
            Some(Arc::new(Shortlist::load(directory.join(SHORTLIST), &vocabulary)?))
        } else {
            None
        };
        let session = engine.session(Threads::new(options.threads));
        let mut translator = Self::new(session, Arc::new(vocabulary), decoding)?;
        translator.set_shortlist(shortlist);
        Ok(translator)
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        self.model.engine()
    }
}

/// How the model of a checkpoint decodes unless told otherwise.
///
/// # Errors
/// If its settings make no sense, or not for this model.
pub fn decoding_of(checkpoint: &Checkpoint) -> Result<Decoding, TranslateError> {
    let model = abilities_of(checkpoint.config());
    stored::read(checkpoint.generation().keys(), &model).map_err(|source| {
        TranslateError::Generation { path: checkpoint.directory().join(GENERATION), source }
    })
}

impl<M: Model> Translator<M> {
    /// A translator with a model and a vocabulary that belong together.
    ///
    /// # Errors
    /// If the model cannot be decoded like that.
    pub fn new(
        model: M,
        vocabulary: Arc<Vocabulary>,
        decoding: Decoding,
    ) -> Result<Self, TranslateError> {
        decoding.check_for(&abilities_of(model.config()))?;
        let segmentation = Segmentation::default();
        let (reranker, shortlist, listed) = (None, None, Vec::new());
        Ok(Self { vocabulary, model, decoding, segmentation, reranker, shortlist, listed })
    }

    /// The model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        self.model.config()
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// Splits texts like this from now on.
    pub fn set_segmentation(&mut self, segmentation: Segmentation) {
        self.segmentation = segmentation;
    }

    /// Only tokens of these lists compete from now on; all of them if there is none.
    pub fn set_shortlist(&mut self, shortlist: Option<Arc<Shortlist>>) {
        self.shortlist = shortlist;
    }

    /// The reranker, if there is one.
    pub fn reranker(&self) -> Option<&Reranker> {
        self.reranker.as_ref()
    }

    /// Leaves the order of hypotheses to a reranker from now on, or to itself again.
    ///
    /// # Errors
    /// If the reranker has another vocabulary.
    pub fn set_reranker(&mut self, reranker: Option<Reranker>) -> Result<(), TranslateError> {
        let knows_all = |reranker: &Reranker| {
            reranker.vocabulary().hash() == self.vocabulary.hash()
                && reranker.engine().config().symbols.vocab_size >= self.config().symbols.vocab_size
        };
        if !reranker.as_ref().is_none_or(knows_all) {
            return Err(TranslateError::ForeignReranker);
        }
        self.reranker = reranker;
        Ok(())
    }

    /// How it decodes.
    pub fn decoding(&self) -> &Decoding {
        &self.decoding
    }

    /// Decodes differently from now on.
    ///
    /// # Errors
    /// If the settings make no sense, or the model cannot be decoded like that.
    pub fn set_decoding(&mut self, decoding: Decoding) -> Result<(), TranslateError> {
        decoding.check_for(&abilities_of(self.config()))?;
        self.decoding = decoding;
        Ok(())
    }

    /// The longest source, in tokens with its end, that is translated in one piece: targets are somewhat longer than
    /// sources at times, and must fit.
    pub fn longest_source(&self) -> usize {
        longest_source(&self.decoding)
    }

    /// Translates texts, each into at most `alternatives` ways to say it. A text that its watcher does not want any more has none.
    ///
    /// # Errors
    /// If settings of a text make no sense, or not for this model; if the model fails.
    pub fn translate<W: Watcher>(
        &mut self,
        texts: &[Text<'_>],
        alternatives: usize,
        watcher: &mut W,
    ) -> Result<Vec<Translation>, TranslateError> {
        self.translate_with(texts, alternatives, watcher, &mut |_, _, _| Ok(()))
    }

    /// The same, and shows what was decoded while the model still has its sources encoded: whoever looks may ask it more about them.
    ///
    /// # Errors
    /// As [`Translator::translate`], or if whoever looks fails.
    pub fn translate_with<W: Watcher>(
        &mut self,
        texts: &[Text<'_>],
        alternatives: usize,
        watcher: &mut W,
        look: &mut Look<'_, M, W>,
    ) -> Result<Vec<Translation>, TranslateError> {
        let abilities = abilities_of(self.config());
        for decoding in texts.iter().filter_map(|text| text.decoding) {
            decoding.check_for(&abilities)?;
        }
        let mut jobs = Jobs::default();
        let plans: Vec<Plan<'_>> = texts.iter().map(|text| self.plan(*text, &mut jobs)).collect();
        for (text, plan) in texts.iter().zip(&plans) {
            self.check_template(text, plan)?;
        }
        let mut lists = Vec::with_capacity(jobs.list.len());
        let mut rest = jobs.list.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.bearable(rest));
            let places = now.iter().map(|job| job.places.as_slice()).collect();
            let found = self.decode(now, &mut Guide { places, watcher })?;
            let decoded: Vec<Decoded<'_>> = now
                .iter()
                .zip(&found)
                .enumerate()
                .map(|(context, (job, hypotheses))| Decoded {
                    context,
                    source: &job.source,
                    number: job.number,
                    places: &job.places,
                    hypotheses,
                })
                .collect();
            look(&mut self.model, watcher, &decoded)?;
            lists.extend(found);
            rest = later;
        }
        let translate = |(text, plan): (&Text<'_>, &Plan<'_>)| {
            let numbers = plan.parts.iter().filter_map(|&(_, job)| job);
            let source_tokens = numbers.map(|job| jobs.list[job].source.len()).sum();
            let alternatives = if watcher.wants(text.number) {
                let list = |job: Option<usize>| job.map_or(&[][..], |job| lists[job].as_slice());
                let parts: Vec<(Part<'_>, &[Hypothesis])> =
                    plan.parts.iter().map(|&(part, job)| (part, list(job))).collect();
                join(&self.vocabulary, &parts, alternatives)
            } else {
                Vec::new()
            };
            let (parts, too_long) = (plan.translated, plan.cut);
            Translation { alternatives, parts, too_long, source_tokens }
        };
        Ok(texts.iter().zip(&plans).map(translate).collect())
    }

    /// Splits a text into parts and finds the job of each. What fits into the model is tokenised once.
    fn plan<'t>(&self, text: Text<'t>, jobs: &mut Jobs<'t>) -> Plan<'t> {
        let decoding = text.decoding.unwrap_or(&self.decoding);
        let most = longest_source(decoding) - 1;
        let eos = self.config().symbols.eos;
        let mut encoder = self.vocabulary.encoder();
        let mut plan = Plan { parts: Vec::new(), translated: 0, cut: 0 };
        let mut add = |plan: &mut Plan<'t>, part: Part<'t>, ids: &mut Vec<TokenId>| {
            // White space that only the normaliser knows, or characters that it removes.
            if !ids.is_empty() {
                ids.push(eos);
                let place = Place { text: text.number, part: plan.translated };
                plan.translated += 1;
                plan.parts.push((part, Some(jobs.add(ids, &text, place))));
            }
        };
        let wholes = match self.segmentation {
            Segmentation::Sentences => sentences(text.text),
            Segmentation::Lines => vec![Part { text: text.text.trim(), gap: "" }],
        };
        let mut ids = Vec::new();
        for whole in wholes {
            if whole.text.is_empty() {
                plan.parts.push((whole, None));
                continue;
            }
            encoder.encode_into(whole.text, &mut ids);
            if ids.len() <= most {
                add(&mut plan, whole, &mut ids);
                continue;
            }
            plan.cut += 1;
            let mut parts = split(whole.text, most, &mut |part| {
                encoder.encode_into(part, &mut ids);
                ids.len()
            });
            if let Some(last) = parts.last_mut() {
                last.gap = whole.gap;
            }
            for part in parts {
                encoder.encode_into(part.text, &mut ids);
                add(&mut plan, part, &mut ids);
            }
        }
        plan
    }

    /// Whether a text can start from its template, if it has one.
    fn check_template(&self, text: &Text<'_>, plan: &Plan<'_>) -> Result<(), TranslateError> {
        let Some(template) = text.template else { return Ok(()) };
        let decoding = text.decoding.unwrap_or(&self.decoding);
        let refinement = decoding.refinement();
        let refinement = refinement.ok_or(TranslateError::TemplateMethod(decoding.method()))?;
        template.check(&refinement)?;
        if plan.parts.len() > 1 {
            return Err(TranslateError::TemplateParts(plan.parts.len()));
        }
        let size = self.config().symbols.vocab_size;
        match template.tokens().iter().find(|token| token.index() >= size) {
            Some(&token) => Err(TranslateError::TemplateToken(token)),
            None => Ok(()),
        }
    }

    /// How many of the first jobs memory bears at a time; at least one.
    fn bearable(&self, jobs: &[Job<'_>]) -> usize {
        let vocabulary = self.config().symbols.vocab_size;
        let mut cost = 0_usize;
        let fits = |job: &&Job<'_>| {
            let each = job.decoding.unwrap_or(&self.decoding).cost(vocabulary);
            cost = cost.saturating_add(job.source.len().saturating_mul(each));
            cost <= BEARABLE
        };
        jobs.iter().take_while(fits).count().max(1)
    }

    fn decode<W: Watcher>(
        &mut self,
        jobs: &[Job<'_>],
        guide: &mut Guide<'_, W>,
    ) -> Result<Vec<Vec<Hypothesis>>, TranslateError> {
        let sources: Vec<&[TokenId]> = jobs.iter().map(|job| job.source.as_slice()).collect();
        self.model.encode(&sources).map_err(TranslateError::model)?;
        if let Some(shortlist) = &self.shortlist {
            for (context, source) in sources.iter().enumerate() {
                shortlist.gather(source, &mut self.listed);
                let listed = Some(self.listed.as_slice());
                self.model.set_shortlist(context, listed).map_err(TranslateError::model)?;
            }
        }
        let mut lists = self.hypotheses(jobs, guide)?;
        if let Some(reranker) = &mut self.reranker {
            reranker.order(&sources, &mut lists)?;
        }
        Ok(lists)
    }

    /// The hypotheses of encoded jobs, those of each method together.
    fn hypotheses<W: Watcher>(
        &mut self,
        jobs: &[Job<'_>],
        guide: &mut Guide<'_, W>,
    ) -> Result<Vec<Vec<Hypothesis>>, TranslateError> {
        let mut refined: Vec<(usize, padir::Settings)> = Vec::new();
        let mut chained: Vec<(usize, GibbsChain)> = Vec::new();
        let mut ranked: Vec<(usize, EasyFirst)> = Vec::new();
        let mut searched: Vec<(usize, Beam)> = Vec::new();
        let mut sampled: Vec<(usize, Sample)> = Vec::new();
        let mut aligned: Vec<(usize, Ctc)> = Vec::new();
        for (i, job) in jobs.iter().enumerate() {
            match job.decoding.unwrap_or(&self.decoding) {
                Decoding::Refine(how) => refined.push((i, (**how).clone())),
                Decoding::MaskPredict(how) => refined.push((i, how.settings())),
                Decoding::Sundae(how) => refined.push((i, how.settings())),
                Decoding::Gibbs(how) => chained.push((i, *how)),
                Decoding::EasyFirst(how) => ranked.push((i, *how)),
                Decoding::Beam(how) => searched.push((i, *how)),
                Decoding::Sample(how) => sampled.push((i, *how)),
                Decoding::Ctc(how) => aligned.push((i, *how)),
            }
        }
        let mut lists = vec![Vec::new(); jobs.len()];
        if !refined.is_empty() {
            let (numbers, settings) = unzip(&refined);
            let found = self.refine(jobs, &numbers, &settings, &mut guide.of(&numbers))?;
            put(&mut lists, &numbers, found);
        }
        if !chained.is_empty() {
            let (numbers, hows) = unzip(&chained);
            let sentences = self.parallel_sentences(jobs, &numbers, |i| hows[i].lengths)?;
            let symbols = symbols_of(self.model.config());
            let guide = &mut guide.of(&numbers);
            let found = gibbs_each(&mut self.model, &hows, &symbols, &sentences, guide)?;
            put(&mut lists, &numbers, found);
        }
        if !ranked.is_empty() {
            let (numbers, hows) = unzip(&ranked);
            let sentences = self.parallel_sentences(jobs, &numbers, |i| hows[i].lengths)?;
            let symbols = symbols_of(self.model.config());
            let guide = &mut guide.of(&numbers);
            let found = easy_first_each(&mut self.model, &hows, &symbols, &sentences, guide)?;
            put(&mut lists, &numbers, found);
        }
        if !aligned.is_empty() {
            let (numbers, settings) = unzip(&aligned);
            let found = self.align(&numbers, &settings, &mut guide.of(&numbers))?;
            put(&mut lists, &numbers, found);
        }
        let symbols = causal_symbols_of(self.model.config());
        if !searched.is_empty() {
            let (numbers, hows) = unzip(&searched);
            let sources = sources(jobs, &searched, |how| how.max_length);
            let guide = &mut guide.of(&numbers);
            let found =
                autoregression::beam_each(&mut self.model, &hows, &symbols, &sources, guide)?;
            put(&mut lists, &numbers, found);
        }
        if !sampled.is_empty() {
            let (numbers, hows) = unzip(&sampled);
            let sources = sources(jobs, &sampled, |how| how.max_length);
            let guide = &mut guide.of(&numbers);
            let found =
                autoregression::sample_each(&mut self.model, &hows, &symbols, &sources, guide)?;
            put(&mut lists, &numbers, found);
        }
        Ok(lists)
    }

    fn align<W: Watcher>(
        &mut self,
        numbers: &[usize],
        settings: &[&Ctc],
        guide: &mut Guide<'_, W>,
    ) -> Result<Vec<Vec<Hypothesis>>, TranslateError> {
        let symbols = ctc_symbols_of(self.model.config()).ok_or(TranslateError::NoLengths)?;
        let mut sentences = Vec::with_capacity(numbers.len());
        for &context in numbers {
            let slots = self.model.lengths(context, 1).first().map(|&(slots, _)| slots);
            let slots = slots.ok_or(TranslateError::NoLengths)?;
            sentences.push(ctc::Sentence { context, slots });
        }
        Ok(ctc::decode_each(&mut self.model, settings, &symbols, &sentences, guide)?)
    }

    fn refine<W: Watcher>(
        &mut self,
        jobs: &[Job<'_>],
        numbers: &[usize],
        settings: &[&padir::Settings],
        guide: &mut Guide<'_, W>,
    ) -> Result<Vec<Vec<Hypothesis>>, TranslateError> {
        let symbols = symbols_of(self.model.config());
        let sentences =
            self.parallel_sentences(jobs, numbers, |i| settings[i].lengths_to_know())?;
        let templates: Vec<_> = numbers.iter().map(|&job| jobs[job].template).collect();
        Ok(padir::refine_from(&mut self.model, settings, &symbols, &sentences, &templates, guide)?)
    }

    /// Jobs as parallel decoding knows them, each with so many lengths.
    fn parallel_sentences(
        &self,
        jobs: &[Job<'_>],
        numbers: &[usize],
        most: impl Fn(usize) -> usize,
    ) -> Result<Vec<padir::Sentence>, TranslateError> {
        let sentence = |(i, &context): (usize, &usize)| {
            let lengths = self.model.lengths(context, most(i));
            if lengths.is_empty() {
                return Err(TranslateError::NoLengths);
            }
            Ok(padir::Sentence { number: jobs[context].number, context, lengths })
        };
        numbers.iter().enumerate().map(sentence).collect()
    }
}

/// The longest source that is translated in one piece.
fn longest_source(decoding: &Decoding) -> usize {
    (decoding.max_length() * 3 / 4).max(2)
}

/// Numbers of jobs and their settings.
fn unzip<T>(jobs: &[(usize, T)]) -> (Vec<usize>, Vec<&T>) {
    jobs.iter().map(|(number, how)| (*number, how)).unzip()
}

/// Jobs as autoregressive search knows them.
fn sources<T>(
    jobs: &[Job<'_>],
    chosen: &[(usize, T)],
    longest: impl Fn(&T) -> usize,
) -> Vec<Source> {
    let source = |(context, how): &(usize, T)| {
        let job = &jobs[*context];
        let max_length = autoregression::max_length(job.source.len(), longest(how));
        Source { number: job.number, context: *context, max_length }
    };
    chosen.iter().map(source).collect()
}

/// Puts what was found into its places.
fn put<T>(places: &mut [T], numbers: &[usize], found: Vec<T>) {
    for (&number, found) in numbers.iter().zip(found) {
        places[number] = found;
    }
}

/// The vocabulary in a model's directory. Of its two files, if it is not Marian's, models of earlier versions know only the one that they were trained with.
fn load_vocabulary(directory: &Path, config: &ModelConfig) -> Result<Vocabulary, TranslateError> {
    let wanted = config.provenance.vocabulary;
    for name in [TOKENIZER, SENTENCEPIECE] {
        let path = directory.join(name);
        if wanted.is_some() && path.exists() {
            let vocabulary = Vocabulary::load(path)?;
            if wanted.is_some_and(|hash| vocabulary.is_known_as(hash)) {
                return Ok(vocabulary);
            }
        }
    }
    let vocabulary = Vocabulary::load(directory)?;
    match wanted {
        Some(hash) if vocabulary.is_known_as(hash) => Ok(vocabulary),
        Some(_) => Err(TranslateError::ForeignVocabulary(directory.to_owned())),
        None => Ok(vocabulary),
    }
}

/// What is to be decoded: each source once for each way to decode it.
#[derive(Default)]
struct Jobs<'t> {
    list: Vec<Job<'t>>,
    /// The jobs of each source.
    known: HashMap<Vec<TokenId>, Vec<usize>>,
}

impl<'t> Jobs<'t> {
    fn add(&mut self, source: &[TokenId], text: &Text<'t>, place: Place) -> usize {
        let (decoding, template) = (text.decoding, text.template);
        let known = self.known.entry(source.to_vec()).or_default();
        let same = |&&job: &&usize| {
            self.list[job].decoding == decoding && self.list[job].template == template
        };
        if let Some(&job) = known.iter().find(same) {
            self.list[job].places.push(place);
            return job;
        }
        let (source, number) = (source.to_vec(), fingerprint(source));
        known.push(self.list.len());
        self.list.push(Job { source, number, decoding, template, places: vec![place] });
        self.list.len() - 1
    }
}

/// A number of 32 bits for a source (FNV-1a), so that its randomness does not depend on where it stands. Nothing else does: sources
/// with the same number have the same random start and are different jobs.
fn fingerprint(source: &[TokenId]) -> u64 {
    let bytes = source.iter().flat_map(|id| id.0.to_le_bytes());
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    u64::from(hash)
}
