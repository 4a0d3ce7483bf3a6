//! A `.model` or `tokenizer.json` of any bytes is refused or usable, never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use padir_base::TokenId;
use padir_text::vocab::Vocabulary;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(vocabulary) = Vocabulary::parse(bytes) {
        let ids = vocabulary.encode("The houses, die Häuser\u{200b} 12 中文 \u{1f600}");
        assert!(ids.iter().all(|id| id.index() < vocabulary.size()));
        vocabulary.decode(&ids);
        let all: Vec<TokenId> = (0..vocabulary.size().min(1000) as u32).map(TokenId).collect();
        vocabulary.decode(&all);
        Vocabulary::parse(&vocabulary.to_model_bytes()).expect("what was read can be read again");
    }
});
