//! Any bytes as a `vocab.json` beside sound SentencePiece models. What loads encodes and decodes without a panic.

#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_text::vocab::{MarianFiles, Vocabulary};

const SPM: &[u8] = include_bytes!("../../reference/import/tiny/shared/hf/source.spm");

fuzz_target!(|bytes: &[u8]| {
    let files = MarianFiles {
        source_spm: SPM.to_vec(),
        target_spm: SPM.to_vec(),
        vocab: bytes.to_vec(),
        target_vocab: None,
    };
    let Ok(vocabulary) = Vocabulary::from_marian(&files) else { return };
    let ids = vocabulary.encode(">>en<< ein Hund ☃ läuft");
    assert!(ids.iter().all(|id| id.index() < vocabulary.size()));
    let _ = vocabulary.decode(&ids);
});
