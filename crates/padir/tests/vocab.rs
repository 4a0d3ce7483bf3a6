//! `padir vocab` as a user runs it.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

fn padir(directory: &Path, arguments: &[&str], input: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that fails early closes its stdin before everything is written.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A directory with a text and a vocabulary learnt from it.
fn workshop() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    let mut text = fs::File::create(directory.path().join("text")).unwrap();
    for i in 0..400 {
        writeln!(text, "the {i} houses stand in street {}\ndie {i} Häuser stehen", i % 37).unwrap();
    }
    let output = padir(
        directory.path(),
        &["vocab", "train", "text", "--size", "120", "--coverage", "1", "--output", "vocab"],
        b"",
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    directory
}

#[test]
fn encoding_and_decoding_are_inverse() {
    let directory = workshop();
    let text = "the houses stand\n\ndie 12 Häuser\n";
    for flags in [&[][..], &["--json"]] {
        let mut encode = vec!["vocab", "encode", "--vocab", "vocab"];
        encode.extend(flags);
        let ids = stdout(&padir(directory.path(), &encode, text.as_bytes()));
        assert_eq!(ids.lines().count(), 3);
        let decoded =
            padir(directory.path(), &["vocab", "decode", "--vocab", "vocab"], ids.as_bytes());
        assert_eq!(stdout(&decoded), text, "{flags:?}");
    }
}

#[test]
fn the_vocabulary_has_the_house_ids_and_a_manifest() {
    let directory = workshop();
    let table = stdout(&padir(
        directory.path(),
        &["vocab", "export", "--vocab", "vocab", "--to", "table"],
        b"",
    ));
    let first: Vec<&str> =
        table.lines().take(4).filter_map(|line| line.split('\t').nth(1)).collect();
    assert_eq!(first, ["<pad>", "</s>", "<unk>", "<s>"]);
    assert_eq!(table.lines().count(), 220);
    assert_eq!(table.lines().last(), Some("219\t<extra_id_0>\t0\tcontrol"));
    let manifest = fs::read_to_string(directory.path().join("vocab/manifest.json")).unwrap();
    assert!(manifest.contains("\"command\": \"vocab train\"") && manifest.contains("sha256"));
}

#[test]
fn threads_do_not_matter() {
    let directory = workshop();
    for threads in ["1", "2", "5"] {
        let arguments = [
            "vocab",
            "train",
            "text",
            "--size",
            "120",
            "--coverage",
            "1",
            "--threads",
            threads,
            "--output",
            threads,
        ];
        assert!(padir(directory.path(), &arguments, b"").status.success());
        let read = |name: &str| fs::read(directory.path().join(name).join("spiece.model")).unwrap();
        assert!(read(threads) == read("vocab"), "{threads} threads");
    }
}

#[test]
fn import_keeps_a_vocabulary_in_order() {
    let directory = workshop();
    let arguments = ["vocab", "import", "vocab/spiece.model", "--output", "again", "--json"];
    let report = stdout(&padir(directory.path(), &arguments, b""));
    assert!(report.contains("\"ids_changed\": 0"), "{report}");
    let read = |name: &str| fs::read(directory.path().join(name)).unwrap();
    assert!(read("again/spiece.model") == read("vocab/spiece.model"));
    assert!(read("again/tokenizer.json") == read("vocab/tokenizer.json"));
}

#[test]
fn vocabularies_are_not_replaced_unasked() {
    let directory = workshop();
    let train = ["vocab", "train", "text", "--size", "100", "--output", "vocab"];
    let import = ["vocab", "import", "vocab/spiece.model", "--output", "again"];
    let export = ["vocab", "export", "--vocab", "vocab", "--to", "table", "--output", "table"];
    for command in [&import[..], &export] {
        stdout(&padir(directory.path(), command, b""));
    }
    let before = fs::read(directory.path().join("vocab/spiece.model")).unwrap();
    for command in [&train[..], &import, &export] {
        let message = stderr(&padir(directory.path(), command, b""));
        assert!(message.contains("exist"), "{command:?}: {message}");
        assert!(message.contains("hint: --force replaces "), "{command:?}: {message}");
    }
    assert!(fs::read(directory.path().join("vocab/spiece.model")).unwrap() == before);
    for command in [&train[..], &import, &export] {
        stdout(&padir(directory.path(), &[command, &["--force"]].concat(), b""));
    }
    assert!(fs::read(directory.path().join("vocab/spiece.model")).unwrap() != before);
    for command in [
        ["vocab", "import", "vocab", "--output", "vocab"],
        ["vocab", "import", "vocab/tokenizer.json", "--output", "vocab/../vocab"],
    ] {
        let message = stderr(&padir(directory.path(), &[&command[..], &["--force"]].concat(), b""));
        assert!(message.contains("is both read and written"), "{command:?}: {message}");
    }
}

#[test]
fn a_vocabulary_has_one_hash_in_both_of_its_files() {
    let directory = workshop();
    let hash = |path: &str| {
        let arguments = ["vocab", "inspect", "--vocab", path, "--json"];
        let report = stdout(&padir(directory.path(), &arguments, b""));
        let report: serde_json::Value = serde_json::from_str(&report).unwrap();
        report["hash"].as_str().unwrap().to_owned()
    };
    let model = hash("vocab/spiece.model");
    assert_eq!(model, hash("vocab/tokenizer.json"));
    assert_eq!(model, hash("vocab"));
    for (size, sentinels) in [("110", "100"), ("120", "9")] {
        let train = ["vocab", "train", "text", "--coverage", "1", "--output", "other", "--force"];
        let other = ["--size", size, "--sentinels", sentinels];
        stdout(&padir(directory.path(), &[&train[..], &other].concat(), b""));
        assert_ne!(model, hash("other"), "{size} pieces, {sentinels} sentinels");
    }
}

#[test]
fn too_much_text_is_sampled_and_said() {
    let directory = workshop();
    let arguments = [
        "vocab",
        "train",
        "text",
        "--size",
        "36",
        "--output",
        "small",
        "--sample-bytes",
        "4000",
        "--coverage",
        "0.9",
    ];
    let output = padir(directory.path(), &arguments, b"");
    let remarks = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && remarks.contains("learning from a random"), "{remarks}");
}

