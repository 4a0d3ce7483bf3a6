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
/// A piece's mark of a space before it.
const SPACE: char = '▁';

/// Keeps the events of a text until it is known which hypothesis has won.
pub(super) struct Watch {
    vocabulary: Arc<Vocabulary>,
    terminal: bool,
    events: Vec<(Place, Event)>,
}

impl Watch {
    pub(super) fn new(vocabulary: &Arc<Vocabulary>) -> Self {
        let terminal = io::stderr().is_terminal();
        Self { vocabulary: Arc::clone(vocabulary), terminal, events: Vec::new() }
    }

    pub(super) fn keep(&mut self, place: Place, event: Event) {
        self.events.push((place, event));
    }

    /// Shows how the winners came about, and forgets all events.
    pub(super) fn show(&mut self, translations: &[Translation]) {
        let events = std::mem::take(&mut self.events);
        let best = translations.iter().filter_map(|t| t.alternatives.first());
        for (part, &winner) in best.flat_map(|best| best.hypotheses.iter().enumerate()) {
            for (_, event) in
                events.iter().filter(|(p, e)| p.part == part && e.hypothesis == winner)
            {
                self.draw(event);
            }
        }
    }

    fn draw(&self, event: &Event) {
        let mut line = format!("{:>3} ", event.step);
        for (at, &token) in event.tokens.iter().enumerate() {
            if token == TokenId::EOS || token == TokenId::PAD {
                continue;
            }
            if event.rejected.contains(&at) {
                line.push_str(REJECTED);
                continue;
            }
            let piece = self.vocabulary.piece(token).unwrap_or_default();
            let piece = piece.replace(SPACE, " ");
            if self.terminal && event.changed.contains(&at) {
                line.push_str(BOLD);
                line.push_str(&piece);
                line.push_str(PLAIN);
            } else {
                line.push_str(&piece);
            }
        }
        // Translations go on if nobody looks.
        let _ = writeln!(io::stderr(), "{line}");
        if self.terminal {
            sleep(PAUSE);
        }
    }
}
