//! Trainings that are stopped, and who may work in a directory.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::fixture::{RECIPE, errors, fixture, listed, padir, ran, run};

/// A training that takes long enough to be stopped.
const TRAINING: &str = r#"
dir = "out"
[values]
steps = 60
[files]
"t.toml" = '''
[data]
vocabulary = "vocab/spiece.model"
[data.train]
source = "corpus/train.en"
target = "corpus/train.de"
[data.dev.dev]
source = "corpus/dev.en"
target = "corpus/dev.de"
[model]
preset = "tiny"
d_model = 32
d_kv = 16
d_ff = 64
num_heads = 2
[batch]
tokens = 300
[run]
dir = "teacher"
max_steps = {values.steps}
log_every = 2
save_every = 7
eval_every = 1000
decode = { lines = 5, max_length = 20 }
'''
[[stage]]
name = "corpus"
run = ["data", "make", "numbers", "--out-dir", "corpus", "--train", "1500", "--dev", "20"]
outputs = ["corpus"]
[[stage]]
name = "vocabulary"
run = ["vocab", "train", "corpus/train.en", "corpus/train.de", "--size", "150", "--output", "vocab"]
outputs = ["vocab"]
[[stage]]
name = "teacher"
run = ["train", "t.toml", "--resume-or-begin"]
[[stage]]
name = "test"
run = ["translate", "--model", "teacher/best", "--file", "corpus/dev.en", "--steps", "1"]
stdout = "test.de"
"#;

#[cfg(unix)]
#[test]
fn an_interrupted_training_goes_on_where_it_was() {
    let folder = fixture(TRAINING);
    let home = folder.path();
    let long = ["recipe.toml", "--set", "values.steps=100000"];
    let mut child = padir(home, &long).stderr(Stdio::piped()).spawn().unwrap();
    let record = home.join("out/teacher/metrics.jsonl");
    let start = Instant::now();
    while fs::read_to_string(&record).unwrap_or_default().lines().count() < 3 {
        assert!(start.elapsed() < Duration::from_mins(2), "no step within two minutes");
        assert_eq!(child.try_wait().unwrap(), None, "it ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = errors(&output);
    assert_eq!(output.status.code(), Some(130), "{text}");
    assert!(text.contains("stopped in stage teacher after "), "{text}");
    assert!(!home.join("out/teacher/final").exists());
    let list = listed(home, &["--set", "values.steps=100000"]);
    assert_eq!(list[2..], ["teacher run was interrupted", "test run not run yet, after teacher"]);

    // Another number of steps is another training.
    let output = run(home, &["recipe.toml", "--list"]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("t.toml changed"));

    // As after the last step that the recipe asks for, were it not so many.
    let config = home.join("out/stages.json");
    let before = fs::read_to_string(&config).unwrap();
    assert!(before.contains("\"begun\""), "{before}");
    let mut child = padir(home, &long).stderr(Stdio::piped()).spawn().unwrap();
    let steps = fs::read_to_string(&record).unwrap().lines().count();
    let start = Instant::now();
    while fs::read_to_string(&record).unwrap().lines().count() < steps + 2 {
        assert!(start.elapsed() < Duration::from_mins(2), "no step within two minutes");
        assert_eq!(child.try_wait().unwrap(), None, "it ended");
        std::thread::sleep(Duration::from_millis(5));
    }
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let text = errors(&output);
    assert!(text.contains(", from step "), "{text}");
    assert!(text.contains("[1/4] corpus: unchanged"), "{text}");

    // A change begins anew, and keeps what was.
    assert_eq!(ran(home, &[]), ["teacher", "test"]);
    assert!(home.join("out/replaced/teacher.1/teacher/metrics.jsonl").is_file());
    assert_eq!(fs::read_to_string(home.join("out/test.de")).unwrap().lines().count(), 20);
    // Checkpoints are not what a training is for.
    fs::remove_dir_all(home.join("out/teacher/checkpoints")).unwrap();
    assert_eq!(ran(home, &[]), [""; 0]);
}

#[test]
fn two_cannot_work_in_one_directory() {
    let folder = fixture(RECIPE);
    fs::create_dir(folder.path().join("out")).unwrap();
    let lock = fs::File::create(folder.path().join("out/stages.lock")).unwrap();
    lock.lock().unwrap();
    let output = run(folder.path(), &["recipe.toml"]);
    assert!(
        errors(&output).contains("another `padir run`, or a stage of one, works in out"),
        "{}",
        errors(&output)
    );
}

/// A stage whose runner was killed works on; nobody may begin it again meanwhile.
#[cfg(target_os = "linux")]
#[test]
fn a_stage_that_outlives_its_runner_keeps_the_directory() {
    let folder = fixture(TRAINING);
    let home = folder.path();
    let long = ["recipe.toml", "--set", "values.steps=100000"];
    let mut child = padir(home, &long).stderr(Stdio::null()).spawn().unwrap();
    let record = home.join("out/teacher/metrics.jsonl");
    let start = Instant::now();
    while fs::read_to_string(&record).unwrap_or_default().lines().count() < 2 {
        assert!(start.elapsed() < Duration::from_mins(2), "no step within two minutes");
        std::thread::sleep(Duration::from_millis(5));
    }
    let children = format!("/proc/{0}/task/{0}/children", child.id());
    let orphan = fs::read_to_string(children).unwrap().trim().to_owned();
    child.kill().unwrap();
    child.wait().unwrap();
    let output = run(home, &long);
    assert!(Command::new("kill").args(["-KILL", &orphan]).status().unwrap().success());
    assert!(
        errors(&output).contains("another `padir run`, or a stage of one, works in out"),
        "{}",
        errors(&output)
    );
}
