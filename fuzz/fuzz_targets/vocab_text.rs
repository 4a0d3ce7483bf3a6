//! Any text is encoded to ids of the vocabulary, and decoding them gives its normal form.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use padir_base::random::Seed;
use padir_text::vocab::Vocabulary;
use padir_text::vocab::train::{LineSample, TrainOptions, train};

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut sample = LineSample::new(1 << 20, Seed(1));
    for i in 0..500 {
        sample.offer(&format!("the {i} houses and die {} Häuser", i * 7));
    }
    let options = TrainOptions { size: 400, byte_fallback: true, ..TrainOptions::default() };
    train(&sample, &options, |_| {}).expect("enough text").0
});

fuzz_target!(|text: &str| {
    let vocabulary = &*VOCABULARY;
    let ids = vocabulary.encode(text);
    assert!(ids.iter().all(|id| id.index() < vocabulary.size()));
    let normal = vocabulary.normalize(text).replace('\u{2581}', " ");
    assert_eq!(vocabulary.decode(&ids), normal.strip_prefix(' ').unwrap_or(&normal));
});
