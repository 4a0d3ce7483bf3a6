//! Every form in every compression, policies for bad lines, unequal files, bounded memory.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::input::tests::compress;
use crate::input::{Compression, InputError};
use crate::writer::Destination;

fn origin(directory: &Path, name: &str, bytes: &[u8]) -> Origin {
    let path = directory.join(name);
    fs::write(&path, bytes).unwrap();
    Origin::new(path)
}

fn aligned(directory: &Path, source: &[u8], target: &[u8]) -> Corpus {
    let source = origin(directory, "a.en", source);
    Corpus::Aligned { source, target: origin(directory, "a.de", target) }
}

fn tsv(directory: &Path, bytes: &[u8], columns: &str) -> Corpus {
    let file = origin(directory, "a.tsv", bytes);
    Corpus::Tsv { file, columns: columns.parse().unwrap() }
}

fn skipping() -> Reading {
    Reading { on_bad: OnBad::Skip, limit: 20 }
}

fn collect(corpus: &Corpus, reading: Reading) -> Result<(Vec<Pair>, DefectCounts), CorpusError> {
    let mut pairs = corpus.open(reading)?;
    let all = pairs.by_ref().collect::<Result<_, _>>()?;
    Ok((all, pairs.skipped()))
}

fn failure(corpus: &Corpus, reading: Reading) -> String {
    collect(corpus, reading).unwrap_err().to_string()
}

/// Name, source, target, where and why.
type Case = (&'static str, &'static [u8], &'static [u8], &'static str, &'static str);

#[test]
fn bad_lines_fail_with_file_and_line() {
    let directory = tempfile::tempdir().unwrap();
    let good: &[u8] = b"one\ntwo\n";
    let cases: [Case; 5] = [
        (
            "encoding in the source",
            b"one\nt\xffwo\n",
            good,
            "a.en, line 2",
            "invalid UTF-8 at byte 2",
        ),
        (
            "encoding in the target",
            good,
            b"eins\nzw\xc3\n",
            "a.de, line 2",
            "invalid UTF-8 at byte 3",
        ),
        ("nul", b"\0\ntwo\n", good, "a.en, line 1", "NUL at byte 1"),
        ("long", good, b"eins\n123456789012345678901\n", "a.de, line 2", "longer than 20 bytes"),
        ("both", b"\0\n\0\n", b"\xff\n\0\n", "a.en, line 1", "NUL"),
    ];
    for (name, source, target, place, reason) in cases {
        let reading = Reading { on_bad: OnBad::Fail, limit: 20 };
        let error = failure(&aligned(directory.path(), source, target), reading);
        assert!(error.contains(place) && error.contains(reason), "{name}: {error}");
    }
}

#[test]
fn skipped_pairs_leave_both_sides_and_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let source = b"one\nt\xffwo\nthree\nfour\n\0\nsix\n";
    let target = b"eins\nzwei\n\0\n123456789012345678901\n\xff\nsechs";
    let (pairs, skipped) = collect(&aligned(directory.path(), source, target), skipping()).unwrap();
    assert_eq!(pairs, [Pair::new("one", "eins"), Pair::new("six", "sechs")]);
    assert_eq!(
        skipped,
        DefectCounts { invalid_utf8: 1, nul: 2, too_long: 1, ..DefectCounts::default() }
    );
    assert_eq!(skipped.total(), 4);
}

#[test]
fn unequal_files_are_refused_with_both_counts() {
    let directory = tempfile::tempdir().unwrap();
    let cases: [(&[u8], &[u8], &str, &str); 5] = [
        (b"1\n2\n3\n", b"1\n2\n", "a.en has 3 lines", "a.de has 2"),
        (b"1\n", b"1\n2\n3\n4", "a.en has 1 lines", "a.de has 4"),
        (b"", b"1\n", "a.en has 0 lines", "a.de has 1"),
        (b"1\n\n", b"1\n", "a.en has 2 lines", "a.de has 1"),
        // Bad bytes in the surplus do not hide what matters.
        (b"1\n\xff\n\0\n", b"1\n", "a.en has 3 lines", "a.de has 1"),
    ];
    for (source, target, first, second) in cases {
        for reading in [Reading::default(), skipping()] {
            let error = failure(&aligned(directory.path(), source, target), reading);
            assert!(error.contains(first) && error.contains(second), "{error}");
        }
    }
}

#[test]
fn tsv_columns_are_chosen() {
    let directory = tempfile::tempdir().unwrap();
    let text = "7\ta\tb\r\n8\tc\td\tmore\n9\te\t";
    let cases: [(&str, [(&str, &str); 3]); 3] = [
        ("2,3", [("a", "b"), ("c", "d"), ("e", "")]),
        ("3,2", [("b", "a"), ("d", "c"), ("", "e")]),
        ("1,1", [("7", "7"), ("8", "8"), ("9", "9")]),
    ];
    for (columns, expected) in cases {
        let corpus = tsv(directory.path(), text.as_bytes(), columns);
        let (pairs, _) = collect(&corpus, Reading::default()).unwrap();
        let expected = expected.map(|(source, target)| Pair::new(source, target));
        assert_eq!(pairs, expected, "{columns}");
    }
    let corpus = tsv(directory.path(), text.as_bytes(), "1,4");
    assert!(failure(&corpus, Reading::default()).contains("a.tsv, line 1: no column 4 among 3"));
    let (pairs, skipped) = collect(&corpus, skipping()).unwrap();
    assert_eq!(pairs, [Pair::new("8", "more")]);
    assert_eq!(skipped, DefectCounts { missing_column: 2, ..DefectCounts::default() });
}

