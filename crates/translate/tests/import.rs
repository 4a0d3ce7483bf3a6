//! Imported models against the programs they come from.
//!
//! `reference/import/tiny.py` made the models and wrote down what transformers and CTranslate2 make of them.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_checkpoint::Checkpoint;
use padir_decode::autoregression::{Beam, Normalization};
use padir_engine::{Engine, Precision, Target, Threads};
use padir_text::vocab::Vocabulary;
use padir_translate::{
    Decoding, ImportFailure, ImportOptions, Imported, Options, Segmentation, Text, Translator,
    import,
};
use serde_json::Value;

fn tiny(case: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/import/tiny").join(case)
}

fn expected(case: &str) -> Value {
    serde_json::from_slice(&fs::read(tiny(case).join("expected.json")).unwrap()).unwrap()
}

fn list<T: serde::de::DeserializeOwned>(expected: &Value, key: &str) -> T {
    serde_json::from_value(expected[key].clone()).unwrap()
}

/// A directory of transformers whose weights are another file of the case.
fn with_weights(case: &str, file: &str, place: &Path) {
    fs::create_dir_all(place).unwrap();
    for entry in fs::read_dir(tiny(case).join("hf")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_name() != "model.safetensors" {
            fs::copy(entry.path(), place.join(entry.file_name())).unwrap();
        }
    }
    fs::copy(tiny(case).join(file), place.join("pytorch_model.bin")).unwrap();
}

/// The mean −ln p of each target, its end included.
fn losses(model: &Path, expected: &Value) -> Vec<f64> {
    let engine = Engine::load(&Checkpoint::open(model).unwrap(), Precision::F32).unwrap();
    let mut session = engine.session(Threads::new(1));
    let targets: Vec<Vec<TokenId>> = list(expected, "target_ids");
    let sources: Vec<Vec<TokenId>> = list(expected, "source_ids");
    let sources: Vec<&[TokenId]> = sources[..targets.len()].iter().map(Vec::as_slice).collect();
    session.encode(&sources).unwrap();
    let all: Vec<Target<'_>> =
        targets.iter().enumerate().map(|(context, tokens)| Target { context, tokens }).collect();
    let mut log_probs = Vec::new();
    session.score_targets(&all, &mut log_probs).unwrap();
    let mut rest = log_probs.as_slice();
    let mean = |target: &Vec<TokenId>| {
        let (own, others) = rest.split_at(target.len());
        rest = others;
        -own.iter().sum::<f64>() / own.len() as f64
    };
    targets.iter().map(mean).collect()
}

fn imported(source: &Path, output: &Path) -> Imported {
    import(source, output, &ImportOptions::default()).unwrap()
}

#[test]
fn losses_are_those_of_transformers_whatever_the_format() {
    let root = tempfile::tempdir().unwrap();
    let zip = root.path().join("zip");
    let legacy = root.path().join("legacy");
    with_weights("shared", "pytorch_model.bin", &zip);
    with_weights("shared", "legacy.bin", &legacy);
    let shared = |name: &str| tiny("shared").join(name);
    let exact = 2e-5;
    // CTranslate2 leaves the padding out of the sum over all tokens; transformers does not.
    let padding = 0.02;
    let cases = [
        ("shared", shared("hf"), "Marian (safetensors)", exact),
        ("shared", zip, "Marian (PyTorch)", exact),
        ("shared", legacy, "Marian (PyTorch)", exact),
        ("separate", tiny("separate").join("hf"), "Marian (safetensors)", exact),
        ("shared", shared("ct2-float32"), "CTranslate2", padding),
        ("shared", shared("ct2-float16"), "CTranslate2", padding + 0.02),
        ("shared", shared("ct2-bfloat16"), "CTranslate2", padding + 0.1),
        ("shared", shared("ct2-int16"), "CTranslate2", padding + 0.02),
        ("shared", shared("ct2-int8"), "CTranslate2", padding + 0.1),
    ];
    for (case, source, format, most) in cases {
        let expected = expected(case);
        let output = root.path().join("out");
        let report = imported(&source, &output);
        assert_eq!(report.format, format);
        let wanted: Vec<f64> = list(&expected, "losses");
        for (found, wanted) in losses(&output, &expected).into_iter().zip(wanted) {
            let error = (found - wanted).abs();
            assert!(error < most, "{}: {found} {wanted}", source.display());
        }
    }
}

