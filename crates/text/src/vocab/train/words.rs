//! The distinct words of the text with their counts, cut at characters outside of the alphabet.

use std::collections::BTreeMap;

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::{LineSample, TrainOptions};
use crate::vocab::normalizer::{Normalizer, SPACE};

/// Lines that one task normalises and counts.
const CHUNK: usize = 20_000;
/// The longest word in characters; longer runs without a space are cut.
const LONGEST_WORD: usize = 16_384;

/// Distinct words, most frequent first, concatenated.
#[derive(Debug)]
pub(super) struct Words {
    text: String,
    ends: Vec<usize>,
    counts: Vec<u64>,
    alphabet: Vec<char>,
    uncovered: f64,
    lines_too_long: u64,
}

impl Words {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub(super) fn word(&self, index: usize) -> &str {
        &self.text[self.start(index)..self.ends[index]]
    }

    /// Where a word starts in [`Words::text`].
    pub(super) fn start(&self, index: usize) -> usize {
        if index == 0 { 0 } else { self.ends[index - 1] }
    }

    /// All words, one after the other.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn count(&self, index: usize) -> u64 {
        self.counts[index]
    }

    /// The characters that must be pieces, most frequent first.
    pub(super) fn alphabet(&self) -> &[char] {
        &self.alphabet
    }

    /// The share of character occurrences outside of the alphabet.
    pub(super) fn uncovered(&self) -> f64 {
        self.uncovered
    }

    pub(super) fn lines_too_long(&self) -> u64 {
        self.lines_too_long
    }
}

/// Normalises and counts.
pub(super) fn count(sample: &LineSample, normalizer: &Normalizer, options: &TrainOptions) -> Words {
    let chunks = sample.len().div_ceil(CHUNK);
    let (counts, lines_too_long) = (0..chunks)
        .into_par_iter()
        .map(|chunk| {
            let lines = chunk * CHUNK..sample.len().min((chunk + 1) * CHUNK);
            count_lines(lines.map(|i| sample.line(i)), normalizer, options.longest_line)
        })
        .reduce(Default::default, merge);
    let characters = count_characters(&counts);
    let total: u64 = characters.values().sum();
    let (alphabet, covered) = choose_alphabet(characters, options.coverage);
    let uncovered = if total == 0 { 0.0 } else { 1.0 - covered as f64 / total as f64 };
    let mut sorted = cut_words(counts, &alphabet);
    sorted.par_sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let mut words = Words {
        text: String::with_capacity(sorted.iter().map(|(word, _)| word.len()).sum()),
        ends: Vec::with_capacity(sorted.len()),
        counts: sorted.iter().map(|&(_, count)| count).collect(),
        alphabet,
        uncovered,
        lines_too_long,
    };
    for (word, _) in &sorted {
        words.text.push_str(word);
        words.ends.push(words.text.len());
    }
    words
}

type Counts = FxHashMap<Box<str>, u64>;

fn count_lines<'a>(
    lines: impl Iterator<Item = &'a str>,
    normalizer: &Normalizer,
    longest: usize,
) -> (Counts, u64) {
    let mut counts = Counts::default();
    let mut too_long = 0;
    let mut normal = String::new();
    for line in lines {
        if line.len() > longest {
            too_long += 1;
            continue;
        }
        normalizer.normalize_into(line, &mut normal);
        for word in split_words(&normal) {
            match counts.get_mut(word) {
                Some(count) => *count += 1,
                None => drop(counts.insert(word.into(), 1)),
            }
        }
    }
    (counts, too_long)
}

/// The words of a normalised line, each with its space in front.
fn split_words(normal: &str) -> impl Iterator<Item = &str> {
    let mut rest = normal;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = rest[first.len_utf8()..].find(SPACE).map_or(rest.len(), |i| i + first.len_utf8());
        let (word, tail) = rest.split_at(end);
        rest = tail;
        Some(word)
    })
}

