//! What is measured: a model, a precision, a way of decoding, and the number of threads that suits them.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use padir_base::TokenId;
use padir_checkpoint::Checkpoint;
use padir_decode::autoregression::{self, Beam};
use padir_decode::padir::{self, Halt, Prune, Sentence};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_text::shortlist::{SHORTLIST, Shortlist};
use padir_text::vocab::Vocabulary;
use padir_translate::{Decoding, Text, Translator};

use super::work::{Task, Work};
use crate::console::Console;

/// Sentences of the trial that finds the number of threads.
const TRIAL: usize = 3;
/// What a measurement of throughput lasts at least.
const LEAST_SECONDS: f64 = 0.5;

/// Which systems there are.
#[derive(Clone, Copy)]
pub(super) struct Choices<'a> {
    pub(super) steps: &'a [usize],
    pub(super) lengths: &'a [usize],
    /// Tokens of random shortlists; 0 for no shortlists.
    pub(super) shortlist: usize,
}

/// What competes.
#[derive(Clone)]
enum Listed {
    Everything,
    /// So many random tokens for each sentence.
    Random(usize),
    /// What the model's shortlist says.
    Known(Arc<Shortlist>),
}

/// A loaded model.
struct Model {
    engine: Engine,
    vocabulary: Option<Arc<Vocabulary>>,
    checkpoint: Checkpoint,
    load_seconds: f64,
}

/// A way to translate.
pub(super) struct System {
    label: String,
    precision: Precision,
    decoding: Decoding,
    model: Arc<Model>,
    listed: Listed,
    choices: Vec<usize>,
    pub(super) threads: usize,
    runner: Runner,
    /// Seconds of each sentence.
    pub(super) seconds: Vec<f64>,
    /// Steps of each sentence, and target tokens.
    pub(super) steps: Vec<usize>,
    pub(super) tokens: usize,
}

/// What does the work.
enum Runner {
    Text(Box<Translator>),
    Fixed(Box<Session>),
}

/// All systems of the models at hand.
pub(super) fn all(work: &Work, choices: Choices<'_>, console: &Console) -> Result<Vec<System>> {
    let mut systems = Vec::new();
    for precision in [Precision::F32, Precision::Int8] {
        for path in [work.ar(), work.padir()].into_iter().flatten() {
            let model = Arc::new(Model::load(path, precision, work)?);
            let fixed = matches!(work.task, Task::Fixed { .. });
            for (label, decoding) in ways(&model, choices) {
                // Without early ends and with given lengths it would be the halved one.
                if fixed && label.ends_with("fast") {
                    continue;
                }
                for listed in model.lists(path, choices)? {
                    let label = match listed {
                        Listed::Everything => label.clone(),
                        _ => format!("{label} short"),
                    };
                    let decoding = decoding.clone();
                    systems.push(System::new(label, decoding, listed, &model, work, console)?);
                }
            }
        }
    }
    Ok(systems)
}

/// The ways a model can decode, with their names.
fn ways(model: &Model, choices: Choices<'_>) -> Vec<(String, Decoding)> {
    let Decoding::Refine(own) = Decoding::from(model.checkpoint.generation()) else {
        let way = |num_beams| Decoding::Beam(Beam { num_beams, ..Beam::default() });
        return vec![("AR greedy".to_owned(), way(1)), ("AR beam 5".to_owned(), way(5))];
    };
    let mut ways = Vec::new();
    for &steps in choices.steps {
        for &lengths in choices.lengths {
            let plain = padir::Settings { steps, lengths, ..*own.clone() };
            ways.push((format!("PaDIR {steps} × {lengths}"), plain.clone()));
            if lengths > 1 {
                for (name, prune) in [("pruned", Prune::Keep { most: 1 }), ("halved", Prune::Halve)]
                {
                    let settings = padir::Settings { prune, ..plain.clone() };
                    ways.push((format!("PaDIR {steps} × {lengths} {name}"), settings));
                }
                ways.push((format!("PaDIR {steps} × {lengths} fast"), plain.fast()));
            }
        }
    }
    ways.into_iter().map(|(name, how)| (name, Decoding::Refine(Box::new(how)))).collect()
}

