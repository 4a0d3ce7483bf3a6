//! Subtitles: read and put together again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_serve::parse::Srt;

fuzz_target!(|text: &str| {
    let srt = Srt::parse(text);
    let _ = srt.with(srt.texts());
    let _ = srt.with(Vec::new());
});
