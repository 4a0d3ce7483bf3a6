//! The `nmt_nfkc` rule: Unicode NFKC with a few changes that suit translation.
//!
//! The rule is derived, not stored. Every character goes to its NFKC form, and so does every
//! sequence of characters that composes to something else (`a` + combining acute → `á`). On top,
//! as SentencePiece defines it: line breaks, directional marks, zero-width spaces and the like
//! become spaces, control characters disappear, and the full-width tilde stays what it is.
//! About a tenth of a second; done once per training.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization;

/// The name under which model files know the rule.
pub const NAME: &str = "nmt_nfkc";

/// Characters that become a space.
const SPACES: [char; 14] = [
    '\t', '\n', '\u{c}', '\r', '\u{1680}', '\u{200b}', '\u{200c}', '\u{200e}', '\u{200f}',
    '\u{2028}', '\u{2029}', '\u{2581}', '\u{feff}', '\u{fffd}',
];

/// Control characters that disappear.
fn is_removed(c: char) -> bool {
    matches!(c, '\u{1}'..='\u{8}' | '\u{b}' | '\u{e}'..='\u{1f}' | '\u{7f}' | '\u{8f}' | '\u{9f}')
}

/// The replacements of the rule.
pub fn rule() -> BTreeMap<String, String> {
    let mut rule = nfkc();
    for space in SPACES {
        rule.insert(space.to_string(), " ".to_owned());
    }
    for control in (1..=0x9f).filter_map(char::from_u32).filter(|&c| is_removed(c)) {
        rule.insert(control.to_string(), String::new());
    }
    rule.remove("\u{ff5e}");
    without_redundant(rule)
}

/// NFKC as replacements of characters and of sequences that compose.
fn nfkc() -> BTreeMap<String, String> {
    let mut rule = BTreeMap::new();
    let mut decomposed: BTreeSet<String> = BTreeSet::new();
    let mut origins: BTreeMap<char, Vec<char>> = BTreeMap::new();
    for c in ('\u{1}'..=char::MAX).filter(|&c| !is_noncharacter(c)) {
        let composed: String = c.nfkc().collect();
        if !composed.chars().eq([c]) {
            rule.insert(c.to_string(), composed);
        }
        let parts: String = c.nfkd().collect();
        let mut chars = parts.chars();
        match (chars.next(), chars.next()) {
            (Some(only), None) => origins.entry(only).or_default().push(c),
            _ => drop(decomposed.insert(parts)),
        }
    }
    for parts in &decomposed {
        let composed: String = parts.nfc().collect();
        if composed == *parts {
            continue;
        }
        for sequence in spellings(parts, &origins) {
            if sequence != composed {
                rule.insert(sequence, composed.clone());
            }
        }
    }
    without_redundant(rule)
}

/// Every sequence of characters that decomposes to `parts` character by character.
fn spellings(parts: &str, origins: &BTreeMap<char, Vec<char>>) -> Vec<String> {
    let mut spelt = vec![String::new()];
    for part in parts.chars() {
        let choices = origins.get(&part).map_or(&[][..], Vec::as_slice);
        spelt = spelt
            .iter()
            .flat_map(|start| choices.iter().map(move |choice| format!("{start}{choice}")))
            .collect();
    }
    spelt
}

fn is_noncharacter(c: char) -> bool {
    let code = c as u32;
    (0xfdd0..=0xfdef).contains(&code) || code & 0xfffe == 0xfffe
}

/// The rule without the sequences that shorter replacements already get right.
fn without_redundant(rule: BTreeMap<String, String>) -> BTreeMap<String, String> {
    let mut by_length: BTreeMap<usize, Vec<(String, String)>> = BTreeMap::new();
    for (from, to) in rule {
        by_length.entry(from.chars().count()).or_default().push((from, to));
    }
    let mut kept = BTreeMap::new();
    for (length, entries) in by_length {
        let needed: Vec<(String, String)> = entries
            .into_iter()
            .filter(|(from, to)| length == 1 || apply(&kept, from) != *to)
            .collect();
        kept.extend(needed);
    }
    kept
}

/// A text with the longest replacement applied at each place.
fn apply(rule: &BTreeMap<String, String>, text: &str) -> String {
    let mut normal = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let ends = rest.char_indices().map(|(i, c)| i + c.len_utf8());
        let longest = ends.rev().find(|&end| rule.contains_key(&rest[..end]));
        match longest {
            Some(end) => normal.push_str(&rule[&rest[..end]]),
            None => normal.push(first),
        }
        rest = &rest[longest.unwrap_or(first.len_utf8())..];
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_cases() {
        let rule = rule();
        let cases = [
            ("ﬁ", "fi"),
            ("a\u{301}", "á"),
            ("…", "..."),
            ("Ａ", "A"),
            ("\t", " "),
            ("\u{200b}", " "),
            ("\u{3000}", " "),
            ("\u{7}", ""),
            ("～", "～"),
            ("か\u{3099}", "が"),
            ("ｶﾞ", "ガ"),
            ("한", "한"),
            ("①", "1"),
            ("x", "x"),
        ];
        for (text, expected) in cases {
            assert_eq!(apply(&rule, text), expected, "{text:?}");
        }
    }
}
