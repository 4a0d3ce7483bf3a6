//! Any bytes as a `.npy` table.

#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_lab::data::read_rows;

fuzz_target!(|bytes: &[u8]| {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("rows.npy");
    std::fs::write(&path, bytes).expect("room");
    if let Ok(rows) = read_rows(&path) {
        let width = rows.first().map_or(0, Vec::len);
        assert!(rows.iter().all(|row| row.len() == width));
    }
});
