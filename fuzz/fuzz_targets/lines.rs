//! Any bytes as a compressed or plain file: decoded and split into lines, or refused.

#![no_main]

use std::io::Cursor;

use libfuzzer_sys::fuzz_target;
use padir_text::input::decode;
use padir_text::lines::Lines;

fuzz_target!(|bytes: &[u8]| {
    let Ok(reader) = decode("fuzz".to_owned(), Cursor::new(bytes.to_vec())) else { return };
    let mut lines = Lines::new(reader, 1000);
    let mut count = 0;
    while let Ok(Some(line)) = lines.next_line() {
        count += 1;
        if let Ok(text) = line {
            assert!(text.len() <= 1000 && !text.contains(['\n', '\0']));
        }
        // A few bytes may decompress to very many: enough is enough.
        if count > 10_000 {
            break;
        }
    }
    assert_eq!(lines.number(), count);
});
