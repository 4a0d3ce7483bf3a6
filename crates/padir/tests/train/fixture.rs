//! A folder with a small corpus and a configuration, and the program to be run in it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output};
use std::time::{Duration, Instant};

pub(crate) fn padir(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    command.current_dir(folder).args(arguments);
    command
}

pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Output {
    padir(folder, arguments).output().unwrap()
}

pub(crate) fn succeed(folder: &Path, arguments: &[&str]) -> Output {
    let output = run(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "padir {}: {errors}", arguments.join(" "));
    output
}

pub(crate) const CONFIG: &str = r#"
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
pub(crate) fn folder() -> tempfile::TempDir {
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
pub(crate) fn record(folder: &Path, run: &str) -> Vec<String> {
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

/// Waits until something is so.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_mins(2), "{what}: not within two minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The lines of a run's record.
pub(crate) fn lines(folder: &Path, run: &str) -> usize {
    let text = fs::read_to_string(folder.join(run).join("metrics.jsonl")).unwrap_or_default();
    text.lines().count()
}

/// Waits for the end of a program, which is killed if it takes too long.
pub(crate) fn end(mut child: Child, most: Duration) -> Option<ExitStatus> {
    let start = Instant::now();
    while start.elapsed() < most {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}
