//! `padir data encode` and `padir data shards` as a user meets them.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use padir_base::TokenId;
use padir_text::shard::ShardSet;
use padir_text::vocab::Vocabulary;
use padir_text::vocab::proto::{ModelProto, NormalizerSpec, PieceKind, PieceProto, TrainerSpec};
use serde_json::Value;
use tempfile::TempDir;

/// A directory with a vocabulary of single letters, and files as needed.
struct Desk(TempDir);

impl Desk {
    fn new() -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        letters(["<pad>", "</s>", "<unk>", "<s>"]).save_model(desk.path("vocab.model")).unwrap();
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    /// Runs `padir data …` in the directory.
    fn data(&self, arguments: &[&str]) -> Output {
        padir().arg("data").args(arguments).current_dir(self.0.path()).output().unwrap()
    }

    /// Runs a command that must succeed and gives its JSON.
    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.data(&[arguments, &["--json"]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Runs a command that must fail and gives what it said.
    fn failure(&self, arguments: &[&str]) -> String {
        let output = self.data(arguments);
        assert!(!output.status.success(), "{arguments:?} succeeded");
        assert!(output.stdout.is_empty(), "{arguments:?} wrote to stdout");
        stderr(&output)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn padir() -> Command {
    Command::new(env!("CARGO_BIN_EXE_padir"))
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A vocabulary of the given four reserved pieces, the space, and a to j.
fn letters(reserved: [&str; 4]) -> Vocabulary {
    let piece = |text: &str, score: f32, kind: PieceKind| PieceProto {
        piece: Some(text.to_owned()),
        score: Some(score),
        kind: Some(kind as i32),
    };
    let reserved = reserved.iter().map(|&name| {
        let kind = if name == "<unk>" { PieceKind::Unknown } else { PieceKind::Control };
        piece(name, 0.0, kind)
    });
    let text = "▁abcdefghij".chars().map(|c| piece(&c.to_string(), -2.0, PieceKind::Normal));
    let model = ModelProto {
        pieces: reserved.chain(text).collect(),
        trainer_spec: Some(TrainerSpec::default()),
        normalizer_spec: Some(NormalizerSpec::default()),
    };
    Vocabulary::from_model(model, 100).unwrap()
}

fn read(set: &Path) -> Vec<(Vec<TokenId>, Vec<TokenId>)> {
    let set = ShardSet::open(set).unwrap();
    let read = |pair| {
        let (mut source, mut target) = (Vec::new(), Vec::new());
        set.read_pair(pair, &mut source, &mut target).unwrap();
        (source, target)
    };
    (0..set.pairs()).map(read).collect()
}

/// Many pairs, different from each other.
fn many_lines(n: usize) -> (String, String) {
    let word = |i: usize| -> String {
        i.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect()
    };
    let lines = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<Vec<_>>().join("\n");
    (lines(&|i| word(i) + " " + &word(i * 7)), lines(&|i| word(i * i)))
}

#[test]
fn shards_hold_what_the_vocabulary_says() {
    let desk = Desk::new();
    desk.write("a.en", "a b\n\nzz ja\n").write("a.de", "c\nd\n\n");
    let report = desk.json(&["encode", "a.en", "a.de", "--vocab", "vocab.model", "-o", "set"]);
    let vocabulary = Vocabulary::load(desk.path("vocab.model")).unwrap();
    let expected: Vec<_> = [("a b", "c"), ("", "d"), ("zz ja", "")]
        .into_iter()
        .map(|(source, target)| {
            let encode = |text| [vocabulary.encode(text), vec![TokenId::EOS]].concat();
            (encode(source), encode(target))
        })
        .collect();
    assert_eq!(read(&desk.path("set")), expected);
    let tokens: usize = expected.iter().map(|(source, target)| source.len() + target.len()).sum();
    let unknown = expected.iter().flat_map(|(s, t)| [s, t]).flatten();
    let unknown = unknown.filter(|&&token| token == TokenId::UNK).count();
    assert_eq!(report["pairs"], 3);
    assert_eq!(
        report["source_tokens"].as_u64().unwrap() + report["target_tokens"].as_u64().unwrap(),
        tokens as u64
    );
    assert!(unknown > 0);
    assert_eq!(report["unknown_tokens"], unknown);
    assert_eq!(report["empty_sides"], 2);
    assert_eq!(report["vocabulary"], vocabulary.hash().to_string());
    assert_eq!(report["batches"]["batches"], 1);

    let manifest: Value =
        serde_json::from_slice(&fs::read(desk.path("set/manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["command"], "data encode");
    assert_eq!(manifest["data"].as_array().unwrap().len(), 3);
    assert_eq!(manifest["config"]["limits"]["long"], "fail");
}

#[test]
fn threads_do_not_matter_and_shards_are_verified() {
    let desk = Desk::new();
    let (source, target) = many_lines(20_000);
    desk.write("a.en", &source).write("a.de", &target);
    for threads in ["1", "4"] {
        let set = format!("set{threads}");
        let report = desk.json(&[
            "encode",
            "a.en",
            "a.de",
            "--vocab",
            "vocab.model",
            "--output",
            &set,
            "--pairs-per-shard",
            "7000",
            "--threads",
            threads,
        ]);
        assert_eq!(report["shards"], 3);
        assert!(report["batches"]["padding"].as_f64().unwrap() < 0.05);
    }
    for shard in ["shard-00000.bin", "shard-00001.bin", "shard-00002.bin"] {
        let bytes = |set: &str| fs::read(desk.path(set).join(shard)).unwrap();
        assert!(bytes("set1") == bytes("set4"), "{shard} differs");
    }
    let all = ["shards", "set1", "--verify", "--vocab", "vocab.model"];
    let description = desk.json(&all);
    assert_eq!(description["pairs"], 20_000);
    assert_eq!(description["verified"], true);
    let table = desk.data(&all);
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(table.contains("pairs          20,000\n"), "{table}");

    let shard = desk.path("set1/shard-00001.bin");
    let mut bytes = fs::read(&shard).unwrap();
    let last = bytes.len() - 5;
    bytes[last] ^= 4;
    fs::write(&shard, &bytes).unwrap();
    assert!(desk.data(&["shards", "set1"]).status.success());
    let message = desk.failure(&["shards", "set1", "--verify"]);
    assert!(
        message.contains("shard-00001.bin: the tokens are damaged: their checksum does not fit")
            && message.contains("hint: encode the corpus again"),
        "{message}"
    );
    fs::write(&shard, &bytes[..1000]).unwrap();
    let message = desk.failure(&["shards", "set1"]);
    assert!(message.contains("shard-00001.bin: truncated: 1000 bytes of"), "{message}");
}

#[test]
fn several_corpora_become_one_set() {
    let desk = Desk::new();
    desk.write("a.en", "a\n").write("a.de", "b\n").write("c.tsv", "c\td\ne\tf\n");
    let report =
        desk.json(&["encode", "a.en", "a.de", "c.tsv", "--vocab", "vocab.model", "-o", "set"]);
    assert_eq!(report["pairs"], 3);
}

#[test]
fn stdin_is_a_corpus_too() {
    use std::io::Write;
    let desk = Desk::new();
    let mut child = padir()
        .args(["data", "encode", "-", "--vocab", "vocab.model", "-o", "set"])
        .current_dir(desk.0.path())
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"a\tb\nc\td\n").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(read(&desk.path("set")).len(), 2);
}

#[test]
fn limits_are_kept_and_counted() {
    let desk = Desk::new();
    desk.write("a.tsv", "a\tb\naaaaaaaaaa\tb\n\tb\nc\t\nd\te\n").write("bad.tsv", "a\tb\nonly\n");
    let encode = |more: &[&'static str]| {
        [&["encode", "a.tsv", "--vocab", "vocab.model", "-o", "set", "--max-length", "9"], more]
            .concat()
    };
    let message = desk.failure(&encode(&[]));
    assert!(
        message.contains("a.tsv, pair 2: a side has 12 tokens, but at most 9 are allowed")
            && message.contains("hint: --long skip"),
        "{message}"
    );
    let message = desk.failure(&encode(&["--long", "skip", "--empty", "fail"]));
    assert!(message.contains("a.tsv, pair 3: a side is empty"), "{message}");
    assert_eq!(desk.names(), ["a.tsv", "bad.tsv", "vocab.model"]);

    let report = desk.json(&encode(&["--long", "skip", "--empty", "skip"]));
    assert_eq!(report["pairs"], 2);
    let expected = serde_json::json!({"too many tokens": 1, "empty side": 2});
    assert_eq!(report["skipped"], expected);

    let report = desk.json(&[
        "encode",
        "bad.tsv",
        "--vocab",
        "vocab.model",
        "-o",
        "skipped",
        "--on-bad",
        "skip",
    ]);
    assert_eq!(report["skipped"], serde_json::json!({"missing column": 1}));
}

#[test]
fn bad_input_is_refused_and_leaves_nothing() {
    let desk = Desk::new();
    desk.write("a.en", "a\nb\n").write("a.de", "c\n").write("ok.tsv", "a\tb\n");
    desk.write("bad.tsv", "a\tb\n\0\tb\n").write("text.model", "Hello, world\n");
    letters(["<unk>", "<s>", "</s>", "<pad>"]).save_model(desk.path("other.model")).unwrap();
    fs::create_dir(desk.path("taken")).unwrap();
    desk.write("taken/notes.txt", "mine");
    let names = desk.names();
    // (name, corpus, vocabulary, output, what it says)
    let cases: [(&str, &[&str], &str, &str, &str); 8] = [
        (
            "unequal files",
            &["a.en", "a.de"],
            "vocab.model",
            "set",
            "a.en has 2 lines, but a.de has 1",
        ),
        ("NUL", &["bad.tsv"], "vocab.model", "set", "bad.tsv, line 2: NUL at byte 1"),
        ("no corpus", &["no.tsv"], "vocab.model", "set", "cannot open no.tsv"),
        ("no vocabulary", &["ok.tsv"], "no.model", "set", "no.model"),
        ("a vocabulary of text", &["ok.tsv"], "text.model", "set", "text.model"),
        ("other ids", &["ok.tsv"], "other.model", "set", "padding, end, unknown and beginning"),
        ("a full directory", &["ok.tsv"], "vocab.model", "taken", "taken exists\nhint: --force "),
        ("no parent", &["ok.tsv"], "vocab.model", "no/set", "no/set: cannot be written"),
    ];
    for (name, corpus, vocabulary, output, expected) in cases {
        let options = ["--vocab", vocabulary, "--output", output];
        let message = desk.failure(&[&["encode"], corpus, &options].concat());
        assert!(message.contains(expected), "{name}: {message}");
        assert!(message.starts_with("error: "), "{name}: {message}");
        assert_eq!(desk.names(), names, "{name} left something");
    }
    let force = ["encode", "ok.tsv", "--vocab", "vocab.model", "-o", "taken", "--force"];
    let message = desk.failure(&force);
    assert!(message.contains("taken: holds notes.txt, which is no part of a set"), "{message}");
    assert_eq!(fs::read_dir(desk.path("taken")).unwrap().count(), 1);
}

#[test]
fn foreign_directories_and_vocabularies_are_refused() {
    let desk = Desk::new();
    desk.write("a.tsv", "a\tb\n");
    let encode = ["encode", "a.tsv", "--vocab", "vocab.model", "-o", "set"];
    desk.json(&encode);
    assert!(desk.failure(&encode).contains("set exists\nhint: --force replaces it"));
    desk.json(&[&encode[..], &["--force"]].concat());
    letters(["<pad>", "</s>", "<unk>", "<bos>"]).save_model(desk.path("other.model")).unwrap();
    let message = desk.failure(&["shards", "set", "--vocab", "other.model"]);
    assert!(message.contains("set: encoded with vocabulary "), "{message}");
    fs::create_dir(desk.path("empty")).unwrap();
    let message = desk.failure(&["shards", "empty"]);
    assert!(message.contains("empty: no shards here"), "{message}");
}

/// Killed without warning, the writer leaves nothing under the name of the set, and the next run
/// clears away what it left beside.
#[cfg(unix)]
#[test]
fn a_killed_run_leaves_no_set() {
    use std::io::Write;
    let desk = Desk::new();
    let arguments =
        ["data", "encode", "-", "--vocab", "vocab.model", "-o", "set", "--pairs-per-shard", "5000"];
    let mut child =
        padir().args(arguments).current_dir(desk.0.path()).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all("ab\tcd\n".repeat(40_000).as_bytes()).unwrap();
    stdin.flush().unwrap();
    // Until the first shard stands; the input never ends.
    let first = desk.path(".set.part/shard-00000.bin");
    for _ in 0..600 {
        if first.exists() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(first.exists(), "no shard after half a minute");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(stdin);
    assert!(!desk.path("set").exists());
    desk.write("a.tsv", "a\tb\n");
    desk.json(&["encode", "a.tsv", "--vocab", "vocab.model", "-o", "set"]);
    assert_eq!(read(&desk.path("set")).len(), 1);
    assert_eq!(desk.names(), ["a.tsv", "set", "vocab.model"]);
}
