//! Sentences of a request that wait for the engine, and their answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use padir_decode::padir::Template;
use padir_decode::{Decoding, Event};
use padir_translate::Alternative;
use tokio::sync::mpsc;

use crate::catalogue::Model;
use crate::error::Refusal;

/// Steps that wait for a slow reader; more are left out, so that memory stays bounded.
const STEPS_WAITING: usize = 256;

/// Sentences that are decoded alike.
pub(crate) struct Order {
    pub(crate) model: Arc<Model>,
    pub(crate) sentences: Vec<String>,
    pub(crate) decoding: Arc<Decoding>,
    /// What refinement starts from; only for a single sentence.
    pub(crate) template: Option<Template>,
    /// How many of the best are wanted.
    pub(crate) nbest: usize,
    /// How long a sentence keeps the engine busy, compared with others.
    pub(crate) work: usize,
    cancelled: Arc<AtomicBool>,
    answers: mpsc::UnboundedSender<Answer>,
    steps: Option<mpsc::Sender<Step>>,
}

/// A translated sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// Its number in the order.
    pub(crate) sentence: usize,
    /// Best first.
    pub(crate) alternatives: Result<Arc<Vec<Alternative>>, Refusal>,
}

/// A step of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step {
    /// The sentence's number in the order.
    pub(crate) sentence: usize,
    /// Where in it, if it was too long for the model.
    pub(crate) part: usize,
    /// What happened.
    pub(crate) event: Event,
}

/// Where answers arrive. Whoever lets go of it cancels the order.
pub(crate) struct Receipt {
    pub(crate) answers: mpsc::UnboundedReceiver<Answer>,
    pub(crate) steps: Option<mpsc::Receiver<Step>>,
    /// How many sentences there are.
    pub(crate) sentences: usize,
    cancelled: Arc<AtomicBool>,
}

/// What an order is made of.
pub(crate) struct Wish {
    pub(crate) model: Arc<Model>,
    pub(crate) sentences: Vec<String>,
    pub(crate) decoding: Arc<Decoding>,
    pub(crate) template: Option<Template>,
    pub(crate) nbest: usize,
    /// Whether steps are wanted.
    pub(crate) watched: bool,
}

impl Order {
    pub(crate) fn new(wish: Wish) -> (Arc<Self>, Receipt) {
        let Wish { model, sentences, decoding, template, nbest, watched } = wish;
        let (sender, answers) = mpsc::unbounded_channel();
        let (steps, watching) =
            if watched { Some(mpsc::channel(STEPS_WAITING)).unzip() } else { (None, None) };
        let cancelled = Arc::new(AtomicBool::new(false));
        let work = work(&decoding, model.vocabulary_size);
        let receipt = Receipt {
            answers,
            steps: watching,
            sentences: sentences.len(),
            cancelled: Arc::clone(&cancelled),
        };
        let order = Self {
            model,
            sentences,
            decoding,
            template,
            nbest,
            work,
            cancelled,
            answers: sender,
            steps,
        };
        (Arc::new(order), receipt)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    pub(crate) fn is_watched(&self) -> bool {
        self.steps.is_some()
    }

    /// Answers; nobody may be there any more.
    pub(crate) fn answer(&self, answer: Answer) {
        let _ = self.answers.send(answer);
    }

    /// Tells of a step, unless too many wait to be read.
    pub(crate) fn tell(&self, step: Step) {
        if let Some(steps) = &self.steps {
            let _ = steps.try_send(step);
        }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }
}

/// Steps of a way of decoding that are bounded by a limit: refinement steps, or sweeps.
pub(crate) fn steps_of(decoding: &Decoding) -> usize {
    match decoding {
        Decoding::Refine(how) => how.steps,
        Decoding::MaskPredict(how) => how.steps,
        Decoding::EasyFirst(how) => how.steps,
        Decoding::Sundae(how) => how.steps,
        Decoding::Gibbs(how) => how.sweeps,
        Decoding::Ctc(how) => how.steps,
        Decoding::Beam(_) | Decoding::Sample(_) => 1,
    }
}

fn work(decoding: &Decoding, vocabulary_size: usize) -> usize {
    steps_of(decoding).saturating_mul(decoding.cost(vocabulary_size)).max(1)
}
