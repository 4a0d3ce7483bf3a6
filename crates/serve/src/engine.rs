//! The engine thread: takes batches from the queue and decodes them.
//!
//! It is one thread, and the engine's own threads share the work of a batch. None of them belongs to the runtime, so that
//! connections are served while the engine is busy.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use padir_decode::Event;
use padir_translate::{Place, Text, TranslateError, Translation, Watcher};

use crate::error::{Refusal, ServeError};
use crate::metrics::Metrics;
use crate::order::{Answer, Step};
use crate::queue::{Queue, Unit};
use crate::record::{Log, Record};

/// What the thread works with.
pub(crate) struct Engine {
    pub(crate) queue: Arc<Queue>,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) log: Arc<Log>,
    /// Sentences of one batch.
    pub(crate) batch: usize,
}

impl Engine {
    /// Starts the thread. It ends when the queue is closed and empty.
    pub(crate) fn start(self) -> Result<JoinHandle<()>, ServeError> {
        let work = move || {
            while let Some(batch) = self.queue.take(self.batch) {
                self.metrics.queue.set(self.queue.len() as i64);
                let started = Instant::now();
                self.decode(&batch);
                self.metrics.note_batch(batch.len(), started.elapsed());
            }
        };
        let thread = std::thread::Builder::new().name("engine".to_owned());
        thread.spawn(work).map_err(ServeError::Threads)
    }

    fn decode(&self, batch: &[Unit]) {
        match translate(batch) {
            Ok(translations) => {
                for (unit, translation) in batch.iter().zip(translations) {
                    self.answer(unit, translation);
                }
            }
            // One sentence that fails does not take the others with it.
            Err(_) if batch.len() > 1 => {
                for unit in batch {
                    self.decode(std::slice::from_ref(unit));
                }
            }
            Err(failure) => batch.iter().for_each(|unit| self.refuse(unit, &failure)),
        }
    }

    fn answer(&self, unit: &Unit, mut translation: Translation) {
        if translation.is_cancelled() {
            self.metrics.cancelled.inc();
            return;
        }
        translation.alternatives.truncate(unit.order.nbest);
        if let Some(best) = translation.alternatives.first() {
            self.metrics.note_sentence(translation.source_tokens, best.tokens, best.steps);
        }
        let alternatives = Ok(Arc::new(translation.alternatives));
        unit.order.answer(Answer { sentence: unit.sentence, alternatives });
    }

    fn refuse(&self, unit: &Unit, failure: &Failure) {
        let refusal = match failure {
            Failure::Error(error) => Refusal::from(error),
            Failure::Panic => Refusal::Failed,
        };
        if refusal == Refusal::Failed {
            self.metrics.failed.inc();
            let reason = match failure {
                Failure::Error(error) => error.to_string(),
                Failure::Panic => "the decoder panicked".to_owned(),
            };
            let model = unit.order.model.name.as_str();
            (self.log)(&Record::DecodingFailed { model, reason: &reason });
        }
        unit.order.answer(Answer { sentence: unit.sentence, alternatives: Err(refusal) });
    }
}

enum Failure {
    Error(TranslateError),
    Panic,
}

fn translate(batch: &[Unit]) -> Result<Vec<Translation>, Failure> {
    let Some(first) = batch.first() else { return Ok(Vec::new()) };
    let texts: Vec<Text<'_>> = batch
        .iter()
        .enumerate()
        .map(|(number, unit)| Text {
            number: number as u64,
            text: unit.text(),
            decoding: Some(&unit.order.decoding),
            template: unit.order.template.as_ref(),
        })
        .collect();
    let nbest = batch.iter().map(|unit| unit.order.nbest).max().unwrap_or(1);
    let mut translator = first.order.model.translator();
    let mut watcher = Watch { batch };
    let run = || translator.translate(&texts, nbest, &mut watcher);
    // A panic is a fault of ours, and ends a request, not the server.
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(result) => result.map_err(Failure::Error),
        Err(_) => Err(Failure::Panic),
    }
}

/// Passes steps on to those who watch, and cancels what nobody waits for.
struct Watch<'a> {
    batch: &'a [Unit],
}

impl Watch<'_> {
    fn unit(&self, text: u64) -> Option<&Unit> {
        self.batch.get(usize::try_from(text).ok()?)
    }
}

impl Watcher for Watch<'_> {
    fn watches(&self) -> bool {
        self.batch.iter().any(|unit| unit.order.is_watched())
    }

    fn watch(&mut self, place: Place, event: Event) {
        if let Some(unit) = self.unit(place.text).filter(|unit| unit.order.is_watched()) {
            unit.order.tell(Step { sentence: unit.sentence, part: place.part, event });
        }
    }

    fn wants(&self, text: u64) -> bool {
        self.unit(text).is_some_and(|unit| !unit.order.is_cancelled())
    }
}