impl Model {
    fn load(path: &Path, precision: Precision, work: &Work) -> Result<Self> {
        let start = Instant::now();
        let checkpoint = Checkpoint::open(path)?;
        let engine = Engine::load(&checkpoint, precision)?;
        let load_seconds = start.elapsed().as_secs_f64();
        let vocabulary = match work.task {
            Task::Fixed { .. } => None,
            Task::Texts(_) => Some(Arc::new(Vocabulary::load(path)?)),
        };
        Ok(Self { engine, vocabulary, checkpoint, load_seconds })
    }

    /// What may compete: everything, and what is listed if lists are asked for.
    fn lists(&self, path: &Path, choices: Choices<'_>) -> Result<Vec<Listed>> {
        let mut lists = vec![Listed::Everything];
        let file = path.join(SHORTLIST);
        match &self.vocabulary {
            _ if choices.shortlist == 0 => {}
            None => lists.push(Listed::Random(choices.shortlist)),
            Some(vocabulary) if file.exists() => {
                lists.push(Listed::Known(Arc::new(Shortlist::load(&file, vocabulary)?)));
            }
            Some(_) => {}
        }
        Ok(lists)
    }

    fn runner(&self, decoding: &Decoding, listed: &Listed, threads: usize) -> Result<Runner> {
        let Some(vocabulary) = &self.vocabulary else {
            return Ok(Runner::Fixed(Box::new(self.engine.session(Threads::new(threads)))));
        };
        let generation = self.checkpoint.generation();
        let mut translator =
            Translator::new(self.engine.clone(), Arc::clone(vocabulary), generation, threads);
        translator.set_decoding(decoding.clone())?;
        if let Listed::Known(shortlist) = listed {
            translator.set_shortlist(Some(Arc::clone(shortlist)));
        }
        Ok(Runner::Text(Box::new(translator)))
    }
}

