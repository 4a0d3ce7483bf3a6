//! `padir import` as a user runs it, with the models of `reference/import/tiny.py`.
#![cfg(feature = "translate")]
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn tiny(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/import/tiny").join(name)
}

fn padir(place: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_padir")).args(arguments).current_dir(place).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn fails(place: &Path, arguments: &[&str]) -> String {
    let output = padir(place, arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert!(output.stdout.is_empty(), "{}", text(&output.stdout));
    text(&output.stderr)
}

#[test]
fn an_imported_model_translates() {
    let place = tempfile::tempdir().unwrap();
    for (source, options) in [
        ("shared/ct2-float32", &["--from", "de", "--to", "en"][..]),
        ("shared/ct2-int8", &["--int8"]),
        ("shared/hf", &[]),
        ("separate/hf", &["--licence", "CC0-1.0", "--origin", "a test"]),
    ] {
        let source = tiny(source);
        let source = source.to_str().unwrap();
        let arguments = [&["import", source, "--output", "model", "--force"], options].concat();
        let output = padir(place.path(), &arguments);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let note = text(&output.stderr);
        assert!(note.contains("2 + 1 layers, width 16"), "{note}");
        let translate = ["translate", "--model", "model", "--beam", "2", "ein Hund"];
        let translated = padir(place.path(), &translate);
        assert!(translated.status.success(), "{}", text(&translated.stderr));
        assert_eq!(text(&translated.stdout).lines().count(), 1);
        let again = padir(place.path(), &[&translate[..], &["--int8"]].concat());
        assert!(again.status.success(), "{}", text(&again.stderr));
    }
    let card = fs::read_to_string(place.path().join("model/README.md")).unwrap();
    assert!(
        card.contains("license: \"CC0-1.0\"") && card.contains("It came from a test."),
        "{card}"
    );
}

#[test]
fn the_report_is_json() {
    let place = tempfile::tempdir().unwrap();
    let source = tiny("shared/hf");
    let arguments = ["import", source.to_str().unwrap(), "--output", "model", "--json"];
    let output = padir(place.path(), &arguments);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["format"], "Marian (safetensors)");
    assert_eq!(
        (&report["source_language"], &report["target_language"]),
        (&"de".into(), &"en".into())
    );
    assert_eq!(report["layers"], serde_json::json!([2, 1]));
    assert_eq!(report["output"], "model");
}

#[test]
fn faults_are_told_with_a_hint() {
    let place = tempfile::tempdir().unwrap();
    let nothing = fails(place.path(), &["import", "nowhere", "--output", "model"]);
    assert!(nothing.contains("nowhere") && nothing.contains("hint: "), "{nothing}");
    fs::create_dir(place.path().join("empty")).unwrap();
    let empty = fails(place.path(), &["import", "empty", "--output", "model"]);
    assert!(empty.contains("empty: holds no model of a known format"), "{empty}");
    assert!(empty.contains("hint: give a directory with CTranslate2's model.bin"), "{empty}");
    let hf = tiny("shared/hf");
    let hf = hf.to_str().unwrap();
    let language = fails(place.path(), &["import", hf, "--output", "model", "--from", "d e"]);
    assert!(language.contains("is not the code of a language"), "{language}");
    assert!(padir(place.path(), &["import", hf, "--output", "model"]).status.success());
    let exists = fails(place.path(), &["import", hf, "--output", "model"]);
    assert!(exists.contains("--force"), "{exists}");
    let own = fails(place.path(), &["import", "model", "--output", "model", "--force"]);
    assert!(own.contains("model"), "{own}");
    let damaged = place.path().join("damaged");
    fs::create_dir(&damaged).unwrap();
    for entry in fs::read_dir(tiny("shared/ct2-int8")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), damaged.join(entry.file_name())).unwrap();
    }
    let bytes = fs::read(damaged.join("model.bin")).unwrap();
    fs::write(damaged.join("model.bin"), &bytes[..bytes.len() / 2]).unwrap();
    let error = fails(place.path(), &["import", "damaged", "--output", "other"]);
    assert!(error.contains("damaged/model.bin: is damaged: "), "{error}");
    assert!(!place.path().join("other").exists());
    let help = text(&padir(place.path(), &["import", "--help"]).stdout);
    assert!(help.contains("Examples:"), "{help}");
}
