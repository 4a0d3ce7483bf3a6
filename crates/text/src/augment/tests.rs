//! Draws against a count of all contexts, and nothing that was not read.

use std::collections::{BTreeMap, HashMap, HashSet};

use padir_base::random::{Purpose, Seed};

use super::*;
use crate::distinct::{Distinct, Exhausted};
use crate::hash::hash_text;

const SENTENCES: [&str; 6] = [
    "a man in a hat",
    "a man in a boat",
    "a woman in a hat sings",
    "the man sings",
    "a dog",
    "a man in the snow",
];

fn imagination(augmentation: Augmentation) -> NgramSource {
    let mut reader = Reader::default();
    for sentence in SENTENCES {
        reader.read(sentence).unwrap();
    }
    reader.finish(augmentation).unwrap()
}

/// What may follow, by going through all sentences.
fn followers(said: &[&str], augmentation: Augmentation) -> BTreeMap<String, usize> {
    let mut best = BTreeMap::new();
    for length in 1..augmentation.order.min(said.len() + 1) {
        let context = &said[said.len() - length..];
        let mut found = BTreeMap::new();
        for sentence in SENTENCES {
            let mut words = vec!["#"];
            words.extend(sentence.split(' '));
            words.push("#");
            for window in words.windows(length + 1).filter(|window| &window[..length] == context) {
                *found.entry(window[length].to_owned()).or_insert(0) += 1;
            }
        }
        if length > 1 && found.values().sum::<usize>() < augmentation.least {
            break;
        }
        best = found;
        if context[0] == "#" {
            break;
        }
    }
    best
}

#[test]
fn contexts_are_found_as_by_counting() {
    for (order, least) in [(2, 1), (3, 1), (3, 3), (4, 2), (5, 2)] {
        let augmentation = Augmentation { order, least, longest: 20 };
        let imagination = imagination(augmentation);
        let number = |name: &str| match name {
            "#" => BOUNDARY,
            _ => imagination.names.iter().position(|n| n == name).unwrap() as u32,
        };
        for said in
            ["#", "# a", "# a man", "# a man in", "# a man in a", "# the man", "# a hat sings"]
        {
            let words: Vec<&str> = said.split(' ').collect();
            let numbers: Vec<u32> = words.iter().map(|word| number(word)).collect();
            let mut found = BTreeMap::new();
            for &place in imagination.places_after(&numbers) {
                let word = match imagination.text[place as usize] {
                    BOUNDARY => "#".to_owned(),
                    word => imagination.names[word as usize].clone(),
                };
                *found.entry(word).or_insert(0) += 1;
            }
            assert_eq!(
                found,
                followers(&words, augmentation),
                "{said}, order {order}, least {least}"
            );
        }
    }
}

/// The law of a chain of order 2 in closed form: p(sentence) = ∏ n(ab)/n(a·).
#[test]
fn sentences_come_as_often_as_the_chain_says() {
    let imagination = imagination(Augmentation { order: 2, least: 1, longest: 50 });
    let draws = 40_000_u64;
    let mut counts: HashMap<String, u64> = HashMap::new();
    for index in 0..draws {
        let drawn = imagination.draw(&mut Seed(3).stream(Purpose::Test, index)).unwrap();
        *counts.entry(drawn).or_default() += 1;
    }
    // # → a 5/6; a → dog 1/8; dog → # 1/1. # → the 1/6; the → snow 1/2; snow → # 1/1.
    for (sentence, p) in [("a dog", 5.0 / 48.0), ("the snow", 1.0 / 12.0)] {
        let share = counts[sentence] as f64 / draws as f64;
        let deviation = (p * (1.0 - p) / draws as f64).sqrt();
        assert!((share - p).abs() < 5.0 * deviation, "{sentence}: {share} instead of {p}");
    }
}

#[test]
fn what_was_read_and_what_is_forbidden_is_not_new() {
    let augmentation = Augmentation { order: 3, least: 1, longest: 12 };
    let mut distinct = Distinct::new(imagination(augmentation), Seed(1));
    for sentence in SENTENCES {
        distinct.forbid(hash_text(sentence));
    }
    distinct.forbid(hash_text("a woman in a boat"));
    let mut found = HashSet::new();
    let end = loop {
        match distinct.next().unwrap() {
            Ok(sentence) => assert!(found.insert(sentence.clone()), "{sentence} came twice"),
            Err(end) => break end,
        }
    };
    assert!(matches!(end, Exhausted { found: n, .. } if n == found.len() as u64), "{end}");
    assert!(found.contains("a man in a hat sings"), "{found:?}");
    assert!(!found.contains("a woman in a boat"));
    assert!(SENTENCES.iter().all(|sentence| !found.contains(*sentence)));
    assert!(found.iter().all(|sentence| sentence.split(' ').count() <= 12));
}

#[test]
fn nothing_comes_of_nothing() {
    let mut reader = Reader::default();
    reader.read("  \t ").unwrap();
    assert!(reader.finish(Augmentation { order: 3, least: 1, longest: 9 }).is_none());
}
