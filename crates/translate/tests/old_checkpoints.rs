//! Checkpoints from before decoding had methods still open and translate to the same bytes.
//!
//! `tests/old/*.txt` were written by the program of commit e461cba, one line for each sentence of `guard/en-de.tsv` or of
//! `ar.source.txt`: `padir translate --model DIR < SOURCES`. `old/ar` is of `recipes/number-words-ar.toml` with 500 steps,
//! `model.d_model=64` and `model.d_ff=128`, quantised.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::{Path, PathBuf};

use padir_translate::{Decoding, Options, Segmentation, Text, Translator};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn expected(name: &str) -> String {
    fs::read_to_string(root().join("crates/translate/tests/old").join(name)).unwrap()
}

fn translate(model: &Path, sources: &[String]) -> (Decoding, String) {
    let mut translator = Translator::open(model, Options::default()).unwrap();
    translator.set_segmentation(Segmentation::Lines);
    let texts: Vec<Text<'_>> =
        (0..).zip(sources).map(|(number, source)| Text::new(number, source)).collect();
    let translations = translator.translate(&texts, 1, &mut ()).unwrap();
    let lines = translations.iter().map(|one| format!("{}\n", one.text()));
    (translator.decoding().clone(), lines.collect())
}

#[test]
fn the_models_in_the_box_say_the_same() {
    let pairs = fs::read_to_string(root().join("crates/padir/tests/guard/en-de.tsv")).unwrap();
    for (model, column) in [("tatoeba-en-de", 0), ("tatoeba-de-en", 1)] {
        let side = |line: &str| line.split('\t').nth(column).unwrap().to_owned();
        let sources: Vec<String> = pairs.lines().map(side).collect();
        let (decoding, found) = translate(&root().join("models").join(model), &sources);
        assert_eq!(found, expected(&format!("{model}.txt")), "{model}");
        assert!(matches!(decoding, Decoding::Refine(how) if how.steps == 4), "{model}");
    }
}

#[test]
fn an_autoregressive_one_says_the_same() {
    let sources: Vec<String> = expected("ar.source.txt").lines().map(ToOwned::to_owned).collect();
    let model = root().join("crates/translate/tests/old/ar");
    let (decoding, found) = translate(&model, &sources);
    assert_eq!(found, expected("ar.txt"));
    let Decoding::Beam(beam) = decoding else { panic!("it is searched") };
    assert_eq!((beam.num_beams, beam.max_length), (1, 40));
}
