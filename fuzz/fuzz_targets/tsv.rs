//! Any bytes as a TSV file, strict and lenient: both must agree on the good lines.

#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use padir_text::corpus::{Corpus, Reading};
use padir_text::defect::OnBad;
use padir_text::origin::Origin;
use padir_text::tsv::Columns;

fuzz_target!(|bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for a temporary file");
    let columns = Columns::new(2, 1).expect("columns from 1");
    let corpus = Corpus::Tsv { file: Origin::new(file.path()), columns };
    let read = |on_bad| corpus.open(Reading { on_bad, limit: 100 });
    let (Ok(strict), Ok(lenient)) = (read(OnBad::Fail), read(OnBad::Skip)) else { return };
    let strict: Vec<_> = strict.map_while(Result::ok).take(10_000).collect();
    let lenient: Vec<_> = lenient.map_while(Result::ok).take(10_000).collect();
    assert!(lenient.starts_with(&strict));
});