#[test]
fn bad_input_is_named() {
    let directory = workshop();
    let path = directory.path();
    let model = fs::read(path.join("vocab/spiece.model")).unwrap();
    fs::write(path.join("cut.model"), &model[..model.len() / 2]).unwrap();
    fs::write(path.join("empty.model"), "").unwrap();
    fs::write(path.join("bpe.json"), r#"{"model": {"type": "BPE"}}"#).unwrap();
    fs::write(path.join("torn.json"), r#"{"model": "#).unwrap();
    fs::write(path.join("latin1"), b"fine\ncaf\xe9\n").unwrap();
    fs::write(path.join("nothing"), "").unwrap();
    let cases: [(&str, &[&str], &[u8], &str); 12] = [
        ("no file", &["encode", "--vocab", "gone.model"], b"", "cannot read gone.model"),
        ("truncated", &["encode", "--vocab", "cut.model"], b"", "cut.model is not a usable"),
        ("empty", &["encode", "--vocab", "empty.model"], b"", "the model has no pieces"),
        ("other kind", &["encode", "--vocab", "bpe.json"], b"", "the tokenizer's model is BPE"),
        ("torn JSON", &["encode", "--vocab", "torn.json"], b"", "not a tokenizer.json"),
        ("directory", &["encode", "--vocab", "."], b"", "holds neither"),
        (
            "encoding",
            &["encode", "--vocab", "vocab", "latin1"],
            b"",
            "latin1, line 2: invalid UTF-8",
        ),
        ("no id", &["decode", "--vocab", "vocab"], b"1\n7 x\n", "line 2: \"x\" is not an id"),
        (
            "large id",
            &["decode", "--vocab", "vocab"],
            b"220\n",
            "id 220 is outside of the vocabulary",
        ),
        (
            "too small",
            &["train", "text", "--size", "8", "--output", "v"],
            b"",
            "8 pieces cannot hold 4 reserved ids",
        ),
        ("no text", &["train", "nothing", "--output", "v"], b"", "nothing is empty"),
        ("blank text", &["train", "--output", "v"], b" \n\n", "there is no text"),
    ];
    for (name, arguments, input, expected) in cases {
        let all: Vec<&str> = std::iter::once("vocab").chain(arguments.iter().copied()).collect();
        let message = stderr(&padir(path, &all, input));
        assert!(message.starts_with("error: ") && message.contains(expected), "{name}: {message}");
    }
    assert!(!path.join("v").exists(), "a failed training leaves nothing behind");
}

/// A co-process: it sends a line and waits for the answer before it sends the next.
#[test]
fn a_line_is_encoded_before_the_next_one_comes() {
    use std::io::{BufRead, BufReader};
    let directory = workshop();
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(["vocab", "encode", "--vocab", "vocab"])
        .current_dir(directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let (send, lines) = std::sync::mpsc::channel();
    std::thread::spawn(move || BufReader::new(output).lines().try_for_each(|line| send.send(line)));
    for text in ["the", "the houses stand in street 12", "die"] {
        writeln!(input, "{text}").unwrap();
        let answer = lines.recv_timeout(std::time::Duration::from_mins(1));
        assert!(answer.is_ok(), "no answer to {text:?}");
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_closed_pipe_is_no_error() {
    let directory = workshop();
    let text = "the houses stand\n".repeat(100_000);
    fs::write(directory.path().join("long"), text).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(["vocab", "encode", "--vocab", "vocab", "long"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}
