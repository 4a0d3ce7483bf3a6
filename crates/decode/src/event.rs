//! Decoding step by step, as data for whoever listens.
//!
//! A decoder tells its [`Observer`] what each step made of each hypothesis, and asks it between steps whether a job is still wanted.
//! Nothing is collected when nobody listens: the observer `()` says so, and no [`Event`] is ever put together for it.

use padir_base::TokenId;
use serde::{Deserialize, Serialize};

use crate::hypothesis::LengthCandidate;

/// What has become of a hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It goes on.
    Live,
    /// It is complete.
    Finished,
    /// It was given up.
    Dropped,
}

/// One hypothesis after one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// The job: which of the sentences that were given to the decoder.
    #[serde(alias = "sentence")]
    pub job: usize,
    /// The number of the hypothesis among those of its sentence. In a beam, live ones are numbered by their place,
    /// which may hold the continuation of another one in the next step, finished ones as they finish.
    pub hypothesis: usize,
    /// The number of the step, from 1.
    pub step: usize,
    /// The most steps that there may be.
    #[serde(default)]
    pub max_steps: usize,
    /// All tokens after the step; autoregressively without the end.
    pub tokens: Vec<TokenId>,
    /// ln p of what was last predicted at each position.
    pub log_probs: Vec<f64>,
    /// The positions whose token this step has changed.
    pub changed: Vec<usize>,
    /// The positions whose prediction was rejected.
    pub rejected: Vec<usize>,
    /// The score, if the hypothesis ended here.
    pub score: f64,
    /// What has become of it.
    pub status: Status,
    /// The length candidate it came from.
    #[serde(default, alias = "guess", skip_serializing_if = "Option::is_none")]
    pub length: Option<LengthCandidate>,
}

/// Someone who may want to know.
pub trait Observer {
    /// Whether events are wanted at all.
    fn listens(&self) -> bool {
        true
    }

    /// Takes note of an event.
    fn observe(&mut self, event: Event);

    /// Whether a job is still wanted. It is asked before every step; a job that is not wanted any more is cancelled, and has no
    /// hypotheses.
    fn wants(&self, _job: usize) -> bool {
        true
    }
}

/// Nobody.
impl Observer for () {
    fn listens(&self) -> bool {
        false
    }

    fn observe(&mut self, _: Event) {}
}

/// Keeps all events.
impl Observer for Vec<Event> {
    fn observe(&mut self, event: Event) {
        self.push(event);
    }
}

/// Calls a function for each event.
#[derive(Clone, Copy, Debug)]
pub struct Each<F>(pub F);

impl<F: FnMut(Event)> Observer for Each<F> {
    fn observe(&mut self, event: Event) {
        (self.0)(event);
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn listens(&self) -> bool {
        (**self).listens()
    }

    fn observe(&mut self, event: Event) {
        (**self).observe(event);
    }

    fn wants(&self, job: usize) -> bool {
        (**self).wants(job)
    }
}

/// Somebody, perhaps.
impl<O: Observer> Observer for Option<O> {
    fn listens(&self) -> bool {
        self.as_ref().is_some_and(Observer::listens)
    }

    fn observe(&mut self, event: Event) {
        if let Some(observer) = self {
            observer.observe(event);
        }
    }

    fn wants(&self, job: usize) -> bool {
        self.as_ref().is_none_or(|observer| observer.wants(job))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event() -> Event {
        Event {
            job: 7,
            hypothesis: 0,
            step: 2,
            max_steps: 4,
            tokens: vec![TokenId(5), TokenId(1)],
            log_probs: vec![-0.5, -0.25],
            changed: vec![0],
            rejected: vec![],
            score: -0.75,
            status: Status::Live,
            length: None,
        }
    }

    #[test]
    fn an_event_is_a_line_of_json() {
        let line = serde_json::to_string(&event()).unwrap();
        assert_eq!(
            line,
            r#"{"job":7,"hypothesis":0,"step":2,"max_steps":4,"tokens":[5,1],"log_probs":[-0.5,-0.25],"changed":[0],"rejected":[],"score":-0.75,"status":"live"}"#
        );
        assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event());
    }

    #[test]
    fn those_who_listen_hear() {
        let mut heard = 0;
        let mut each = Each(|_| heard += 1);
        assert!(each.listens());
        Some(&mut each).observe(event());
        assert_eq!(heard, 1);
        assert!(!().listens() && !None::<Vec<Event>>.listens());
    }
}
