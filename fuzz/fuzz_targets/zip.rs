//! Any bytes as a zip archive: no entry is longer than it says or than the limit.

#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use padir_checkpoint::import::Archive;

const LIMIT: u64 = 1 << 20;

fuzz_target!(|bytes: &[u8]| {
    let Ok(archive) = Archive::parse(Path::new("a.zip"), bytes.to_vec()) else { return };
    for name in archive.names() {
        assert!(!name.split('/').any(|part| part == "..") && !name.starts_with('/'));
        if let Ok(Some(content)) = archive.read(name, LIMIT) {
            assert!(content.len() as u64 <= LIMIT);
        }
        if let Ok(Some(range)) = archive.stored(name) {
            assert!(range.end <= bytes.len());
        }
    }
});
