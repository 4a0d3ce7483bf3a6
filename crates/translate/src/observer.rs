//! Listening to the decoding of texts.

use std::collections::HashMap;

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
    /// Whether anything is wanted at all.
    fn watches(&self) -> bool {
        true
    }

    /// One hypothesis of a part of a text after one step.
    fn watch(&mut self, place: Place, event: Event);
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

/// Translates the numbers of sentences into places: all that ask for the same.
pub(crate) struct Guide<'a, W> {
    pub(crate) places: &'a HashMap<u64, Vec<Place>>,
    pub(crate) watcher: &'a mut W,
}

impl<W: Watcher> Observer for Guide<'_, W> {
    fn listens(&self) -> bool {
        self.watcher.watches()
    }

    fn observe(&mut self, event: Event) {
        for &place in self.places.get(&event.sentence).into_iter().flatten() {
            self.watcher.watch(place, event.clone());
        }
    }
}
