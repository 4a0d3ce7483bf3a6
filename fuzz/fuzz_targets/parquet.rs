//! Any bytes as a parquet file: pairs or an error, but no panic and no memory taken on trust.

#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use padir_text::corpus::{Corpus, Reading};
use padir_text::defect::OnBad;
use padir_text::origin::Origin;

/// The fuzzer's hook takes every panic for a finding; those that become errors are none.
fn report_unexpected_panics_only() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if !padir_base::caught::is_expected() {
            report(info);
        }
    }));
}

fuzz_target!(init: report_unexpected_panics_only(), |bytes: &[u8]| {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    file.write_all(bytes).expect("room for a temporary file");
    let corpus = Corpus::Parquet { file: Origin::new(file.path()), languages: None };
    let Ok(pairs) = corpus.open(Reading { on_bad: OnBad::Skip, limit: 1000 }) else { return };
    for pair in pairs.take(10_000) {
        let Ok(pair) = pair else { break };
        assert!(!pair.source.contains(['\n', '\0']) && !pair.target.contains(['\n', '\0']));
    }
});
