//! The first pieces: substrings that occur at least twice, by how much text they cover.
//!
//! The suffixes of all distinct words, cut after the longest piece, are sorted; neighbours that
//! share a prefix of several characters form the intervals of a suffix tree. A substring's
//! occurrences are the summed counts of the words in its interval, its weight is occurrences ×
//! length. Only right-maximal substrings are seen, which are the only useful ones: any other
//! occurs exactly as often as its extension. O(n log n) comparisons, decided almost always by
//! the first eight bytes.

use rayon::prelude::*;
use unicode_script::{Script, UnicodeScript};

use super::TrainOptions;
use super::pieces::{Pieces, Span};
use super::words::Words;

/// A suffix of a word, cut after the longest piece.
#[derive(Clone, Copy)]
struct Suffix {
    /// Its first bytes, big-endian: the usual decision in one comparison.
    head: u64,
    start: u32,
    end: u32,
    word: u32,
    is_whole: bool,
}

/// A substring and how often it occurs.
struct Candidate {
    span: Span,
    weight: u64,
}

/// The seeds of a training.
pub(super) fn find<'w>(words: &'w Words, options: &TrainOptions) -> Pieces<'w> {
    let text = words.text();
    let mut suffixes = collect_suffixes(words, options.longest_piece);
    let rest = |suffix: &Suffix| {
        let start = suffix.end.min(suffix.start + 8);
        &text.as_bytes()[start as usize..suffix.end as usize]
    };
    suffixes.par_sort_unstable_by(|a, b| {
        a.head.cmp(&b.head).then_with(|| rest(a).cmp(rest(b))).then_with(|| a.start.cmp(&b.start))
    });
    let mut candidates = collect_candidates(words, &suffixes);
    candidates.par_sort_unstable_by(|a, b| {
        b.weight.cmp(&a.weight).then_with(|| slice(text, a.span).cmp(slice(text, b.span)))
    });
    candidates.truncate(options.seed_size);
    let mut weighted = weigh_alphabet(words);
    weighted.extend(candidates.iter().map(|c| (c.span, c.weight as f64)));
    Pieces::new(text, &weighted)
}

fn slice(text: &str, span: Span) -> &str {
    &text[span.start as usize..span.start as usize + usize::from(span.bytes)]
}

fn collect_suffixes(words: &Words, longest: usize) -> Vec<Suffix> {
    let mut suffixes = Vec::with_capacity(words.text().len());
    for index in 0..words.len() {
        let word = words.word(index);
        let offset = words.start(index);
        let starts = word.char_indices().map(|(start, _)| start);
        let mut ends = word.char_indices().map(|(end, _)| end).skip(longest);
        for start in starts {
            let end = ends.next();
            let suffix = &word[start..end.unwrap_or(word.len())];
            suffixes.push(Suffix {
                head: head_of(suffix.as_bytes()),
                start: (offset + start) as u32,
                end: (offset + start + suffix.len()) as u32,
                word: index as u32,
                is_whole: end.is_none(),
            });
        }
    }
    suffixes
}

fn head_of(bytes: &[u8]) -> u64 {
    let mut head = [0; 8];
    let length = bytes.len().min(8);
    head[..length].copy_from_slice(&bytes[..length]);
    u64::from_be_bytes(head)
}

/// Walks the sorted suffixes and reports every interval of at least two characters.
fn collect_candidates(words: &Words, suffixes: &[Suffix]) -> Vec<Candidate> {
    struct Open {
        characters: usize,
        bytes: usize,
        first: usize,
    }
    let text = words.text();
    let bytes_of = |s: &Suffix| &text.as_bytes()[s.start as usize..s.end as usize];
    // occurrences[i]: summed counts of the suffixes before i.
    let mut occurrences = Vec::with_capacity(suffixes.len() + 1);
    occurrences.push(0_u64);
    for suffix in suffixes {
        let last = occurrences[occurrences.len() - 1];
        occurrences.push(last + words.count(suffix.word as usize));
    }
    let mut candidates = Vec::new();
    let mut report = |first: usize, end: usize, bytes: usize, characters: usize| {
        let start = suffixes[first].start;
        let count = occurrences[end] - occurrences[first];
        if characters < 2 || count < 2 {
            return;
        }
        let span = Span { start, bytes: bytes as u16, characters: characters as u16 };
        if is_uniform(slice(text, span)) {
            candidates.push(Candidate { span, weight: count * characters as u64 });
        }
    };
    let mut open: Vec<Open> = Vec::new();
    let mut before = 0;
    for index in 0..suffixes.len() {
        let suffix = &suffixes[index];
        let (bytes, characters) = match suffixes.get(index + 1) {
            Some(next) => common_prefix(bytes_of(suffix), bytes_of(next)),
            None => (0, 0),
        };
        let length = bytes_of(suffix).len();
        if suffix.is_whole && length > bytes.max(before) {
            let all = text[suffix.start as usize..suffix.end as usize].chars().count();
            report(index, index + 1, length, all);
        }
        let mut first = index;
        while let Some(top) = open.pop_if(|top| top.characters > characters) {
            report(top.first, index + 1, top.bytes, top.characters);
            first = top.first;
        }
        if characters > 0 && open.last().is_none_or(|top| top.characters < characters) {
            open.push(Open { characters, bytes, first });
        }
        before = bytes;
    }
    candidates
}

