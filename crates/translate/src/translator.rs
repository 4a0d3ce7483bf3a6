//! The translator.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use padir_base::TokenId;
use padir_checkpoint::{
    Checkpoint, DecoderKind, GenerationConfig, ModelConfig, SENTENCEPIECE, TOKENIZER,
};
use padir_decode::{DecodeError, Hypothesis, SettingsError, autoregression, padir};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_text::shortlist::{SHORTLIST, Shortlist};
use padir_text::vocab::Vocabulary;

use crate::decoding::{Decoding, symbols_of};
use crate::error::TranslateError;
use crate::judge::Judge;
use crate::observer::{Guide, Place, Watcher};
use crate::split::{Part, split};
use crate::translation::Translation;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'t> {
    /// The number.
    pub number: u64,
    /// The text.
    pub text: &'t str,
}

/// A model that translates texts.
pub struct Translator {
    pub(crate) vocabulary: Arc<Vocabulary>,
    engine: Engine,
    pub(crate) session: Session,
    pub(crate) decoding: Decoding,
    judge: Option<Judge>,
    max_length: usize,
    shortlist: Option<Arc<Shortlist>>,
    listed: Vec<TokenId>,
}

/// Something that is decoded once, however often it was asked for.
struct Job {
    source: Vec<TokenId>,
    /// Names it, and chooses its randomness: a function of the source alone.
    number: u64,
}

/// The parts of a text and the jobs that translate them.
type Plan<'t> = Vec<(Part<'t>, usize)>;

impl Translator {
    /// Opens the model in a directory.
    ///
    /// # Errors
    /// If it is no model, damaged, or its vocabulary is not there or another's.
    pub fn open(directory: impl AsRef<Path>, options: Options) -> Result<Self, TranslateError> {
        let directory = directory.as_ref();
        let checkpoint = Checkpoint::open(directory)?;
        let config = checkpoint.config();
        let vocabulary = load_vocabulary(directory, config)?;
        let (ids, known) = (vocabulary.size(), config.symbols.vocab_size);
        if ids > known {
            let directory = directory.to_owned();
            return Err(TranslateError::TooManyIds { directory, ids, known });
        }
        let stored = if checkpoint.is_quantised() { Precision::Int8 } else { Precision::F32 };
        let engine = Engine::load(&checkpoint, options.precision.unwrap_or(stored))?;
        let shortlist = if options.shortlist {
            Some(Arc::new(Shortlist::load(directory.join(SHORTLIST), &vocabulary)?))
        } else {
            None
        };
        let mut translator =
            Self::new(engine, Arc::new(vocabulary), checkpoint.generation(), options.threads);
        translator.set_shortlist(shortlist);
        Ok(translator)
    }

    /// A translator with an engine and a vocabulary that belong together and may be shared.
    pub fn new(
        engine: Engine,
        vocabulary: Arc<Vocabulary>,
        generation: &GenerationConfig,
        threads: usize,
    ) -> Self {
        let session = engine.session(Threads::new(threads));
        let decoding = Decoding::from(generation);
        Self {
            vocabulary,
            engine,
            session,
            decoding,
            judge: None,
            max_length: generation.max_length,
            shortlist: None,
            listed: Vec::new(),
        }
    }

    /// The model's shape.
    pub fn config(&self) -> &ModelConfig {
        self.engine.config()
    }

