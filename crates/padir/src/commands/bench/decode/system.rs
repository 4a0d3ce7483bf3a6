//! What is measured: a model, a precision, a way of decoding, and the number of threads that suits them.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use padir_base::TokenId;
use padir_checkpoint::Checkpoint;
use padir_decode::Method;
use padir_decode::autoregression::{self, Beam};
use padir_decode::ctc::{self, Ctc};
use padir_decode::padir::{self, Prune, Sentence, StopRule};
use padir_engine::{Engine, Precision, Session, Threads};
use padir_text::shortlist::{SHORTLIST, Shortlist};
use padir_text::vocab::Vocabulary;
use padir_translate::{
    Decoding, Segmentation, Text, Translator, abilities_of, ctc_symbols_of, decoding_of, symbols_of,
};

use super::threads::choose;
use super::work::{Task, Work};
use crate::console::Console;

/// Sentences of the trial that finds the number of threads.
const TRIAL: usize = 3;
/// What a measurement of throughput lasts at least.
const LEAST_SECONDS: f64 = 0.5;
/// Steps of the refinement whose throughput is measured: the paper's.
const TYPICAL_STEPS: usize = 4;
/// The shortest target: a token and the end.
const SHORTEST: usize = 2;

/// Which systems there are.
#[derive(Clone, Copy)]
pub(super) struct Choices<'a> {
    pub(super) steps: &'a [usize],
    pub(super) lengths: &'a [usize],
    /// Tokens of random shortlists; 0 for no shortlists.
    pub(super) shortlist: usize,
}

