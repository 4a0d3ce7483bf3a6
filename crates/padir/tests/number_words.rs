//! The system test: both kinds of networks learn to translate number words, by the recipes a reader would use.
//!
//! Minutes of training, so they are asked for: `cargo test --release -p padir --test number_words -- --ignored`.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The share of the test set that must be right word for word, in percent.
const ENOUGH: f64 = 95.0;
/// The objectives of other systems, and the share that they must reach.
const RIVALS: [&str; 6] = ["cmlm", "smart", "sundae", "nat", "inat", "disco"];
const ENOUGH_OF_RIVALS: f64 = 90.0;

fn padir(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "padir {}: {errors}", arguments.join(" "));
}

fn recipe(name: &str) -> String {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes").join(name);
    place.canonicalize().unwrap().display().to_string()
}

/// A folder with the corpus of the recipes and its vocabulary.
fn corpus() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let make = "data make numbers --out-dir . --train 8000 --dev 200 --test 200";
    let learn = "vocab train train.de train.en --size 150 --output vocab";
    for command in [make, learn] {
        padir(folder.path(), &command.split(' ').collect::<Vec<_>>());
    }
    folder
}

/// The exact match of the test set at the best evaluation by the dev set.
fn exact_match(run: &Path) -> f64 {
    let text = fs::read_to_string(run.join("metrics.jsonl")).unwrap();
    let rows = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let confidence_counted = rows.filter_map(|row| {
        Some((row.get("dev.exact_match")?.as_f64()?, row.get("test.exact_match")?.as_f64()?))
    });
    // As the trainer chooses: a later one must be better.
    let best = confidence_counted.reduce(|best, next| if next.0 > best.0 { next } else { best });
    best.unwrap().1
}

#[test]
fn recipes_are_configurations() {
    let folder = corpus();
    for name in ["ar", "padir", "ctc"].iter().chain(&RIVALS) {
        let recipe = recipe(&format!("number-words-{name}.toml"));
        padir(folder.path(), &["train", &recipe, "--check"]);
    }
}

fn learn(name: &str) {
    learn_enough(name, ENOUGH);
}

fn learn_enough(name: &str, enough: f64) {
    let folder = corpus();
    padir(folder.path(), &["train", &recipe(&format!("{name}.toml"))]);
    let found = exact_match(&folder.path().join("runs").join(name));
    assert!(found >= enough, "{name}: {found} % of the test set are right");
}

#[test]
#[ignore = "trains for minutes"]
fn the_autoregressive_twin_learns_number_words() {
    learn("number-words-ar");
}

#[test]
#[ignore = "trains for minutes"]
fn refinement_learns_number_words() {
    learn("number-words-padir");
}

#[test]
#[ignore = "trains for minutes"]
fn alignments_learn_number_words() {
    learn("number-words-ctc");
}

#[test]
#[ignore = "trains for minutes"]
fn rivals_learn_number_words() {
    for name in RIVALS {
        learn_enough(&format!("number-words-{name}"), ENOUGH_OF_RIVALS);
    }
}