    /// The vocabulary.
    pub fn vocabulary(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The engine.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Only tokens of these lists compete from now on; all of them if there is none.
    pub fn set_shortlist(&mut self, shortlist: Option<Arc<Shortlist>>) {
        self.shortlist = shortlist;
    }

    /// Whoever orders hypotheses, if it is somebody else.
    pub fn judge(&self) -> Option<&Judge> {
        self.judge.as_ref()
    }

    /// Leaves the order of hypotheses to somebody else from now on, or to itself again.
    ///
    /// # Errors
    /// If the judge has another vocabulary.
    pub fn set_judge(&mut self, judge: Option<Judge>) -> Result<(), TranslateError> {
        let tokens = |engine: &Engine| engine.config().symbols.vocab_size;
        let knows_all = |judge: &Judge| {
            judge.vocabulary().hash() == self.vocabulary.hash()
                && tokens(judge.engine()) >= tokens(&self.engine)
        };
        if !judge.as_ref().is_none_or(knows_all) {
            return Err(TranslateError::ForeignJudge);
        }
        self.judge = judge;
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
        const CAUSAL: &str = "an autoregressive model";
        const PARALLEL: &str = "a parallel model";
        let (asked, needed) = match decoding {
            Decoding::Refine(_) => ("refinement", DecoderKind::Parallel),
            Decoding::Beam(_) => ("beam search", DecoderKind::Causal),
            Decoding::Sample(_) => ("sampling from left to right", DecoderKind::Causal),
        };
        if needed != self.config().decoder_kind() {
            let (needed, found) = match needed {
                DecoderKind::Causal => (CAUSAL, PARALLEL),
                DecoderKind::Parallel => (PARALLEL, CAUSAL),
            };
            return Err(TranslateError::WrongMethod { asked, needed, found });
        }
        decoding.check().map_err(DecodeError::Settings)?;
        let rejecter = self.config().parallel().is_some_and(|parallel| parallel.rejecter);
        if decoding.doubts() && !rejecter {
            return Err(DecodeError::Settings(SettingsError::NoRejecter).into());
        }
        self.decoding = decoding;
        Ok(())
    }

    /// The longest source, in tokens with its end, that is translated in one piece: targets are somewhat longer than
    /// sources at times, and must fit.
    pub fn longest_source(&self) -> usize {
        let longest = match &self.decoding {
            Decoding::Refine(settings) => settings.max_length,
            Decoding::Beam(_) | Decoding::Sample(_) => self.max_length,
        };
        (longest * 3 / 4).max(2)
    }

    /// Translates texts, each into at most `alternatives` ways to say it.
    ///
    /// # Errors
    /// If the settings make no sense.
    pub fn translate<W: Watcher>(
        &mut self,
        texts: &[Text<'_>],
        alternatives: usize,
        watcher: &mut W,
    ) -> Result<Vec<Translation>, TranslateError> {
        let mut jobs = Jobs::default();
        let plans: Vec<Plan<'_>> = texts.iter().map(|text| self.plan(*text, &mut jobs)).collect();
        let guide = &mut Guide { places: &jobs.places, watcher };
        let mut lists = Vec::with_capacity(jobs.list.len());
        let mut rest = jobs.list.as_slice();
        while !rest.is_empty() {
            let (now, later) = rest.split_at(self.bearable(rest));
            lists.extend(self.decode(now, guide)?);
            rest = later;
        }
        let translate = |plan: &Plan<'_>| {
            let parts: Vec<(Part<'_>, &[Hypothesis])> =
                plan.iter().map(|&(part, job)| (part, lists[job].as_slice())).collect();
            let tokens = plan.iter().map(|&(_, job)| jobs.list[job].source.len()).sum();
            Translation::join(&self.vocabulary, &parts, alternatives, tokens)
        };
        Ok(plans.iter().map(translate).collect())
    }

    /// Cuts a text into parts and finds the job of each.
    fn plan<'t>(&self, text: Text<'t>, jobs: &mut Jobs) -> Plan<'t> {
        let mut encoder = self.vocabulary.encoder();
        let mut ids = Vec::new();
        let most = self.longest_source() - 1;
        let parts = split(text.text, most, &mut |part| {
            encoder.encode_into(part, &mut ids);
            ids.len()
        });
        let mut plan = Plan::new();
        for part in parts {
            encoder.encode_into(part.text, &mut ids);
            // White space that only the normaliser knows, or characters that it removes.
            if !ids.is_empty() {
                ids.push(TokenId::EOS);
                let place = Place { text: text.number, part: plan.len() };
                plan.push((part, jobs.add(&ids, place)));
            }
        }
        plan
    }

