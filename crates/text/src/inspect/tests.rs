//! A small corpus counted by hand, and the same figures at any number of threads.

use std::fs;

use super::*;
use crate::corpus::{Corpus, Reading};
use crate::origin::Origin;
use crate::tsv::Columns;

fn measure(text: &str, threads: usize) -> Inspection {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.tsv");
    fs::write(&path, text).unwrap();
    let corpus = Corpus::Tsv { file: Origin::new(path), columns: Columns::default() };
    let pairs = corpus.open(Reading::default()).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| inspect("a".to_owned(), pairs, |_| ()).unwrap())
}

#[test]
fn a_small_corpus_is_counted_as_by_hand() {
    let text = "a b\tx\na b\tx\na b\ty\nsame\tsame\n\t\nlong line here\tx\n";
    let report = measure(text, 2).report;
    assert_eq!((report.pairs, report.identical_sides), (6, 2));
    assert_eq!(report.duplicates, Duplicates { pairs: 1, sources: 2, targets: 2 });
    assert_eq!((report.source.words, report.source.characters, report.source.empty), (10, 27, 1));
    assert_eq!((report.target.words, report.target.bytes, report.target.empty), (5, 8, 1));
    assert_eq!(report.source.words_per_line.max, 3);
    assert_eq!(report.source.longest[0].pair, 6);
    assert_eq!(report.ratio.pairs, 5);
}

#[test]
fn threads_change_nothing() {
    let line = |i: u64| format!("s {} ä\tt {}\n", i % 997, i * i % 1009);
    let text = (0..30_000).map(line).collect::<Vec<String>>().concat();
    let [one, three] =
        [1, 3].map(|threads| serde_json::to_string(&measure(&text, threads).report).unwrap());
    assert_eq!(one, three);
}

#[test]
fn overlaps_are_counted_both_ways() {
    let (train, test) = (measure("a\tx\nb\ty\nb\tz\n", 1), measure("b\ty\nc\tz\n", 1));
    let all = overlaps(&[train, test]);
    assert_eq!((all[0].pairs, all[0].sources, all[0].targets), (1, 2, 2));
    assert_eq!((all[1].pairs, all[1].sources, all[1].targets), (1, 1, 2));
}
