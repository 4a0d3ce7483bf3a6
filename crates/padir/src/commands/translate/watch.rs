//! A text as it is refined, step by step.
//!
//! Every step is a line; on a terminal they come one after the other, what has just changed in bold. Dots are predictions that were rejected:
//! whatever stands there now is no part of the text.

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use padir_base::TokenId;
use padir_decode::Event;
use padir_text::vocab::Vocabulary;
use padir_translate::{Place, Translation};

/// How long a step is shown on a terminal.
const PAUSE: Duration = Duration::from_millis(350);
const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
/// Stands for a rejected prediction.
const REJECTED: &str = " ·";
/// A slot that says nothing.
const BLANK: &str = "·";
/// A piece's mark of a space before it.
const SPACE: char = '▁';

/// Keeps the events of a text until it is known which hypothesis has won.
pub(super) struct Watch {
    vocabulary: Arc<Vocabulary>,
    /// What stands for nothing in an alignment.
    blank: Option<TokenId>,
    terminal: bool,
    events: Vec<(Place, Event)>,
}

impl Watch {
    pub(super) fn new(vocabulary: &Arc<Vocabulary>, blank: Option<TokenId>) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { vocabulary: Arc::clone(vocabulary), blank, terminal, events: Vec::new() }
    }

    pub(super) fn keep(&mut self, place: Place, event: Event) {
        self.events.push((place, event));
    }

    /// Shows how a translation came about, and forgets all events.
    pub(super) fn show(&mut self, translation: &Translation) {
        for event in self.winners(translation) {
            // Translations go on if nobody looks.
            let _ = writeln!(io::stderr(), "{:>3} {}", event.step, self.line(&event));
            if self.terminal {
                sleep(PAUSE);
            }
        }
    }

    /// How a translation came about, a line for each step, and forgets all events.
    pub(super) fn tell(&mut self, translation: &Translation) -> Vec<String> {
        self.terminal = false;
        let steps = self.winners(translation);
        steps.iter().map(|event| self.line(event).trim_start().to_owned()).collect()
    }

    /// The steps of the hypotheses that won, part by part.
    fn winners(&mut self, translation: &Translation) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.events);
        let best = translation.alternatives.first().map_or(&[][..], |best| &best.hypotheses);
        let of_winner =
            |(place, event): &(Place, Event)| best.get(place.part) == Some(&event.hypothesis);
        events.retain(of_winner);
        events.sort_by_key(|(place, event)| (place.part, event.step));
        events.into_iter().map(|(_, event)| event).collect()
    }

    fn line(&self, event: &Event) -> String {
        let mut line = String::new();
        for (at, &token) in event.tokens.iter().enumerate() {
            if token == TokenId::EOS || token == TokenId::PAD {
                continue;
            }
            if event.rejected.contains(&at) {
                line.push_str(REJECTED);
                continue;
            }
            let piece = if Some(token) == self.blank {
                BLANK.to_owned()
            } else {
                self.vocabulary.piece(token).unwrap_or_default().replace(SPACE, " ")
            };
            if self.terminal && event.changed.contains(&at) {
                line.push_str(BOLD);
                line.push_str(&piece);
                line.push_str(PLAIN);
            } else {
                line.push_str(&piece);
            }
        }
        line
    }
}