    /// How many of the first jobs memory bears at a time; at least one.
    fn bearable(&self, jobs: &[Job]) -> usize {
        let each = self.decoding.cost(self.config().symbols.vocab_size);
        let mut cost = 0_usize;
        let fits = |job: &&Job| {
            cost = cost.saturating_add(job.source.len().saturating_mul(each));
            cost <= BEARABLE
        };
        jobs.iter().take_while(fits).count().max(1)
    }

    fn decode<W: Watcher>(
        &mut self,
        jobs: &[Job],
        guide: &mut Guide<'_, W>,
    ) -> Result<Vec<Vec<Hypothesis>>, TranslateError> {
        let sources: Vec<&[TokenId]> = jobs.iter().map(|job| job.source.as_slice()).collect();
        self.session.encode(&sources)?;
        if let Some(shortlist) = &self.shortlist {
            for (context, source) in sources.iter().enumerate() {
                shortlist.gather(source, &mut self.listed);
                self.session.set_shortlist(context, Some(&self.listed))?;
            }
        }
        let mut lists = self.hypotheses(jobs, guide)?;
        if let Some(judge) = &mut self.judge {
            judge.order(&sources, &mut lists)?;
        }
        Ok(lists)
    }

    /// What is to be said of encoded jobs.
    fn hypotheses<W: Watcher>(
        &mut self,
        jobs: &[Job],
        guide: &mut Guide<'_, W>,
    ) -> Result<Vec<Vec<Hypothesis>>, TranslateError> {
        match &self.decoding {
            Decoding::Refine(settings) => {
                let symbols = symbols_of(self.engine.config());
                let mut sentences = Vec::with_capacity(jobs.len());
                for (context, job) in jobs.iter().enumerate() {
                    let lengths = self.session.lengths(context, settings.lengths_to_know());
                    if lengths.is_empty() {
                        return Err(TranslateError::NoLengths);
                    }
                    sentences.push(padir::Sentence { number: job.number, context, lengths });
                }
                Ok(padir::refine(&mut self.session, settings, &symbols, &sentences, guide)?)
            }
            Decoding::Beam(beam) => {
                let (symbols, sources) = self.left_to_right(jobs);
                Ok(autoregression::beam(&mut self.session, beam, &symbols, &sources, guide)?)
            }
            Decoding::Sample(sample) => {
                let (symbols, sources) = self.left_to_right(jobs);
                Ok(autoregression::sample(&mut self.session, sample, &symbols, &sources, guide)?)
            }
        }
    }

    fn left_to_right(
        &self,
        jobs: &[Job],
    ) -> (autoregression::Symbols, Vec<autoregression::Source>) {
        let mut symbols = autoregression::Symbols::new(self.config().symbols.start);
        symbols.never.push(TokenId::PAD);
        let source = |(context, job): (usize, &Job)| autoregression::Source {
            number: job.number,
            context,
            max_length: autoregression::max_length(job.source.len(), self.max_length),
        };
        (symbols, jobs.iter().enumerate().map(source).collect())
    }
}

/// The vocabulary in a model's directory. Of its two files, models of earlier versions know only the one that they were trained with.
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
        Some(_) => Err(TranslateError::ForeignVocabulary(directory.to_owned())),
        None => Ok(vocabulary),
    }
}

/// What is to be decoded, each source once.
#[derive(Default)]
struct Jobs {
    list: Vec<Job>,
    known: HashMap<Vec<TokenId>, usize>,
    places: HashMap<u64, Vec<Place>>,
}

impl Jobs {
    fn add(&mut self, source: &[TokenId], place: Place) -> usize {
        let number = fingerprint(source);
        self.places.entry(number).or_default().push(place);
        if let Some(&job) = self.known.get(source) {
            return job;
        }
        self.known.insert(source.to_vec(), self.list.len());
        self.list.push(Job { source: source.to_vec(), number });
        self.list.len() - 1
    }
}

/// A number of 32 bits for a source (FNV-1a), so that its randomness does not depend on where it stands.
fn fingerprint(source: &[TokenId]) -> u64 {
    let bytes = source.iter().flat_map(|id| id.0.to_le_bytes());
    let hash = bytes
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    u64::from(hash)
}