impl Choices<'_> {
    /// The most steps that are not more than the paper's, or else the fewest.
    pub(super) fn typical_steps(&self) -> usize {
        let few = self.steps.iter().copied().filter(|&steps| steps <= TYPICAL_STEPS).max();
        few.or_else(|| self.steps.iter().copied().min()).unwrap_or(TYPICAL_STEPS)
    }
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
    /// Threads that it may use.
    pub(super) most: usize,
    /// Threads that suit one sentence best.
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
        for path in [work.ar(), work.padir(), work.ctc()].into_iter().flatten() {
            let model = Arc::new(Model::load(path, precision, work)?);
            for (label, decoding) in ways(&model, choices)? {
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

/// The ways a model can decode, with their names: as it is scored, but with other beams, steps and lengths.
fn ways(model: &Model, choices: Choices<'_>) -> Result<Vec<(String, Decoding)>> {
    let abilities = abilities_of(model.checkpoint.config());
    let own = match decoding_of(&model.checkpoint)? {
        Decoding::Refine(own) => *own,
        // Methods are compared as refinement and beam search, whatever a model comes with.
        Decoding::MaskPredict(_)
        | Decoding::EasyFirst(_)
        | Decoding::Sundae(_)
        | Decoding::Gibbs(_) => {
            let padir = Decoding::of(Method::Refine, &abilities).refinement();
            padir.unwrap_or_default()
        }
        Decoding::Ctc(own) => return Ok(alignment_ways(own)),
        other => {
            let own = match other {
                Decoding::Beam(own) => own,
                _ => Beam { max_length: other.max_length(), ..Beam::default() },
            };
            let way = |num_beams| Decoding::Beam(Beam { num_beams, ..own });
            return Ok(vec![("AR greedy".to_owned(), way(1)), ("AR beam 5".to_owned(), way(5))]);
        }
    };
    let mut ways = Vec::new();
    for &steps in choices.steps {
        for &lengths in choices.lengths {
            let plain = padir::Settings { steps, lengths, ..own.clone() };
            ways.push((format!("PaDIR {steps} × {lengths}"), plain.clone()));
            if lengths > 1 {
                let fast = plain.fast();
                let one = padir::Settings { prune: Prune::Keep { most: 1 }, ..fast.clone() };
                ways.push((format!("PaDIR {steps} × {lengths} fast"), fast));
                ways.push((format!("PaDIR {steps} × {lengths} pruned"), one));
            }
        }
    }
    Ok(ways.into_iter().map(|(name, how)| (name, Decoding::Refine(Box::new(how)))).collect())
}

/// Best paths in one, two and four passes, and prefix beam search over one.
fn alignment_ways(own: Ctc) -> Vec<(String, Decoding)> {
    let plain = Ctc { steps: 1, num_beams: 1, early_exit: None, ..own };
    let mut ways: Vec<(String, Decoding)> = [1, 2, 4]
        .map(|steps| (format!("CTC {steps}"), Decoding::Ctc(Ctc { steps, ..plain })))
        .into();
    let beam = Ctc { num_beams: 5, ..plain };
    ways.push(("CTC 1 beam 5".to_owned(), Decoding::Ctc(beam)));
    ways
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
        let session = self.engine.session(Threads::new(threads));
        let mut translator = Translator::new(session, Arc::clone(vocabulary), decoding.clone())?;
        translator.set_segmentation(Segmentation::Lines);
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
            settings.stop = StopRule::Never;
            settings.length_share = 1.0;
            settings.early_exit = None;
        }
        let most = console.threads();
        let runner = model.runner(&decoding, &listed, most)?;
        Ok(Self {
            label,
            precision: model.engine.precision(),
            decoding,
            listed,
            model: Arc::clone(model),
            most,
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

    pub(super) fn precision(&self) -> Precision {
        self.precision
    }

    /// Whether its throughput is of interest: every autoregressive search, and refinement in so many steps, plain or
    /// with all shortcuts.
    pub(super) fn is_typical(&self, steps: usize) -> bool {
        match &self.decoding {
            Decoding::Refine(how) => how.steps == steps && how.prune != (Prune::Keep { most: 1 }),
            _ => true,
        }
    }

    /// Finds the number of threads that suits one sentence best, and warms up.
    pub(super) fn settle(&mut self, work: &Work) -> Result<()> {
        self.threads = self.suit(work, TRIAL)?;
        Ok(())
    }

    /// Works with the number of threads that suits the first sentences best from now on, and tells it.
    pub(super) fn suit(&mut self, work: &Work, sentences: usize) -> Result<usize> {
        let best = choose(self.most, |threads| {
            self.restart(work, threads)?;
            let start = Instant::now();
            for sentence in 0..sentences.min(work.len()) {
                self.run(work, &[sentence])?;
            }
            Ok(start.elapsed().as_secs_f64())
        })?;
        self.restart(work, best)?;
        Ok(best)
    }

    /// Translates a sentence and takes the time, which goes to no record.
    pub(super) fn time_one(&mut self, work: &Work, sentence: usize) -> Result<f64> {
        let start = Instant::now();
        self.run(work, &[sentence])?;
        Ok(start.elapsed().as_secs_f64())
    }

    /// Takes all threads, and warms up: a batch has work for them even where one sentence has not.
    pub(super) fn take_all_threads(&mut self, work: &Work) -> Result<()> {
        self.restart(work, self.most)
    }

    /// Starts anew with so many threads, and warms up.
    fn restart(&mut self, work: &Work, threads: usize) -> Result<()> {
        self.runner = self.model.runner(&self.decoding, &self.listed, threads)?;
        self.run(work, &[0])?;
        Ok(())
    }

    /// Translates sentences one at a time and takes the time of each, after another one that does not count.
    pub(super) fn translate_turn(&mut self, work: &Work, turn: Range<usize>) -> Result<()> {
        let before = turn.start.checked_sub(1).unwrap_or(work.len() - 1);
        self.run(work, &[before])?;
        turn.into_iter().try_for_each(|sentence| self.translate_one(work, sentence))
    }

    fn translate_one(&mut self, work: &Work, sentence: usize) -> Result<()> {
        let start = Instant::now();
        let (tokens, steps) = self.run(work, &[sentence])?;
        self.seconds.push(start.elapsed().as_secs_f64());
        self.steps.push(steps);
        self.tokens += tokens;
        Ok(())
    }

    /// Target tokens per second over batches, as many as fit the time.
    pub(super) fn translate_many(
        &mut self,
        work: &Work,
        batches: impl Iterator<Item = Vec<usize>>,
    ) -> Result<f64> {
        let start = Instant::now();
        let mut tokens = 0;
        for batch in batches {
            tokens += self.run(work, &batch)?.0;
            if start.elapsed().as_secs_f64() >= LEAST_SECONDS {
                break;
            }
        }
        Ok(tokens as f64 / start.elapsed().as_secs_f64())
    }

    /// Target tokens, and the most steps.
    fn run(&mut self, work: &Work, batch: &[usize]) -> Result<(usize, usize)> {
        match (&mut self.runner, &work.task) {
            (Runner::Text(translator), Task::Texts(texts)) => {
                let texts: Vec<Text<'_>> =
                    batch.iter().map(|&i| Text::new(i as u64, &texts[i])).collect();
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
    let config = model.checkpoint.config();
    let steps = match decoding {
        Decoding::Refine(settings) => {
            let symbols = symbols_of(config);
            let lengths = lengths_around(length, settings.lengths, settings.max_length);
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
            let mut symbols = autoregression::Symbols::new(config.symbols.start);
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
        Decoding::Ctc(settings) => {
            let Some(symbols) = ctc_symbols_of(config) else { anyhow::bail!("there is no BLANK") };
            let sentence = |context: usize| ctc::Sentence {
                context,
                slots: session.lengths(context, 1).first().map_or(length, |&(slots, _)| slots),
            };
            let sentences: Vec<_> = (0..batch.len()).map(sentence).collect();
            ctc::decode(session, settings, &symbols, &sentences, &mut ())?;
            settings.steps
        }
        other => anyhow::bail!("{} is not measured", other.method()),
    };
    Ok((batch.len() * length, steps))
}

/// So many lengths around one, so that they have its mean, or as near to it as targets can be short or long.
fn lengths_around(length: usize, count: usize, longest: usize) -> Vec<(usize, f64)> {
    let highest_start = (longest + 1).saturating_sub(count);
    let lowest = length.saturating_sub(count / 2).min(highest_start).max(SHORTEST);
    (lowest..=longest).take(count).map(|length| (length, 0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lie_around_one_and_can_be_had() {
        let cases = [
            ("one", (30, 1), (30, 30)),
            ("five", (30, 5), (28, 32)),
            ("an even number", (30, 4), (28, 31)),
            ("more below than there are", (30, 64), (2, 65)),
            ("of the shortest", (2, 5), (2, 6)),
            ("of the longest", (128, 5), (124, 128)),
            ("all that there are", (30, 127), (2, 128)),
            ("more than there are", (30, 1000), (2, 128)),
        ];
        for (name, (length, count), (first, last)) in cases {
            let found: Vec<usize> =
                lengths_around(length, count, 128).into_iter().map(|(n, _)| n).collect();
            assert_eq!(found, (first..=last).collect::<Vec<usize>>(), "{name}");
        }
    }

    #[test]
    fn throughput_is_measured_with_steps_that_were_asked_for() {
        let cases: [(&[usize], usize); 5] =
            [(&[1, 2, 4, 10], 4), (&[10, 3, 1], 3), (&[20, 10], 10), (&[2], 2), (&[], 4)];
        for (steps, expected) in cases {
            let choices = Choices { steps, lengths: &[1], shortlist: 0 };
            assert_eq!(choices.typical_steps(), expected, "{steps:?}");
        }
    }
}
