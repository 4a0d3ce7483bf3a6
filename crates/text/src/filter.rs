//! Which pairs are worth keeping.
//!
//! Rules are tried in a fixed order, cheap ones first; a pair counts for the first rule that it
//! breaks. Memory: 8 bytes of fingerprint per kept pair if repetitions are dropped.

use std::collections::HashSet;

use crate::hash::Fingerprint;
use crate::pair::Pair;

/// What a pair must satisfy. The default keeps everything.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Words on each side, at least.
    pub min_words: Option<usize>,
    /// Words on each side, at most.
    pub max_words: Option<usize>,
    /// Characters on each side, at least.
    pub min_chars: Option<usize>,
    /// Characters on each side, at most.
    pub max_chars: Option<usize>,
    /// The longer side over the shorter one, in words.
    pub max_ratio: Option<f64>,
    /// The longer side over the shorter one, in characters.
    pub max_char_ratio: Option<f64>,
    /// Whether to drop pairs whose sides are the same text.
    pub drop_identical: bool,
    /// What may not come twice.
    pub unique: Option<Unique>,
}

/// What makes a pair a repetition of an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unique {
    /// The same source and the same target.
    Pair,
    /// The same source.
    Source,
    /// The same target.
    Target,
    /// The same source or the same target.
    Either,
}

/// Why a pair is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// A side has too few words or characters.
    TooShort,
    /// A side has too many words or characters.
    TooLong,
    /// One side is much longer than the other.
    Ratio,
    /// Both sides are the same text.
    Identical,
    /// A side occurs in a corpus to be kept apart.
    Overlap,
    /// It was there before.
    Duplicate,
}

impl Reason {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 6] = [
        Self::TooShort,
        Self::TooLong,
        Self::Ratio,
        Self::Identical,
        Self::Overlap,
        Self::Duplicate,
    ];

    /// A word or two for tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::TooShort => "too short",
            Self::TooLong => "too long",
            Self::Ratio => "length ratio",
            Self::Identical => "identical sides",
            Self::Overlap => "overlap",
            Self::Duplicate => "duplicate",
        }
    }
}

/// Sentences to be kept apart from, by fingerprint.
#[derive(Clone, Debug, Default)]
pub struct Forbidden {
    sources: HashSet<u64>,
    targets: HashSet<u64>,
}

impl Forbidden {
    /// Adds both sentences of a pair.
    pub fn insert(&mut self, pair: &Pair) {
        let Fingerprint { source, target, .. } = Fingerprint::of(pair);
        self.sources.insert(source);
        self.targets.insert(target);
    }

    /// Whether it has the source or the target of this pair.
    pub fn shares(&self, pair: &Pair) -> bool {
        if self.sources.is_empty() && self.targets.is_empty() {
            return false;
        }
        let Fingerprint { source, target, .. } = Fingerprint::of(pair);
        self.sources.contains(&source) || self.targets.contains(&target)
    }
}

/// Checks pairs one after the other.
#[derive(Debug)]
pub struct Filter {
    rules: Rules,
    forbidden: Forbidden,
    seen: HashSet<u64>,
    seen_targets: HashSet<u64>,
}

impl Filter {
    /// A filter with rules and sentences to be kept apart from.
    pub fn new(rules: Rules, forbidden: Forbidden) -> Self {
        Self { rules, forbidden, seen: HashSet::new(), seen_targets: HashSet::new() }
    }

    /// Why to drop a pair; `None` to keep it.
    pub fn check(&mut self, pair: &Pair) -> Option<Reason> {
        self.rules.check(pair).or_else(|| {
            if self.forbidden.shares(pair) {
                Some(Reason::Overlap)
            } else if self.is_repeated(pair) {
                Some(Reason::Duplicate)
            } else {
                None
            }
        })
    }

    fn is_repeated(&mut self, pair: &Pair) -> bool {
        let Some(unique) = self.rules.unique else { return false };
        let fingerprint = Fingerprint::of(pair);
        match unique {
            Unique::Pair => !self.seen.insert(fingerprint.pair),
            Unique::Source => !self.seen.insert(fingerprint.source),
            Unique::Target => !self.seen.insert(fingerprint.target),
            Unique::Either => {
                let known = self.seen.contains(&fingerprint.source)
                    || self.seen_targets.contains(&fingerprint.target);
                if !known {
                    // Only kept pairs count: a dropped one repeats nothing.
                    self.seen.insert(fingerprint.source);
                    self.seen_targets.insert(fingerprint.target);
                }
                known
            }
        }
    }
}

