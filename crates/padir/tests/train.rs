//! `padir train` from outside: a run survives its death, and says what is wrong with its configuration.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

fn padir(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    command.current_dir(folder).args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    padir(folder, arguments).output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) -> Output {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "padir {}: {errors}", arguments.join(" "));
    output
}

const CONFIG: &str = r#"
[data]
vocabulary = "vocab/spiece.model"
[data.train]
source = "train.en"
target = "train.de"
[data.dev.dev]
source = "dev.en"
target = "dev.de"
[model]
preset = "tiny"
d_model = 32
d_kv = 16
d_ff = 64
num_heads = 2
[optimiser.schedule]
peak = 0.01
warmup = 10
steps = 100
[batch]
tokens = 300
[run]
dir = "run"
max_steps = 60
log_every = 3
save_every = 7
eval_every = 20
decode = { lines = 5, max_length = 20 }
"#;

/// A folder with a corpus, a vocabulary and a configuration.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let make = [
        "data",
        "make",
        "numbers",
        "--max",
        "100000",
        "--out-dir",
        ".",
        "--train",
        "1500",
        "--dev",
        "20",
    ];
    succeed(folder.path(), &make);
    let learn = ["vocab", "train", "train.en", "train.de", "--size", "150", "--output", "vocab"];
    succeed(folder.path(), &learn);
    fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
    folder
}

/// What a run recorded, without what depends on the clock.
fn record(folder: &Path, run: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(run).join("metrics.jsonl")).unwrap();
    let line = |line: &str| {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        for key in ["time", "seconds", "tokens_per_second"] {
            row.as_object_mut().unwrap().remove(key);
        }
        row.to_string()
    };
    text.lines().map(line).collect()
}

#[test]
fn a_killed_run_goes_on_as_if_nothing_had_happened() {
    let folder = folder();
    let folder = folder.path();
    succeed(folder, &["train", "config.toml", "--set", "run.dir=whole"]);
    let mut child =
        padir(folder, &["train", "config.toml", "--quiet", "--threads", "1"]).spawn().unwrap();
    let steps = |count: usize| {
        let text = fs::read_to_string(folder.join("run/metrics.jsonl")).unwrap_or_default();
        text.lines().count() >= count
    };
    let start = Instant::now();
    while !steps(9) && start.elapsed() < Duration::from_mins(2) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.join("run/final").exists(), "the run was over before it was killed");
    succeed(folder, &["train", "config.toml", "--resume"]);
    assert_eq!(record(folder, "whole"), record(folder, "run"));
    let model = |run: &str| fs::read(folder.join(run).join("final/model.safetensors")).unwrap();
    assert!(model("whole") == model("run"), "the models differ");
}

#[test]
fn all_faults_of_a_configuration_are_reported_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = CONFIG.replace("peak = 0.01", "peek = 0.01").replace("d_ff = 64", "d_ff = \"wide\"");
    fs::write(folder.path().join("config.toml"), text).unwrap();
    let output = run(folder.path(), &["train", "config.toml"]);
    assert!(!output.status.success());
    let errors = String::from_utf8_lossy(&output.stderr);
    for part in
        ["config.toml:3:", "peek", "config.toml:14:", "d_ff", "vocab/spiece.model", "--manual"]
    {
        assert!(errors.contains(part), "{part} is not in\n{errors}");
    }
    assert!(!folder.path().join("run").exists());
}

#[test]
fn the_manual_lists_every_section() {
    let folder = tempfile::tempdir().unwrap();
    let manual = succeed(folder.path(), &["train", "--manual"]).stdout;
    let manual = String::from_utf8(manual).unwrap();
    for section in
        ["[data]", "[model]", "[objective]", "[optimiser]", "[batch]", "[run]", "[device]"]
    {
        assert!(manual.contains(section), "{section}");
    }
}
