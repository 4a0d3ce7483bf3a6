//! `padir attention`, and `padir translate --align` and `--plot-attention`, as a user runs them. Builds without the toolkit, too.
#![cfg(feature = "attention")]
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use padir_base::random::Seed;
use padir_checkpoint::{DecoderKind, Extras, ModelConfig, Preset, save};
use padir_text::vocab::Vocabulary;
use serde_json::Value;
use tempfile::TempDir;

const TEXT: &str = "I don't know what to say to her.\n\nHe would have liked to have gone to the sea with us, but he had to go to work.\nNo.\nMy brother has been learning to play the piano for two years and my sister has been learning to dance.\n";

fn model() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/tatoeba-en-de").display().to_string()
}

fn run(directory: &Path, arguments: &[&str], stdin: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let stdin = stdin.to_owned();
    let writer = std::thread::spawn(move || drop(input.write_all(stdin.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// A random model with the vocabulary of the one that is there.
fn random_model(directory: &Path, kind: DecoderKind) -> PathBuf {
    let vocabulary = Vocabulary::load(Path::new(&model()).join("spiece.model")).unwrap();
    let mut config = ModelConfig::preset(Preset::Tiny, vocabulary.size(), kind);
    config.provenance.vocabulary = Some(vocabulary.hash());
    let weights: HashMap<String, Vec<f32>> = config.initial(Seed(5)).collect();
    let path = directory.join("random");
    save(&path, &config, |p| weights.get(&p.name).map(Into::into), &Extras::default()).unwrap();
    fs::copy(Path::new(&model()).join("spiece.model"), path.join("spiece.model")).unwrap();
    path
}

/// No number of a record is missing where there are pairs, and none is there where there are none.
fn check_shape(record: &Value) {
    for kind in ["stutter", "other"] {
        for table in ["self", "cross"] {
            assert!(record[table][kind]["pairs"].is_u64(), "{table} {kind}");
        }
        let own = &record["self"][kind];
        let cross = &record["cross"][kind];
        let is_any = own["pairs"].as_u64().unwrap() > 0;
        assert_eq!(own["pairs"], cross["pairs"]);
        let moments = [own, &cross["tv"], &cross["cosine"]];
        for table in moments {
            for spread in ["min", "avg", "max"] {
                for number in ["mean", "sd"] {
                    assert_eq!(table[spread][number].is_number(), is_any, "{spread} {number}");
                }
            }
        }
        for table in [own, cross] {
            for top in ["top1", "top2"] {
                assert_eq!(table[top].is_number(), is_any, "{top}");
            }
        }
    }
}

#[test]
fn both_tables_come_out_whatever_the_batch_and_the_threads() {
    let directory = TempDir::new().unwrap();
    let run = |arguments: &[&str]| run(directory.path(), arguments, TEXT);
    let model = model();
    let base = ["attention", "--model", &model, "--resamples", "50", "--json"];
    let record = json(&run(&[&base[..], &["--plot", "a.svg"]].concat()));
    check_shape(&record);
    assert_eq!(record["condition"], "stutter-left-alone");
    assert_eq!(record["pass"], "last-step");
    assert_eq!(record["causal"], false);
    assert_eq!(record["sentences"], 4, "an empty line is no sentence");
    assert_eq!(record["layers"].as_array().unwrap().len(), 3);
    assert_eq!(record["layers"][0]["heads"].as_array().unwrap().len(), 6);
    assert!(!record["steps"].as_array().unwrap().is_empty());
    assert_eq!(record["decoding"]["remask_stutter"], false);
    assert!(fs::read_to_string(directory.path().join("a.svg")).unwrap().starts_with("<svg"));
    assert_eq!(record, json(&run(&[&base[..], &["--threads", "2"]].concat())), "threads");
    let paper = json(&run(&[&base[..], &["--condition", "paper"]].concat()));
    check_shape(&paper);
    assert_eq!(paper["condition"], "paper");
    assert_eq!(paper["decoding"]["remask_stutter"], true);
    let plain = run(&["attention", "--model", &model, "--resamples", "50"]);
    let plain = text(&plain.stdout);
    for part in ["condition: stutter-left-alone", "self-attention", "cosine", "AUC", "layer 2"] {
        assert!(plain.contains(part), "{part} is missing in:\n{plain}");
    }
}

#[test]
fn nothing_to_compare_is_said_and_never_nan() {
    let directory = TempDir::new().unwrap();
    let model = model();
    for (name, stdin, sentences) in
        [("nothing", "", 0), ("empty lines", "\n\n", 0), ("a word", "No.\n", 1)]
    {
        let arguments = ["attention", "--model", &model, "--resamples", "20"];
        let record = json(&run(directory.path(), &[&arguments[..], &["--json"]].concat(), stdin));
        check_shape(&record);
        assert_eq!(record["sentences"], sentences, "{name}");
        assert_eq!(record["self"]["stutter"]["pairs"], 0, "{name}");
        let plain = text(&run(directory.path(), &arguments, stdin).stdout);
        assert!(plain.contains("not enough"), "{name}: {plain}");
        assert!(!plain.contains("NaN"), "{name}: {plain}");
    }
}

#[test]
fn causal_models_look_back_only() {
    let directory = TempDir::new().unwrap();
    let ar = random_model(directory.path(), DecoderKind::Causal).display().to_string();
    let output = run(
        directory.path(),
        &["attention", "--model", &ar, "--resamples", "20", "--json", "--set", "max_length=12"],
        "Hello there.\n",
    );
    assert!(text(&output.stderr).contains("causal"), "{}", text(&output.stderr));
    let record = json(&output);
    check_shape(&record);
    assert_eq!(record["causal"], true);
    assert_eq!(record["pass"], "forced-decoding");
    assert_eq!(record["condition"], "as-decoded");
}

#[test]
fn faults_are_named() {
    let directory = TempDir::new().unwrap();
    let model = model();
    let cases: [(&[&str], &str); 7] = [
        (&["attention", "--model", "nowhere"], "nowhere"),
        (&["attention", "--model", &model, "nothing.en"], "nothing.en"),
        (&["attention", "--model", &model, "--plot", "a.txt"], "a.txt is no picture"),
        (&["attention", "--model", &model, "--set", "stepps=3"], "stepps"),
        (&["translate", "--model", &model, "--align", "--align-heads", "7", "x"], "layer 7"),
        (&["translate", "--model", &model, "--align-heads", "0", "x"], "--align-heads is about"),
        (
            &["translate", "--model", &model, "--plot-attention", "a.svg", "One. Two."],
            "2 sentences",
        ),
    ];
    for (arguments, expected) in cases {
        let output = run(directory.path(), arguments, "");
        let complaint = text(&output.stderr);
        assert!(
            !output.status.success() && complaint.contains(expected),
            "{arguments:?}: {complaint}"
        );
    }
}

#[test]
fn alignments_are_printed_and_drawn() {
    let directory = TempDir::new().unwrap();
    let model = model();
    let run = |arguments: &[&str], stdin: &str| run(directory.path(), arguments, stdin);
    let base = ["translate", "--model", &model];
    let plain = text(&run(&base, TEXT).stdout);
    let aligned = run(&[&base[..], &["--align"]].concat(), TEXT);
    assert!(aligned.status.success(), "{}", text(&aligned.stderr));
    let records = text(&run(&[&base[..], &["--align", "--json"]].concat(), TEXT).stdout);
    for ((plain, aligned), record) in
        plain.lines().zip(text(&aligned.stdout).lines()).zip(records.lines())
    {
        let (translation, links) = aligned.split_once(" ||| ").unwrap();
        assert_eq!(translation, plain, "the text stays as it is");
        let record: Value = serde_json::from_str(record).unwrap();
        let count = |key: &str| record["alignment"][key].as_array().unwrap().len();
        let pharaoh: Vec<String> = record["alignment"]["links"]
            .as_array()
            .unwrap()
            .iter()
            .map(|link| format!("{}-{}", link[0], link[1]))
            .collect();
        assert_eq!(links, pharaoh.join(" "));
        let (source, target) =
            (record["source"].as_str().unwrap(), record["text"].as_str().unwrap());
        assert_eq!(count("source"), source.split_whitespace().count(), "{source}");
        assert_eq!(count("target"), target.split_whitespace().count(), "{target}");
        for link in record["alignment"]["links"].as_array().unwrap() {
            assert!(link[0].as_u64().unwrap() < count("source") as u64);
            assert!(link[1].as_u64().unwrap() < count("target") as u64);
        }
    }
    let drawn = run(
        &[&base[..], &["--plot-attention", "s.png", "--align-heads", "0:1,2", "A dog runs."]]
            .concat(),
        "",
    );
    assert!(drawn.status.success(), "{}", text(&drawn.stderr));
    assert!(fs::read(directory.path().join("s.png")).unwrap().starts_with(b"\x89PNG"));
    let ar = random_model(directory.path(), DecoderKind::Causal).display().to_string();
    let aligned = run(
        &["translate", "--model", &ar, "--align=pieces", "--set", "max_length=9", "Hello."],
        "",
    );
    assert!(text(&aligned.stdout).contains(" ||| "), "{}", text(&aligned.stderr));
}
