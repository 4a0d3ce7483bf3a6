//! Listening to the decoding of texts, and cancelling it.

use padir_decode::{Event, Observer};

/// Where a decoded sentence comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of the text.
    pub text: u64,
    /// Which part of it, from 0.
    pub part: usize,
}

/// Someone who may want to see texts being decoded.
pub trait Watcher {
    /// Whether anything is to be seen at all.
    fn watches(&self) -> bool {
        true
    }

    /// One hypothesis of a part of a text after one step.
    fn watch(&mut self, place: Place, event: Event);

    /// Whether a text is still wanted. It is asked before every step; a text that is not wanted any more is cancelled.
    fn wants(&self, _text: u64) -> bool {
        true
    }
}

/// Nobody.
impl Watcher for () {
    fn watches(&self) -> bool {
        false
    }

    fn watch(&mut self, _: Place, _: Event) {}
}

/// Calls a function for each event.
impl<F: FnMut(Place, Event)> Watcher for F {
    fn watch(&mut self, place: Place, event: Event) {
        self(place, event);
    }
}

/// Tells a watcher of events by the texts that their jobs are part of.
pub(crate) struct Guide<'a, W> {
    /// Of each job all places that ask for it.
    pub(crate) places: Vec<&'a [Place]>,
    pub(crate) watcher: &'a mut W,
}

impl<W> Guide<'_, W> {
    /// The same for some of the jobs, given by their numbers.
    pub(crate) fn of(&mut self, jobs: &[usize]) -> Guide<'_, W> {
        let places = jobs.iter().map(|&job| self.places[job]).collect();
        Guide { places, watcher: self.watcher }
    }
}

impl<W: Watcher> Observer for Guide<'_, W> {
    fn listens(&self) -> bool {
        self.watcher.watches()
    }

    fn observe(&mut self, event: Event) {
        for &place in self.places.get(event.job).copied().unwrap_or_default() {
            self.watcher.watch(place, event.clone());
        }
    }

    fn wants(&self, job: usize) -> bool {
        let places = self.places.get(job).copied().unwrap_or_default();
        places.iter().any(|place| self.watcher.wants(place.text))
    }
}
