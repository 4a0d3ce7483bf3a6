//! Number words against an independent source, one answer per question, no dependence on threads.
//!
//! `numbers.tsv` comes from `reference/text/corpora/number_words.py`.

use std::collections::HashMap;

use padir_base::random::{Purpose, Seed};

use super::*;
use crate::distinct::Distinct;

const NUMBERS: &str = include_str!("golden/numbers.tsv");

fn tasks() -> Vec<Task> {
    let range = NumberRange::new(0, 1_000_000_000_000).unwrap();
    let symbols = Symbols::default();
    vec![
        Task::Numbers(range),
        Task::Dates,
        Task::Clock,
        Task::Everyday,
        Task::Mixed(range),
        Task::Symbols(Operation::Copy, symbols),
        Task::Symbols(Operation::Reverse, symbols),
        Task::Symbols(Operation::Sort, symbols),
    ]
}

#[test]
fn number_words_agree_with_num2words() {
    let mut lines = 0;
    for line in NUMBERS.lines() {
        let [n, english, german] = line.split('\t').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let n: u64 = n.parse().unwrap();
        assert_eq!(english::cardinal(n), english, "{n}");
        assert_eq!(german::cardinal(n), german, "{n}");
        lines += 1;
    }
    assert!(lines > 300, "{lines}");
}

/// Written by hand, from the grammar books.
#[test]
fn number_words_are_those_of_the_grammar_books() {
    let cases = [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (7, "seven", "sieben"),
        (12, "twelve", "zwölf"),
        (16, "sixteen", "sechzehn"),
        (17, "seventeen", "siebzehn"),
        (21, "twenty-one", "einundzwanzig"),
        (30, "thirty", "dreißig"),
        (66, "sixty-six", "sechsundsechzig"),
        (77, "seventy-seven", "siebenundsiebzig"),
        (100, "one hundred", "einhundert"),
        (101, "one hundred and one", "einhunderteins"),
        (1001, "one thousand and one", "eintausendeins"),
        (1100, "one thousand one hundred", "eintausendeinhundert"),
        (21_000, "twenty-one thousand", "einundzwanzigtausend"),
        (101_000, "one hundred and one thousand", "einhunderteintausend"),
        (1_000_000, "one million", "eine Million"),
        (1_000_001, "one million and one", "eine Million eins"),
        (2_000_000, "two million", "zwei Millionen"),
        (21_000_000, "twenty-one million", "einundzwanzig Millionen"),
        (101_000_000, "one hundred and one million", "einhunderteine Millionen"),
        (1_001_000_000, "one billion one million", "eine Milliarde eine Million"),
        (1_000_000_000_000, "one trillion", "eine Billion"),
        (
            1_234_567,
            "one million two hundred and thirty-four thousand five hundred and sixty-seven",
            "eine Million zweihundertvierunddreißigtausendfünfhundertsiebenundsechzig",
        ),
    ];
    for (n, english, german) in cases {
        assert_eq!(english::cardinal(n), english);
        assert_eq!(german::cardinal(n), german);
    }
}

#[test]
fn every_question_has_one_answer() {
    for task in tasks() {
        let mut answers = HashMap::new();
        for index in 0..30_000 {
            let pair = task.pair(&mut Seed(3).stream(Purpose::Synthesis, index));
            assert!(!pair.source.is_empty() && pair.source == pair.source.trim(), "{pair:?}");
            assert!(!pair.source.contains("  ") && !pair.target.contains("  "), "{pair:?}");
            let answer = answers.entry(pair.source.clone()).or_insert(pair.target.clone());
            assert_eq!(*answer, pair.target, "{task:?}: {}", pair.source);
        }
    }
}

#[test]
fn the_same_at_any_number_of_threads() {
    for task in tasks() {
        let make = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                Distinct::new(task, Seed(11)).take(6000).collect::<Result<Vec<_>, _>>().unwrap()
            })
        };
        assert_eq!(make(1), make(3), "{task:?}");
    }
}

#[test]
fn no_source_comes_twice() {
    for task in tasks() {
        let pairs: Vec<Pair> =
            Distinct::new(task, Seed(1)).take(9000).collect::<Result<_, _>>().unwrap();
        let mut sources: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
        sources.sort_unstable();
        sources.dedup();
        assert_eq!(sources.len(), 9000, "{task:?}");
    }
}

#[test]
fn a_small_task_is_exhausted_and_says_so() {
    let task = Task::Numbers(NumberRange::new(10, 29).unwrap());
    let all: Vec<_> = Distinct::new(task, Seed(1)).take(21).collect();
    assert!(all[..20].iter().all(Result::is_ok));
    assert_eq!(all[20].as_ref().unwrap_err().found, 20);
}

/// A corpus is reproducible only if its generator never changes: these must stay as they are.
#[test]
fn a_seed_means_the_same_for_ever() {
    let expected = [
        ("ten", "zehn"),
        ("the twenty-second of January 1667", "der zweiundzwanzigste Januar 1667"),
        ("The film starts at one oh eight.", "Der Film fängt um ein Uhr acht an."),
        (
            "The picture costs five euros and thirteen cents.",
            "Das Bild kostet fünf Euro und dreizehn Cent.",
        ),
        ("seven", "sieben"),
        ("b s d w", "b s d w"),
        ("b s d w", "w d s b"),
        ("b s d w", "b d s w"),
    ];
    for (task, (source, target)) in tasks().into_iter().zip(expected) {
        let first = Distinct::new(task, Seed(1)).next().unwrap().unwrap();
        assert_eq!(first, Pair::new(source, target), "{task:?}");
    }
}
