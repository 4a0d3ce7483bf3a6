//! Any bytes as a shortlist: what loads lists tokens of the vocabulary, and is the same after writing it.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use padir_base::random::Seed;
use padir_text::shortlist::Shortlist;
use padir_text::vocab::Vocabulary;
use padir_text::vocab::train::{LineSample, TrainOptions, train};

static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(|| {
    let mut sample = LineSample::new(1 << 20, Seed(1));
    for i in 0..500 {
        sample.offer(&format!("the {i} houses and die {} Häuser", i * 7));
    }
    let options = TrainOptions { size: 200, ..TrainOptions::default() };
    train(&sample, &options, |_| {}).expect("enough text").0
});

fuzz_target!(|bytes: &[u8]| {
    let vocabulary = &*VOCABULARY;
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("shortlist.tsv");
    std::fs::write(&path, bytes).expect("room");
    let Ok(list) = Shortlist::load(&path, vocabulary) else { return };
    let mut tokens = Vec::new();
    list.gather(&vocabulary.encode("the 7 houses"), &mut tokens);
    assert!(tokens.iter().all(|token| token.index() < vocabulary.size()));
});