/// The length of the common prefix in bytes and characters, whole characters only.
fn common_prefix(a: &[u8], b: &[u8]) -> (usize, usize) {
    let is_start = |byte: u8| byte & 0xC0 != 0x80;
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    // The prefix may end inside a character: go back to where that character starts.
    let at_boundary = |i: usize| a.get(i).is_none_or(|&x| is_start(x));
    let bytes = (0..=same).rev().find(|&i| at_boundary(i)).unwrap_or(0);
    (bytes, a[..bytes].iter().filter(|&&byte| is_start(byte)).count())
}

/// Whether all characters (a leading `▁` aside) belong to one script; the Japanese syllabaries
/// count as Han.
fn is_uniform(piece: &str) -> bool {
    let mut scripts = piece.trim_start_matches('▁').chars().map(script_of);
    match scripts.next() {
        Some(first) => scripts.all(|script| script == first),
        None => true,
    }
}

fn script_of(c: char) -> Script {
    if c.is_ascii() {
        return if c.is_ascii_alphabetic() { Script::Latin } else { Script::Common };
    }
    match c.script() {
        Script::Hiragana | Script::Katakana => Script::Han,
        _ if c == 'ー' => Script::Han,
        script => script,
    }
}

/// Every character of the alphabet, weighted by its occurrences.
fn weigh_alphabet(words: &Words) -> Vec<(Span, f64)> {
    let mut found: rustc_hash::FxHashMap<char, (u32, u64)> = rustc_hash::FxHashMap::default();
    for index in 0..words.len() {
        for (offset, c) in words.word(index).char_indices() {
            let place = (words.start(index) + offset) as u32;
            found.entry(c).or_insert((place, 0)).1 += words.count(index);
        }
    }
    let weigh = |c: &char| {
        let (start, count) = found[c];
        (Span { start, bytes: c.len_utf8() as u16, characters: 1 }, count as f64)
    };
    words.alphabet().iter().filter(|c| found.contains_key(c)).map(weigh).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use padir_base::random::Seed;
    use proptest::prelude::*;

    use super::super::{LineSample, words};
    use super::*;
    use crate::vocab::normalizer::{Normalizer, Spaces};

    fn words_of(lines: &[String]) -> Words {
        let mut sample = LineSample::new(1 << 20, Seed(0));
        for line in lines {
            sample.offer(line);
        }
        let options = TrainOptions { coverage: 1.0, ..TrainOptions::default() };
        words::count(&sample, &Normalizer::new(None, vec![], Spaces::default()), &options)
    }

    /// Every substring with its occurrences, by looking.
    fn slow(words: &Words, longest: usize) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for index in 0..words.len() {
            let chars: Vec<char> = words.word(index).chars().collect();
            for start in 0..chars.len() {
                for end in start + 2..=chars.len().min(start + longest) {
                    let piece: String = chars[start..end].iter().collect();
                    *counts.entry(piece).or_default() += words.count(index);
                }
            }
        }
        counts
    }

    proptest! {
        #[test]
        fn substrings_and_their_weights_are_right(
            lines in prop::collection::vec("[abä ]{0,12}", 1..12)
        ) {
            const LONGEST: usize = 4;
            let words = words_of(&lines);
            let mut suffixes = collect_suffixes(&words, LONGEST);
            let text = words.text();
            suffixes.sort_by_key(|s| (&text[s.start as usize..s.end as usize], s.start));
            let expected = slow(&words, LONGEST);
            let mut found: BTreeMap<&str, u64> = BTreeMap::new();
            for candidate in collect_candidates(&words, &suffixes) {
                let piece = slice(text, candidate.span);
                let count = candidate.weight / u64::from(candidate.span.characters);
                prop_assert_eq!(Some(&count), expected.get(piece), "{}", piece);
                prop_assert!(found.insert(piece, count).is_none(), "{} twice", piece);
            }
            // Whatever was not reported occurs once, or exactly as often as an extension of it.
            for (piece, count) in &expected {
                let extended = expected.iter().any(|(longer, n)| {
                    longer.len() > piece.len() && longer.starts_with(piece.as_str()) && n == count
                });
                let cut = piece.chars().count() == LONGEST;
                prop_assert!(
                    found.contains_key(piece.as_str()) || *count < 2 || extended || cut,
                    "{} is missing", piece
                );
            }
        }
    }

    #[test]
    fn scripts_are_not_mixed() {
        let cases =
            [("▁the", true), ("ab1", false), ("ひカ漢ー", true), ("3,5", true), ("aя", false)];
        for (piece, expected) in cases {
            assert_eq!(is_uniform(piece), expected, "{piece}");
        }
    }
}