#[test]
fn other_tsv_columns_may_hold_anything() {
    let directory = tempfile::tempdir().unwrap();
    let corpus = tsv(directory.path(), b"\xff\ta\tb\n", "2,3");
    assert_eq!(collect(&corpus, Reading::default()).unwrap().0, [Pair::new("a", "b")]);
}

#[test]
fn a_truncated_file_ends_with_an_error_that_names_it() {
    let directory = tempfile::tempdir().unwrap();
    let text = "a line\n".repeat(5000);
    for kind in [Compression::Gzip, Compression::Zstd, Compression::Xz] {
        let mut bytes = compress(kind, text.as_bytes());
        bytes.truncate(bytes.len() - 3);
        let error = failure(&aligned(directory.path(), &bytes, text.as_bytes()), skipping());
        assert!(error.contains("a.en") && error.contains("truncated"), "{kind:?}: {error}");
    }
}

#[test]
fn a_missing_file_is_named() {
    let corpus = Corpus::Tsv { file: Origin::new("no/such.tsv"), columns: Columns::default() };
    match corpus.open(Reading::default()).err().unwrap() {
        CorpusError::Input(InputError::Open { file, .. }) => assert_eq!(file, "no/such.tsv"),
        other => panic!("{other}"),
    }
}

#[test]
fn nothing_is_read_after_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let mut pairs =
        aligned(directory.path(), b"\0\nb\n", b"a\nb\n").open(Reading::default()).unwrap();
    assert!(pairs.next().unwrap().is_err());
    assert!(pairs.next().is_none());
}

/// All the ways in which pairs can be stored.
fn destinations(directory: &Path) -> Vec<(Destination, Corpus)> {
    let languages = Languages { source: "en".to_owned(), target: "de".to_owned() };
    let mut all = Vec::new();
    for end in ["", ".gz", ".zst", ".xz"] {
        let path = |name: &str| -> PathBuf { directory.join(format!("{name}{end}")) };
        let (source, target) = (path("b.en"), path("b.de"));
        all.push((
            Destination::of_names(&[source.clone(), target.clone()], &languages).unwrap(),
            Corpus::Aligned { source: Origin::new(source), target: Origin::new(target) },
        ));
        all.push((
            Destination::of_names(&[path("b.tsv")], &languages).unwrap(),
            Corpus::Tsv { file: Origin::new(path("b.tsv")), columns: Columns::default() },
        ));
        all.push((
            Destination::of_names(&[path("b.parquet")], &languages).unwrap(),
            Corpus::Parquet { file: Origin::new(path("b.parquet")), languages: None },
        ));
    }
    all
}

fn round_trip(pairs: &[Pair]) {
    let directory = tempfile::tempdir().unwrap();
    for (destination, corpus) in destinations(directory.path()) {
        let mut writer = destination.create().unwrap();
        for pair in pairs {
            writer.write(pair).unwrap();
        }
        writer.finish().unwrap();
        let (read, _) = collect(&corpus, Reading::default()).unwrap();
        assert_eq!(read, pairs, "{destination:?}");
    }
}

#[test]
fn an_empty_corpus_survives_every_form() {
    round_trip(&[]);
}

#[test]
fn many_rows_survive_every_form() {
    let text = |i: u32| format!("sentence number {} — Satz № {i}", i % 700);
    round_trip(&(0..5000).map(|i| Pair::new(text(i), text(i * 7))).collect::<Vec<_>>());
}

#[test]
fn a_tab_cannot_become_tsv() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = Destination::Tsv(directory.path().join("a.tsv")).create().unwrap();
    writer.write(&Pair::new("a", "b")).unwrap();
    let error = writer.write(&Pair::new("a", "b\tc")).unwrap_err().to_string();
    assert!(
        error.contains("pair 2") && error.contains("target") && error.contains("tab"),
        "{error}"
    );
    drop(writer);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0, "nothing is left behind");
}

/// Text of one line: no tab, no line feed, no NUL, no carriage return at the end.
fn sentence() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>().prop_map(|text| {
            let text: String = text.chars().filter(|c| !"\t\n\0\u{feff}".contains(*c)).collect();
            text.trim_end_matches('\r').to_owned()
        }),
        "[ a-z\u{85}\u{2028}\u{b}\u{c}\u{1c}äöü中文]{0,40}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn any_pairs_survive_every_form(
        pairs in prop::collection::vec((sentence(), sentence()), 0..30)
    ) {
        round_trip(&pairs.into_iter().map(|(s, t)| Pair { source: s, target: t }).collect::<Vec<_>>());
    }

    #[test]
    fn random_bytes_never_panic(
        source in prop::collection::vec(any::<u8>(), 0..200),
        target in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let _ = collect(&aligned(directory.path(), &source, &target), skipping());
        let _ = collect(&tsv(directory.path(), &source, "2,1"), skipping());
        let file = origin(directory.path(), "a.parquet", &target);
        let _ = collect(&Corpus::Parquet { file, languages: None }, skipping());
    }
}
