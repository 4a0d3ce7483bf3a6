//! The translator in the box still translates: a few dozen sentences of our own keep a minimum chrF, so that a change that ruins
//! it, or what it is run with, cannot pass.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::Command;

use padir_score::{Chrf, References, corpus_score};

/// English and German, divided by a tabulator.
const PAIRS: &str = include_str!("en-de.tsv");

#[test]
fn english_becomes_german() {
    let (english, german): (Vec<&str>, Vec<&str>) = pairs().unzip();
    keeps("en", "de", &english, &german, 80.0);
}

#[test]
fn german_becomes_english() {
    let (english, german): (Vec<&str>, Vec<&str>) = pairs().unzip();
    keeps("de", "en", &german, &english, 80.0);
}

#[test]
fn the_first_command_says_what_the_readme_shows() {
    let (sentence, shown) = readme("cargo run --release -- translate \"");
    assert_eq!(translate(&[sentence]), shown);
}

#[test]
fn watching_shows_what_the_readme_shows() {
    let (sentence, shown) = readme("cargo run --release -- translate --watch \"");
    assert_eq!(run(&["--watch", sentence]).1, shown);
}

#[test]
fn the_box_is_light() {
    for model in ["tatoeba-en-de", "tatoeba-de-en"] {
        let files = fs::read_dir(root().join("models").join(model)).unwrap();
        let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(bytes <= 12_000_000, "{model}: {bytes} bytes");
    }
}

fn pairs() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAIRS.lines().map(|line| line.split_once('\t').unwrap())
}

/// The sentence of a command in the README, and what it shows next.
fn readme(command: &str) -> (&'static str, &'static str) {
    let readme = include_str!("../../../../README.md");
    let (_, after) = readme.split_once(command).unwrap();
    let (sentence, after) = after.split_once('"').unwrap();
    let (_, after) = after.split_once("```text\n").unwrap();
    (sentence, after.split_once("```").unwrap().0)
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

/// Translates as somebody does who has just cloned the repository.
fn translate(arguments: &[&str]) -> String {
    run(arguments).0
}

/// What is printed to stdout and stderr.
fn run(arguments: &[&str]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_padir"))
        .arg("translate")
        .args(arguments)
        .current_dir(root())
        .env_remove("PADIR_MODELS")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{errors}");
    (String::from_utf8(output.stdout).unwrap(), errors)
}

/// Translates, and compares.
fn keeps(from: &str, to: &str, sources: &[&str], references: &[&str], least: f64) {
    let said = translate(&[&["--from", from, "--to", to], sources].concat());
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), sources.len(), "a line for a line");
    let references = References::new(&[references]).unwrap();
    let found = corpus_score(&Chrf::default(), &lines, &references).unwrap().value;
    assert!(
        found >= least,
        "chrF {found:.1} from {from} into {to}, which was above {least}:\n{said}"
    );
}