impl System {
    fn new(
        label: String,
        mut decoding: Decoding,
        listed: Listed,
        model: &Arc<Model>,
        work: &Work,
        console: &Console,
    ) -> Result<Self> {
        if let (Decoding::Refine(settings), Task::Fixed { .. }) = (&mut decoding, &work.task) {
            // Nothing ends early, and lengths are given.
            settings.halt = Halt::Never;
            settings.length_share = 1.0;
            settings.enough = None;
        }
        let most = console.threads();
        let choices = if most > 1 { vec![1, most] } else { vec![1] };
        let runner = model.runner(&decoding, &listed, most)?;
        Ok(Self {
            label,
            precision: model.engine.precision(),
            decoding,
            listed,
            model: Arc::clone(model),
            choices,
            threads: most,
            runner,
            seconds: Vec::new(),
            steps: Vec::new(),
            tokens: 0,
        })
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.label, self.precision)
    }

    /// Seconds to load, and bytes of packed weights.
    pub(super) fn footprint(&self) -> (f64, usize) {
        (self.model.load_seconds, self.model.engine.bytes())
    }

    /// Whether its throughput is of interest.
    pub(super) fn is_typical(&self) -> bool {
        let label = self.label.trim_end_matches(" short");
        ["AR greedy", "AR beam 5", "PaDIR 4 × 1", "PaDIR 4 × 5", "PaDIR 4 × 5 pruned"]
            .contains(&label)
    }

    /// Finds the number of threads that suits it best, and warms up.
    pub(super) fn settle(&mut self, work: &Work) -> Result<()> {
        let mut best = (f64::INFINITY, 1);
        for threads in self.choices.clone() {
            self.runner = self.model.runner(&self.decoding, &self.listed, threads)?;
            self.run(work, &[0])?;
            let start = Instant::now();
            for sentence in 0..TRIAL.min(work.len()) {
                self.run(work, &[sentence])?;
            }
            best = if start.elapsed().as_secs_f64() < best.0 {
                (start.elapsed().as_secs_f64(), threads)
            } else {
                best
            };
        }
        self.threads = best.1;
        self.runner = self.model.runner(&self.decoding, &self.listed, self.threads)?;
        self.run(work, &[0])?;
        Ok(())
    }

    /// Translates one sentence and takes the time.
    pub(super) fn translate_one(&mut self, work: &Work, sentence: usize) -> Result<()> {
        let start = Instant::now();
        let (tokens, steps) = self.run(work, &[sentence])?;
        self.seconds.push(start.elapsed().as_secs_f64());
        self.steps.push(steps);
        self.tokens += tokens;
        Ok(())
    }

    /// Target tokens per second at a size of batches.
    pub(super) fn translate_many(&mut self, work: &Work, batch: usize) -> Result<f64> {
        let start = Instant::now();
        let mut tokens = 0;
        let mut first = 0;
        while start.elapsed().as_secs_f64() < LEAST_SECONDS {
            let batch: Vec<usize> = (first..first + batch).map(|i| i % work.len()).collect();
            tokens += self.run(work, &batch)?.0;
            first += batch.len();
        }
        Ok(tokens as f64 / start.elapsed().as_secs_f64())
    }

    /// Target tokens, and the most steps.
    fn run(&mut self, work: &Work, batch: &[usize]) -> Result<(usize, usize)> {
        match (&mut self.runner, &work.task) {
            (Runner::Text(translator), Task::Texts(texts)) => {
                let texts: Vec<Text<'_>> =
                    batch.iter().map(|&i| Text { number: i as u64, text: &texts[i] }).collect();
                let translations = translator.translate(&texts, 1, &mut ())?;
                let best = translations.iter().filter_map(|t| t.alternatives.first());
                Ok(best.fold((0, 0), |(tokens, steps), alternative| {
                    (tokens + alternative.tokens + 1, steps.max(alternative.steps))
                }))
            }
            (Runner::Fixed(session), Task::Fixed { length }) => {
                let sources: Vec<&[TokenId]> =
                    batch.iter().map(|&i| work.sources[i].as_slice()).collect();
                session.encode(&sources)?;
                if let Listed::Random(count) = self.listed {
                    for (context, &number) in batch.iter().enumerate() {
                        let list = work.random_list(number, count);
                        session.set_shortlist(context, Some(&list))?;
                    }
                }
                decode_fixed(session, &self.model, &self.decoding, batch, *length)
            }
            _ => anyhow::bail!("the runner does not fit the task"),
        }
    }
}

/// Decodes encoded sentences into exactly so many tokens.
fn decode_fixed(
    session: &mut Session,
    model: &Model,
    decoding: &Decoding,
    batch: &[usize],
    length: usize,
) -> Result<(usize, usize)> {
    let symbols = &model.checkpoint.config().symbols;
    let steps = match decoding {
        Decoding::Refine(settings) => {
            let symbols = padir::Symbols::new(symbols.random.clone(), symbols.mask);
            // Around the length, so that several lengths have its mean.
            let lowest = length - settings.lengths / 2;
            let lengths: Vec<(usize, f64)> =
                (0..settings.lengths).map(|i| (lowest + i, 0.0)).collect();
            let sentence = |(context, &number): (usize, &usize)| Sentence {
                number: number as u64,
                context,
                lengths: lengths.clone(),
            };
            let sentences: Vec<Sentence> = batch.iter().enumerate().map(sentence).collect();
            // The length predictor is part of the work.
            for context in 0..batch.len() {
                session.lengths(context, settings.lengths);
            }
            padir::refine(session, settings, &symbols, &sentences, &mut ())?;
            settings.steps
        }
        Decoding::Beam(beam) => {
            let mut symbols = autoregression::Symbols::new(symbols.start);
            symbols.never = vec![TokenId::PAD, TokenId::EOS];
            let source = |(context, &number): (usize, &usize)| autoregression::Source {
                number: number as u64,
                context,
                max_length: length,
            };
            let sources: Vec<_> = batch.iter().enumerate().map(source).collect();
            autoregression::beam(session, beam, &symbols, &sources, &mut ())?;
            length
        }
        Decoding::Sample(_) => anyhow::bail!("sampling is not measured"),
    };
    Ok((batch.len() * length, steps))
}
