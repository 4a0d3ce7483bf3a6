//! Any text through every tokeniser: nothing is lost but white space, nothing panics.

#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_score::{TercomOptions, Tokenizer, python};

fuzz_target!(|text: &str| {
    for tokenizer in Tokenizer::ALL {
        let tokens = tokenizer.tokens(text);
        assert!(tokens.iter().all(|token| !token.is_empty()));
        if matches!(tokenizer, Tokenizer::Mteval13a) {
            continue; // Undoes escapes.
        }
        let kept: String = python::split(text).collect();
        assert_eq!(tokens.concat(), kept, "{tokenizer}");
    }
    for bits in 0..16 {
        let has = |bit: u8| bits & (1 << bit) != 0;
        let options = TercomOptions {
            normalized: has(0),
            no_punct: has(1),
            asian_support: has(2),
            case_sensitive: has(3),
        };
        let _ = options.words(text);
    }
    let lowered = python::lower(text);
    assert_eq!(python::lower(&lowered), lowered);
});