fn merge((a, x): (Counts, u64), (b, y): (Counts, u64)) -> (Counts, u64) {
    let (mut large, small) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    for (word, count) in small {
        *large.entry(word).or_default() += count;
    }
    (large, x + y)
}

fn count_characters(counts: &Counts) -> BTreeMap<char, u64> {
    let mut ascii = [0_u64; 128];
    let mut others: FxHashMap<char, u64> = FxHashMap::default();
    for (word, count) in counts {
        for c in word.chars() {
            match ascii.get_mut(c as usize) {
                Some(slot) => *slot += count,
                None => *others.entry(c).or_default() += count,
            }
        }
    }
    let ascii = ('\0'..).zip(ascii).filter(|&(_, count)| count > 0);
    ascii.chain(others).filter(|&(c, _)| c != '\0').collect()
}

/// The most frequent characters until the share is covered, and how many occurrences they have.
fn choose_alphabet(characters: BTreeMap<char, u64>, coverage: f64) -> (Vec<char>, u64) {
    let total: u64 = characters.values().sum();
    let mut sorted: Vec<(char, u64)> = characters.into_iter().collect();
    sorted.sort_by_key(|&(c, count)| (std::cmp::Reverse(count), c));
    let mut covered = 0;
    let mut alphabet = Vec::new();
    for (c, count) in sorted {
        if covered as f64 >= coverage * total as f64 {
            break;
        }
        covered += count;
        alphabet.push(c);
    }
    (alphabet, covered)
}

/// Words without the characters outside of the alphabet: what is left on either side of one is
/// segmented on its own, because nothing can span it.
fn cut_words(counts: Counts, alphabet: &[char]) -> Vec<(Box<str>, u64)> {
    let alphabet: rustc_hash::FxHashSet<char> = alphabet.iter().copied().collect();
    let mut parts = Counts::default();
    let mut whole = Vec::with_capacity(counts.len());
    for (word, count) in counts {
        let fits = word.len() <= LONGEST_WORD;
        if fits && word.chars().all(|c| alphabet.contains(&c)) {
            whole.push((word, count));
            continue;
        }
        for part in word.split(|c| !alphabet.contains(&c)).filter(|part| !part.is_empty()) {
            for part in cut(part, LONGEST_WORD) {
                *parts.entry(part.into()).or_default() += count;
            }
        }
    }
    // A part may equal a whole word.
    for (word, count) in &mut whole {
        *count += parts.remove(word).unwrap_or(0);
    }
    whole.extend(parts);
    whole
}

/// A text in parts of at most so many characters.
fn cut(text: &str, longest: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let end = rest.char_indices().nth(longest).map_or(rest.len(), |(index, _)| index);
        let (part, tail) = rest.split_at(end);
        rest = tail;
        (!part.is_empty()).then_some(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::normalizer::Spaces;
    use padir_base::random::Seed;

    fn words_of(lines: &[&str], coverage: f64) -> Words {
        let mut sample = LineSample::new(1 << 20, Seed(0));
        for line in lines {
            sample.offer(line);
        }
        let options = TrainOptions { coverage, ..TrainOptions::default() };
        count(&sample, &Normalizer::new(None, vec![], Spaces::default()), &options)
    }

    #[test]
    fn words_are_counted_with_their_space() {
        let words = words_of(&["b a a", "a"], 1.0);
        let found: Vec<_> = (0..words.len()).map(|i| (words.word(i), words.count(i))).collect();
        assert_eq!(found, [("▁a", 3), ("▁b", 1)]);
        assert_eq!(words.alphabet(), ['▁', 'a', 'b']);
    }

    #[test]
    fn rare_characters_cut_words() {
        let words = words_of(&["aaaa aaxaa"], 0.9);
        let found: Vec<_> = (0..words.len()).map(|i| (words.word(i), words.count(i))).collect();
        assert_eq!(found, [("aa", 1), ("▁aa", 1), ("▁aaaa", 1)]);
        assert!((words.uncovered() - 1.0 / 11.0).abs() < 1e-12);
    }
}