#[test]
fn ids_are_those_of_the_tokenizer() {
    let root = tempfile::tempdir().unwrap();
    for (case, format) in [("shared", "hf"), ("separate", "hf"), ("shared", "ct2-int8")] {
        let expected = expected(case);
        let output = root.path().join("out");
        imported(&tiny(case).join(format), &output);
        let vocabulary = Vocabulary::load(&output).unwrap();
        let sentences: Vec<String> = list(&expected, "sentences");
        let rows: Vec<Vec<TokenId>> = list(&expected, "source_ids");
        for (sentence, wanted) in sentences.iter().zip(rows) {
            let mut found = vocabulary.encode(sentence);
            found.push(TokenId(0));
            assert_eq!(found, wanted, "{case}/{format}: {sentence:?}");
        }
        let targets: Vec<String> = list(&expected, "targets");
        let rows: Vec<Vec<TokenId>> = list(&expected, "target_ids");
        for (target, ids) in targets.iter().zip(rows) {
            // A piece that was left out of the list is unknown.
            let text = vocabulary.decode(&ids).replace(" \u{2047} ", "w");
            assert_eq!(text, *target, "{case}/{format}");
        }
    }
}

#[test]
fn translations_are_those_of_ctranslate2() {
    let expected = expected("shared");
    let root = tempfile::tempdir().unwrap();
    let output = root.path().join("out");
    imported(&tiny("shared").join("ct2-float32"), &output);
    let mut translator = Translator::open(&output, Options::default()).unwrap();
    translator.set_segmentation(Segmentation::Lines);
    let sentences: Vec<String> = list(&expected, "sentences");
    let sentences: Vec<&String> = sentences.iter().filter(|text| !text.is_empty()).collect();
    let stored = translator.decoding().clone();
    for beams in [1, 4] {
        let how = Beam {
            num_beams: beams,
            length_penalty: 1.0,
            normalization: Normalization::Length,
            early_stopping: true,
            min_length: 1,
            max_length: 40,
            ..Beam::default()
        };
        if beams == 4 {
            assert_eq!(stored, Decoding::Beam(how), "its own settings");
        }
        translator.set_decoding(Decoding::Beam(how)).unwrap();
        let texts: Vec<Text<'_>> =
            (0..).zip(&sentences).map(|(number, text)| Text::new(number, text)).collect();
        let found = translator.translate(&texts, 1, &mut ()).unwrap();
        let wanted: Vec<Vec<String>> = list(&expected, &format!("beam{beams}"));
        let scores: Vec<f64> = list(&expected, &format!("beam{beams}_scores"));
        let mut compared = 0;
        for ((found, wanted), score) in found.iter().zip(wanted).zip(scores) {
            let best = &found.alternatives[0];
            // What never ends is cut at another length than CTranslate2's.
            if wanted.len() < 40 && !best.cut {
                let text = wanted.concat().replace('\u{2581}', " ");
                assert_eq!(found.text(), text.trim(), "beam {beams}");
                if beams == 4 {
                    assert!((best.score - score).abs() < 1e-3, "{} {score}", best.score);
                }
                compared += 1;
            }
        }
        assert!(compared >= 3, "only {compared} searches of beam {beams} ended");
    }
}

#[test]
fn int8_weights_are_a_quarter_and_the_card_knows_whence() {
    let root = tempfile::tempdir().unwrap();
    let output = root.path().join("out");
    let language = |code: &str| Some(code.to_owned().try_into().unwrap());
    let options = ImportOptions {
        languages: padir_checkpoint::Languages { source: language("de"), target: language("en") },
        licence: Some("CC-BY-4.0".to_owned()),
        origin: Some("https://example.org/model".to_owned()),
        int8: true,
        ..ImportOptions::default()
    };
    let report = import(tiny("shared").join("ct2-int8"), &output, &options).unwrap();
    assert_eq!(report.source_language.as_deref(), Some("de"));
    assert!(Checkpoint::open(&output).unwrap().is_quantised());
    let card = fs::read_to_string(output.join("README.md")).unwrap();
    for part in [
        "license: \"CC-BY-4.0\"\nlanguage: [\"de\",\"en\"]",
        "# de to en\n",
        "from `ct2-int8`, a model in the format of CTranslate2. It came from https://example.org/model.",
        "SHA-256 of its weights: `",
    ] {
        assert!(card.contains(part), "{part:?} is not in\n{card}");
    }
    let mut translator = Translator::open(&output, Options::default()).unwrap();
    let text = [Text::new(0, "ein Hund")];
    assert!(!translator.translate(&text, 1, &mut ()).unwrap()[0].text().is_empty());
}

#[test]
fn a_foreign_vocabulary_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let (source, output) = (root.path().join("in"), root.path().join("out"));
    with_weights("shared", "pytorch_model.bin", &source);
    fs::write(source.join("source.spm"), b"nonsense").unwrap();
    let error = import(&source, &output, &ImportOptions::default()).unwrap_err();
    assert!(matches!(error, ImportFailure::Vocabulary(_)), "{error}");
    assert!(!output.exists(), "nothing is left behind");
    // The vocabulary of a model that was imported is its own.
    imported(&tiny("shared").join("hf"), &output);
    fs::copy(tiny("separate").join("hf/vocab.json"), output.join("vocab.json")).unwrap();
    let error = Translator::open(&output, Options::default()).err().unwrap().to_string();
    assert!(error.contains("is not the one this model was trained with"), "{error}");
}
