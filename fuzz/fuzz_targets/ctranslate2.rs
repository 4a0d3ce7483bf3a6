//! Any bytes as a `model.bin` of CTranslate2, alone and in a directory with a sound vocabulary. What opens can be read without a panic.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use padir_checkpoint::import::{Binary, Foreign};

const SOUND: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../reference/import/tiny/shared/ct2-int8");

fuzz_target!(|bytes: &[u8]| {
    let Ok(binary) = Binary::parse(Path::new("model.bin"), bytes.to_vec()) else { return };
    for name in binary.names() {
        let _ = binary.integer(name);
        let _ = binary.read(name);
    }
    let directory = tempfile::tempdir().expect("a temporary directory");
    for file in ["config.json", "shared_vocabulary.json", "source.spm", "target.spm"] {
        std::fs::copy(Path::new(SOUND).join(file), directory.path().join(file)).expect("fixtures");
    }
    std::fs::write(directory.path().join("model.bin"), bytes).expect("room");
    if let Ok(foreign) = Foreign::open(directory.path()) {
        for parameter in foreign.config.parameters() {
            if let Ok(numbers) = foreign.tensor(&parameter) {
                assert_eq!(numbers.len(), parameter.len());
            }
        }
    }
});
