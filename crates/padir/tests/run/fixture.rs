//! A recipe whose stages take moments, and the program to be run on it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Numbers made from a seed, a vocabulary, a score; written in an order in which they cannot run.
pub(crate) const RECIPE: &str = r#"
dir = "out"
needs_data = "ask the librarian for {data.shelf}"

[data]
shelf = "shelf"
reference = "{data.shelf}/ref.de"

[values]
size = 100

[[stage]]
name = "score"
run = ["score", "{data.reference}", "{outputs.hypotheses}", "--json"]
stdout = "scores/all.json"

[[stage]]
name = "vocabulary"
run = ["vocab", "train", "corpus/train.en", "corpus/train.de", "--size", "{values.size}", "--output", "vocab"]
outputs = ["vocab"]

[[stage]]
name = "hypotheses"
each = { task = ["copy", "sort"], n = [3] }
run = ["data", "make", "{task}", "--pairs", "{n}", "-o", "{task}.{n}.a", "-o", "{task}.{n}.b"]
outputs = ["{task}.{n}.a"]
work = ["{task}.{n}.b"]

[[stage]]
name = "corpus"
run = ["data", "make", "numbers", "--out-dir", "corpus", "--train", "300", "--dev", "10", "--test", "10"]
outputs = ["corpus"]
"#;

pub(crate) fn padir(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    command.current_dir(folder).arg("run").args(arguments);
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    padir(folder, arguments).output().unwrap()
}

pub(crate) fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What became of each stage, in order, as `name action`.
fn outcomes(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = run(folder, &[&["recipe.toml", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stages = report["stages"].as_array().unwrap().iter();
    let line = |stage: &Value| format!("{} {}", stage["name"], stage["action"]).replace('"', "");
    stages.map(line).collect()
}

/// The names of the stages that ran.
pub(crate) fn ran(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let outcomes = outcomes(folder, arguments);
    outcomes.iter().filter_map(|line| line.strip_suffix(" ran").map(str::to_owned)).collect()
}

/// What `--list` says, word by word.
pub(crate) fn listed(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = run(folder, &[&["recipe.toml", "--list"], arguments].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

pub(crate) fn fixture(recipe: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shelf")).unwrap();
    fs::write(folder.path().join("shelf/ref.de"), "a b c d\ne f g h\ni j k l\n").unwrap();
    fs::write(folder.path().join("recipe.toml"), recipe).unwrap();
    folder
}

pub(crate) fn change(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(&path, text.replace(from, to)).unwrap();
}
