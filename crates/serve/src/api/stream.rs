//! Translations as they are refined: server-sent events, one for each step of each hypothesis, then the result.
//!
//! ```text
//! event: start    {"sentences": [{"text": 0, "source": "…"}]}
//! event: step     {"sentence": 0, "hypothesis": 0, "step": 1, "pieces": […], "confidences": […], "changed": […], …}
//! event: result   as of /v1/translate
//! event: error    {"error": "…"}
//! ```
//!
//! A reader that is too slow misses steps, never the result. One that goes away cancels the request.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Extension, Request, State};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use futures_util::stream::{Stream, unfold};
use padir_base::TokenId;
use padir_decode::{LengthCandidate, Status};
use serde::Serialize;
use utoipa::ToSchema;

use super::libre::Choice;
use super::native::{Ready, TranslateRequest, prepare, probability, respond};
use crate::app::{Active, App, Waiting};
use crate::catalogue::Model;
use crate::error::{ErrorBody, Refusal};
use crate::order::{Answer, Step};

/// What is about to be translated.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartEvent {
    sentences: Vec<StartSentence>,
}

#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StartSentence {
    /// The number of its text.
    text: usize,
    /// The sentence.
    source: String,
}

/// One hypothesis of one sentence after one step.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StepEvent {
    /// The number of the sentence.
    sentence: usize,
    /// Which part of it, if it is too long for the model.
    part: usize,
    /// The number of the hypothesis.
    hypothesis: usize,
    /// The number of the step, from 1.
    step: usize,
    /// The most steps that there may be.
    max_steps: usize,
    /// Its tokens, without end and padding; `▁` is a space.
    pieces: Vec<String>,
    /// The probability of each when it was last predicted.
    confidences: Vec<f64>,
    /// Which of them this step has changed.
    changed: Vec<usize>,
    /// Which of them were rejected.
    rejected: Vec<usize>,
    /// The score, if it ended here.
    score: Option<f64>,
    /// `live`, `finished` or `dropped`.
    #[schema(value_type = String)]
    status: Status,
    /// The length candidate it came from.
    #[schema(value_type = Option<Object>)]
    length: Option<LengthCandidate>,
}

impl StepEvent {
    fn of(step: &Step, model: &Model) -> Self {
        let event = &step.event;
        let is_text = |&i: &usize| !matches!(event.tokens[i], TokenId::EOS | TokenId::PAD);
        let kept: Vec<usize> = (0..event.tokens.len()).filter(is_text).collect();
        let at = |list: &[usize]| -> Vec<usize> {
            (0..kept.len()).filter(|&new| list.contains(&kept[new])).collect()
        };
        let confidence = |&i: &usize| event.log_probs.get(i).map_or(0.0, |&p| probability(p));
        Self {
            sentence: step.sentence,
            part: step.part,
            hypothesis: event.hypothesis,
            step: event.step,
            max_steps: event.max_steps,
            pieces: kept.iter().map(|&i| model.piece(event.tokens[i])).collect(),
            confidences: kept.iter().map(confidence).collect(),
            changed: at(&event.changed),
            rejected: at(&event.rejected),
            score: Some(event.score).filter(|score| score.is_finite()),
            status: event.status,
            length: event.length,
        }
    }
}

/// A stream under way.
struct Progress {
    /// What is to be said next.
    ready: VecDeque<Message>,
    /// None once the result is on its way.
    waiting: Option<Waiting>,
    left: usize,
    choices: Vec<Choice>,
    nbest: usize,
    tokens: bool,
    active: Active,
    seconds: u64,
}

fn message(name: &str, data: &impl Serialize) -> Message {
    let failed = |_| Message::default().event("error").data("{\"error\":\"the server failed\"}");
    Message::default().event(name).json_data(data).unwrap_or_else(failed)
}

fn refused(refusal: &Refusal) -> Message {
    message("error", &ErrorBody { error: refusal.to_string() })
}

