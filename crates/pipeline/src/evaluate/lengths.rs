//! Were the lengths predicted?

use std::collections::HashMap;

use padir_decode::Event;
use padir_text::Pair;
use padir_text::vocab::Vocabulary;
use padir_translate::{Place, Watcher};

/// Compares the lengths that hypotheses begin with, likeliest first, with those of references.
///
/// Only texts that were not cut count, and each source once.
pub(super) struct LengthAccuracy {
    /// Whether the decoder begins with lengths at all.
    predicts_lengths: bool,
    /// Tokens of the references, ends included.
    references: Vec<usize>,
    /// For each text whether it was cut, its likeliest length was right, or one of those tried.
    texts: HashMap<u64, Found>,
}

#[derive(Default)]
struct Found {
    is_cut: bool,
    likeliest: bool,
    among: bool,
}

impl LengthAccuracy {
    pub(super) fn new(vocabulary: &Vocabulary, pairs: &[Pair], predicts_lengths: bool) -> Self {
        let mut encoder = vocabulary.encoder();
        let mut ids = Vec::new();
        let mut length = |pair: &Pair| {
            encoder.encode_into(&pair.target, &mut ids);
            ids.len() + 1
        };
        Self {
            predicts_lengths,
            references: pairs.iter().map(&mut length).collect(),
            texts: HashMap::new(),
        }
    }

    /// Per cent of texts whose likeliest length was right, and of those where one of the lengths tried was.
    pub(super) fn shares(&self) -> Option<(f64, f64)> {
        let whole = || self.texts.values().filter(|found| !found.is_cut);
        let count = whole().count();
        let share = |right: usize| 100.0 * right as f64 / count as f64;
        (count > 0).then(|| {
            (
                share(whole().filter(|found| found.likeliest).count()),
                share(whole().filter(|found| found.among).count()),
            )
        })
    }
}

impl Watcher for LengthAccuracy {
    fn watches(&self) -> bool {
        self.predicts_lengths
    }

    fn watch(&mut self, place: Place, event: Event) {
        if event.step != 1 {
            return;
        }
        let found = self.texts.entry(place.text).or_default();
        found.is_cut |= place.part > 0;
        let is_right = self.references.get(place.text as usize) == Some(&event.tokens.len());
        found.likeliest |= is_right && event.hypothesis == 0;
        found.among |= is_right;
    }
}

#[cfg(test)]
mod tests {
    use padir_base::TokenId;
    use padir_decode::Status;

    use super::*;

    fn event(hypothesis: usize, step: usize, length: usize) -> Event {
        Event {
            job: 0,
            hypothesis,
            step,
            max_steps: 4,
            tokens: vec![TokenId(5); length],
            log_probs: vec![],
            changed: vec![],
            rejected: vec![],
            score: 0.0,
            status: Status::Live,
            length: None,
        }
    }

    #[test]
    fn lengths_are_right_or_not() {
        let mut predicted = LengthAccuracy {
            predicts_lengths: true,
            references: vec![4; 5],
            texts: HashMap::new(),
        };
        assert_eq!(predicted.shares(), None);
        let mut watch = |text, part, event| predicted.watch(Place { text, part }, event);
        watch(0, 0, event(0, 1, 4)); // the likeliest is right
        watch(0, 0, event(1, 1, 5));
        watch(1, 0, event(0, 1, 3)); // another is
        watch(1, 0, event(1, 1, 4));
        watch(2, 0, event(0, 1, 3)); // none is, and later steps do not count
        watch(2, 0, event(0, 2, 4));
        watch(3, 0, event(0, 1, 4)); // cut in two
        watch(3, 1, event(0, 1, 4));
        watch(4, 0, event(0, 1, 9));
        assert_eq!(predicted.shares(), Some((25.0, 50.0)));
    }
}