impl Rules {
    fn check(&self, pair: &Pair) -> Option<Reason> {
        let sides = [pair.source.as_str(), pair.target.as_str()];
        if self.needs_words() {
            let words = sides.map(|text| text.split_whitespace().count());
            let reason = check_lengths(words, self.min_words, self.max_words, self.max_ratio);
            if reason.is_some() {
                return reason;
            }
        }
        if self.needs_chars() {
            let chars = sides.map(|text| text.chars().count());
            let reason = check_lengths(chars, self.min_chars, self.max_chars, self.max_char_ratio);
            if reason.is_some() {
                return reason;
            }
        }
        (self.drop_identical && pair.source == pair.target).then_some(Reason::Identical)
    }

    fn needs_words(&self) -> bool {
        self.min_words.is_some() || self.max_words.is_some() || self.max_ratio.is_some()
    }

    fn needs_chars(&self) -> bool {
        self.min_chars.is_some() || self.max_chars.is_some() || self.max_char_ratio.is_some()
    }
}

fn check_lengths(
    lengths: [usize; 2],
    min: Option<usize>,
    max: Option<usize>,
    ratio: Option<f64>,
) -> Option<Reason> {
    let [short, long] = [lengths[0].min(lengths[1]), lengths[0].max(lengths[1])];
    if min.is_some_and(|min| short < min) {
        return Some(Reason::TooShort);
    }
    if max.is_some_and(|max| long > max) {
        return Some(Reason::TooLong);
    }
    // Nothing against something is infinitely more; nothing against nothing is as much.
    let broken = ratio.is_some_and(|ratio| long as f64 > ratio * short as f64);
    broken.then_some(Reason::Ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: Rules, pairs: &[(&str, &str)]) -> Vec<Option<Reason>> {
        let mut filter = Filter::new(rules, Forbidden::default());
        pairs.iter().map(|(source, target)| filter.check(&Pair::new(*source, *target))).collect()
    }

    #[test]
    fn each_rule_drops_what_it_should() {
        use Reason::{Identical, Ratio, TooLong, TooShort};
        let none = Rules::default;
        let cases = [
            ("nothing", none(), ("", ""), None),
            ("min words", Rules { min_words: Some(2), ..none() }, ("a b", "c"), Some(TooShort)),
            ("min words met", Rules { min_words: Some(1), ..none() }, ("a b", "c"), None),
            ("max words", Rules { max_words: Some(2), ..none() }, ("a b c", "c"), Some(TooLong)),
            ("min chars", Rules { min_chars: Some(2), ..none() }, ("中文", "中"), Some(TooShort)),
            ("max chars", Rules { max_chars: Some(2), ..none() }, ("äö", "中文"), None),
            ("ratio", Rules { max_ratio: Some(2.0), ..none() }, ("a b c", "a"), Some(Ratio)),
            ("ratio met", Rules { max_ratio: Some(3.0), ..none() }, ("a", "a b c"), None),
            ("ratio of nothing", Rules { max_ratio: Some(9.0), ..none() }, ("a", ""), Some(Ratio)),
            ("ratio of two nothings", Rules { max_ratio: Some(9.0), ..none() }, ("", ""), None),
            (
                "ratio in characters",
                Rules { max_char_ratio: Some(2.0), ..none() },
                ("aaaaa", "bb"),
                Some(Ratio),
            ),
            ("identical", Rules { drop_identical: true, ..none() }, ("a", "a"), Some(Identical)),
            ("not identical", Rules { drop_identical: true, ..none() }, ("a", "A"), None),
        ];
        for (name, rules, pair, expected) in cases {
            assert_eq!(check(rules, &[pair]), [expected], "{name}");
        }
    }

    #[test]
    fn repetitions_are_dropped_as_asked() {
        let pairs = [("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")];
        let cases = [
            (Unique::Pair, [true, false, true, true, true]),
            (Unique::Source, [true, false, false, true, false]),
            (Unique::Target, [true, false, true, false, false]),
            (Unique::Either, [true, false, false, false, true]),
        ];
        for (unique, expected) in cases {
            let rules = Rules { unique: Some(unique), ..Rules::default() };
            let kept: Vec<bool> = check(rules, &pairs).iter().map(Option::is_none).collect();
            assert_eq!(kept, expected, "{unique:?}");
        }
    }

    #[test]
    fn forbidden_sentences_are_dropped_by_either_side() {
        let mut forbidden = Forbidden::default();
        forbidden.insert(&Pair::new("a", "x"));
        let mut filter = Filter::new(Rules::default(), forbidden);
        let cases = [("a", "q", true), ("q", "x", true), ("x", "a", false), ("b", "y", false)];
        for (source, target, dropped) in cases {
            let reason = filter.check(&Pair::new(source, target));
            assert_eq!(reason == Some(Reason::Overlap), dropped, "{source} {target}");
        }
    }
}
