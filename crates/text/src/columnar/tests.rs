//! Files written by pyarrow, choice of columns, damage of every kind.
//!
//! The files under `golden/` come from `reference/text/corpora/parquet.py`.

use std::io::Write;

use proptest::prelude::*;

use super::*;
use crate::corpus::{Corpus, Reading};
use crate::defect::{DefectCounts, OnBad};

macro_rules! golden {
    ($name:literal) => {
        ($name, include_bytes!(concat!("golden/", $name, ".parquet")))
    };
}

const GOLDEN: [(&str, &[u8]); 10] = [
    golden!("none"),
    golden!("snappy"),
    golden!("gzip"),
    golden!("zstd"),
    golden!("lz4"),
    golden!("v2"),
    golden!("plain"),
    golden!("delta_length"),
    golden!("required"),
    golden!("groups"),
];

/// What the script puts into each of them.
fn expected() -> Vec<Pair> {
    let text = |i: usize| (format!("sentence {} é 中文 🙂", i % 7), format!("Satz {} ü", i * i));
    (0..60).map(text).map(|(source, target)| Pair { source, target }).collect()
}

fn corpus(bytes: &[u8], languages: Option<&str>) -> (tempfile::NamedTempFile, Corpus) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let languages = languages.map(|text| text.parse().unwrap());
    let corpus = Corpus::Parquet { file: Origin::new(file.path()), languages };
    (file, corpus)
}

fn read(bytes: &[u8], languages: Option<&str>) -> Result<Vec<Pair>, CorpusError> {
    corpus(bytes, languages).1.open(Reading::default())?.collect()
}

#[test]
fn files_of_pyarrow_are_read() {
    for (name, bytes) in GOLDEN {
        assert_eq!(read(bytes, None).unwrap(), expected(), "{name}");
        assert_eq!(read(bytes, Some("en,de")).unwrap(), expected(), "{name}");
        let swapped: Vec<Pair> =
            expected().into_iter().map(|p| Pair::new(p.target, p.source)).collect();
        assert_eq!(read(bytes, Some("translation.de,translation.en")).unwrap(), swapped, "{name}");
    }
}

#[test]
fn flat_columns_are_read() {
    let (_, bytes) = golden!("flat");
    assert_eq!(read(bytes, Some("english,german")).unwrap(), expected());
    let error = read(bytes, None).unwrap_err().to_string();
    assert!(error.contains("3 text columns") && error.contains("english"), "{error}");
    let error = read(bytes, Some("english,french")).unwrap_err().to_string();
    assert!(error.contains("no text column french") && error.contains("german"), "{error}");
    // Numbers and lists are no texts.
    for name in ["id", "tags", "tags.list.element"] {
        let error = read(bytes, Some(&format!("english,{name}"))).unwrap_err().to_string();
        assert!(error.contains(&format!("no text column {name}")), "{error}");
    }
}

#[test]
fn nulls_and_line_breaks_are_defects() {
    let (_, bytes) = golden!("bad");
    let error = read(bytes, None).unwrap_err().to_string();
    assert!(error.contains("line 2: the value is null"), "{error}");
    let (_file, corpus) = corpus(bytes, None);
    let mut pairs = corpus.open(Reading { on_bad: OnBad::Skip, limit: 100 }).unwrap();
    let good: Vec<Pair> = pairs.by_ref().collect::<Result<_, _>>().unwrap();
    assert_eq!(good, [Pair::new("one", "eins"), Pair::new("end", "Ende"), Pair::new("", "")]);
    let expected =
        DefectCounts { nul: 1, too_long: 1, null: 3, line_break: 1, ..DefectCounts::default() };
    assert_eq!(pairs.skipped(), expected);
}

#[test]
fn unknown_compressions_are_named() {
    let (_, bytes) = golden!("brotli");
    let error = read(bytes, None).unwrap_err().to_string();
    assert!(error.contains("translation.en") && error.contains("brotli"), "{error}");
    let (_, bytes) = golden!("delta_byte_array");
    let error = read(bytes, None).unwrap_err().to_string();
    assert!(error.contains("DELTA_BYTE_ARRAY is not supported"), "{error}");
}

#[test]
fn what_is_no_parquet_is_refused() {
    let cases: [(&str, &[u8]); 4] = [
        ("nothing", b""),
        ("text", b"one\teins\ntwo\tzwei\n"),
        ("magic only", b"PAR1PAR1"),
        ("endless footer", b"PAR1........\xff\xff\xff\xffPAR1"),
    ];
    for (name, bytes) in cases {
        let error = read(bytes, None).unwrap_err().to_string();
        assert!(error.contains("not readable as parquet"), "{name}: {error}");
    }
}

#[test]
fn every_cut_is_refused() {
    let (_, bytes) = golden!("snappy");
    for cut in 0..bytes.len() {
        assert!(read(&bytes[..cut], None).is_err(), "cut at {cut}");
    }
}

#[test]
fn a_large_file_is_read_back_in_little_memory() {
    // Several row groups; the reader holds one page of each column.
    let languages = "en,de".parse().unwrap();
    let mut writer = ParquetWriter::new(Vec::new(), &languages).unwrap();
    for i in 0..250_000_u32 {
        writer.write(&Pair::new(format!("s{i}"), format!("t{}", i / 2))).unwrap();
    }
    let (_file, corpus) = corpus(&writer.finish().unwrap(), None);
    for (i, pair) in corpus.open(Reading::default()).unwrap().enumerate() {
        assert_eq!(pair.unwrap(), Pair::new(format!("s{i}"), format!("t{}", i / 2)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn damage_is_an_error_or_other_text_but_no_panic(
        which in 0..GOLDEN.len(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut bytes = GOLDEN[which].1.to_vec();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = read(&bytes, None);
    }
}
