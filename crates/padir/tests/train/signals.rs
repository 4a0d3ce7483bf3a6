//! Runs that are asked to stop while they do something long.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::fixture::{end, folder, lines, padir, succeed, wait_until};

/// Sends signals, one right after the other.
fn send(child: &Child, signals: &[&str]) {
    let pid = child.id();
    let kills: Vec<String> = signals.iter().map(|name| format!("kill -{name} {pid}")).collect();
    let sent = Command::new("sh").args(["-c", &kills.join(" && ")]).status().unwrap();
    assert!(sent.success());
}

/// A run in the middle of an evaluation that takes minutes: beams as wide as they get.
fn in_evaluation(folder: &Path) -> Child {
    let long = ["train", "config.toml", "--set", "objective.kind=ar", "--set", "run.eval_every=3"];
    let longer = ["--set", "run.decode.lines=20", "--set", "run.decode.beam=900"];
    let mut command = padir(folder, &long);
    let child = command.args(longer).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the first line", || lines(folder, "run") >= 1);
    // The evaluation begins with the line, and its steps grow long.
    std::thread::sleep(Duration::from_millis(1500));
    child
}

fn go_on(folder: &Path) {
    let short = ["train", "config.toml", "--resume", "--set", "objective.kind=ar"];
    let shorter = ["--set", "run.decode.lines=1", "--set", "run.max_steps=6"];
    succeed(folder, &[&short[..], &shorter].concat());
    assert!(folder.join("run/final/model.safetensors").is_file());
}

#[test]
fn an_evaluation_is_left_when_the_run_is_stopped() {
    let folder = folder();
    let child = in_evaluation(folder.path());
    send(&child, &["INT"]);
    let status = end(child, Duration::from_secs(40)).expect("it evaluates on and on");
    assert_eq!(status.code(), Some(130), "nothing that needs the model may go on");
    assert_eq!(lines(folder.path(), "run"), 1, "there is no evaluation in the record");
    assert!(folder.path().join("run/checkpoints/step-0000000003").is_dir());
    go_on(folder.path());
}

#[test]
fn a_second_interruption_ends_the_run_at_once() {
    let folder = folder();
    let child = in_evaluation(folder.path());
    // Of two of the same kind, the second could be lost.
    send(&child, &["INT", "TERM"]);
    let status = end(child, Duration::from_secs(40)).expect("it does not listen");
    assert_eq!(status.code(), Some(130));
    go_on(folder.path());
    let text = fs::read_to_string(folder.path().join("run/status.json")).unwrap();
    assert!(text.contains("finished"), "{text}");
}