impl Progress {
    /// The next message; none at the end.
    async fn next(&mut self) -> Option<Message> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let mut waiting = self.waiting.take()?;
            if self.left == 0 {
                self.end(waiting);
                continue;
            }
            let outcome = match tokio::time::timeout_at(self.active.until, hear(&mut waiting)).await
            {
                Ok(heard) => self.take(heard, &mut waiting),
                Err(_) => Err(Refusal::Late(self.seconds)),
            };
            match outcome {
                Ok(()) => self.waiting = Some(waiting),
                Err(refusal) => self.ready.push_back(refused(&refusal)),
            }
        }
    }

    fn take(&mut self, heard: Heard, waiting: &mut Waiting) -> Result<(), Refusal> {
        match heard {
            Heard::Step(step) => self.tell(&step),
            Heard::Answer(answer) => {
                let answer = answer.ok_or(Refusal::Failed)?;
                // Steps were sent before their answer.
                while let Some(step) =
                    waiting.receipts[0].steps.as_mut().and_then(|steps| steps.try_recv().ok())
                {
                    self.tell(&step);
                }
                waiting.note(0, answer.sentence, answer.alternatives?);
                self.left -= 1;
            }
        }
        Ok(())
    }

    fn tell(&mut self, step: &Step) {
        if let Some(choice) = self.choices.first() {
            self.ready.push_back(message("step", &StepEvent::of(step, &choice.model)));
        }
    }

    fn end(&mut self, waiting: Waiting) {
        let last = match waiting.finish() {
            Ok(texts) => {
                message("result", &respond(&texts, &self.choices, self.nbest, self.tokens))
            }
            Err(refusal) => refused(&refusal),
        };
        self.ready.push_back(last);
    }
}

enum Heard {
    Step(Step),
    Answer(Option<Answer>),
}

/// Waits for the next step or answer.
async fn hear(waiting: &mut Waiting) -> Heard {
    let receipt = &mut waiting.receipts[0];
    let answers = &mut receipt.answers;
    match &mut receipt.steps {
        Some(steps) => tokio::select! {
            biased;
            Some(step) = steps.recv() => Heard::Step(step),
            answer = answers.recv() => Heard::Answer(answer),
        },
        None => Heard::Answer(answers.recv().await),
    }
}

/// Translates and tells of every step.
#[utoipa::path(
    post, path = "/v1/translate/stream", tag = "padir", request_body = TranslateRequest,
    responses(
        (status = 200, description = "Events `start`, `step`, then `result` or `error`", content_type = "text/event-stream", body = String),
        (status = 400, description = "The request is wrong, or a key is missing", body = ErrorBody),
        (status = 403, description = "The key is wrong", body = ErrorBody),
        (status = 413, description = "Too much text", body = ErrorBody),
        (status = 415, description = "A body of another type", body = ErrorBody),
        (status = 429, description = "Too many requests of one client", body = ErrorBody),
        (status = 500, description = "The server failed", body = ErrorBody),
        (status = 503, description = "Too many requests", body = ErrorBody),
    )
)]
pub(crate) async fn translate(
    State(app): State<Arc<App>>,
    Extension(active): Extension<Active>,
    request: Request,
) -> Result<Sse<impl Stream<Item = Result<Message, Infallible>>>, Refusal> {
    let (client, fields) = app.admit(&active, request).await?;
    let Ready { items, choices, mut how, tokens, nbest } = prepare(&app, fields.values)?;
    let one = |choice: &Choice| Arc::ptr_eq(&choice.model, &choices[0].model);
    if !choices.iter().all(one) {
        return Err(Refusal::invalid("a stream has one model; name the source language"));
    }
    how.watched = true;
    let waiting = app.submit(&client, &items, &how)?;
    let sentence =
        |(text, source): (usize, &str)| StartSentence { text, source: source.to_owned() };
    let start = StartEvent { sentences: waiting.sentences().map(sentence).collect() };
    let state = Progress {
        ready: VecDeque::from([message("start", &start)]),
        left: waiting.receipts.iter().map(|receipt| receipt.sentences).sum(),
        waiting: Some(waiting),
        choices,
        nbest,
        tokens,
        active,
        seconds: app.limits.time.as_secs(),
    };
    let stream = unfold(state, |mut state| async move {
        let message = state.next().await?;
        Some((Ok(message), state))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::default()))
}
