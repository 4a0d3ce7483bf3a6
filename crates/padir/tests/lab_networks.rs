//! `padir lab learn` and `padir lab construct` from outside.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn padir(directory: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_padir"))
        .current_dir(directory)
        .arg("lab")
        .args(arguments.split_whitespace())
        .output()
        .unwrap()
}

fn json(directory: &Path, arguments: &str) -> Value {
    let output = padir(directory, &format!("{arguments} --json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

const SMALL: &str = "--n 2 --j 0.8 --train-steps 4 --width 8 --heads 2 --layers 1";

#[test]
fn learn_reports_every_network_and_draws() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    std::fs::write(path.join("half.toml"), "law = \"rate\"\nrate = 0.5\n").unwrap();
    let arguments =
        format!("learn {SMALL} --samples 5,50 --k 2,any --law half.toml --steps 3 --out f");
    let report = json(path, &arguments);
    let runs = report["runs"].as_array().unwrap();
    let names: Vec<(u64, &str)> = runs
        .iter()
        .map(|run| (run["samples"].as_u64().unwrap(), run["law"].as_str().unwrap()))
        .collect();
    let expected = [5, 50].map(|n| ["k = 2", "any k", "half"].map(|law| (n, law)));
    assert_eq!(names, expected.concat());
    assert!((report["couplings"][0][1].as_f64().unwrap() - 0.8).abs() < 1e-12);
    for run in runs {
        assert_eq!(run["conditionals"].as_array().unwrap().len(), 2);
        for chain in ["unmasking", "parallel"] {
            let steps = run[chain].as_array().unwrap();
            assert_eq!(steps.len(), 4);
            for step in steps {
                let part = |key: &str| step[key].as_f64().unwrap();
                let bound = part("denoiser") + part("sampler") + 1e-12;
                assert!((0.0..=bound).contains(&part("total")), "{step}");
            }
        }
    }
    for name in ["conditionals", "chains", "couplings"] {
        let file = |form: &str| path.join(format!("f/learn-{name}.{form}"));
        let csv = std::fs::read_to_string(file("csv")).unwrap();
        assert!(csv.starts_with("# padir lab learn "), "{csv}");
        assert_eq!(&std::fs::read(file("png")).unwrap()[1..4], b"PNG");
        assert!(std::fs::read_to_string(file("svg")).unwrap().contains("<svg"));
        let caption = std::fs::read_to_string(file("txt")).unwrap();
        assert!(caption.contains("2 is half"), "{caption}");
    }
    // A table for people, the same numbers for the same seed, and nothing replaced unasked.
    let table = |seed: u32| {
        let arguments = format!("learn {SMALL} --samples 5 --k 1 --seed {seed}");
        String::from_utf8(padir(path, &arguments).stdout).unwrap()
    };
    assert!(table(1).contains("inconsistent") && table(1) == table(1) && table(1) != table(2));
    let again = padir(path, &arguments);
    assert!(!again.status.success());
    assert!(String::from_utf8_lossy(&again.stderr).contains("--force"));
}

#[test]
fn construct_writes_a_network_that_runs_the_chain() {
    let directory = tempfile::tempdir().unwrap();
    let report = json(directory.path(), "construct --n 3 --graph chain --j 0.9");
    let rows = report["k"].as_array().unwrap();
    assert_eq!(rows.len(), 3);
    for row in rows {
        assert!(row["error"].as_f64().unwrap() < 1e-5, "{row}");
        assert!(row["gap"].as_f64().unwrap() > 0.01, "{row}");
    }
    json(directory.path(), "construct --n 2 --k 2 --out network");
    assert!(directory.path().join("network/model.safetensors").is_file());
}

/// The statements about Transformers are checked by running one.
#[test]
fn statements_about_networks_have_verdicts() {
    let report = json(tempfile::tempdir().unwrap().path(), "statements --n 3 --j 0.5");
    let rows = report["statements"].as_array().unwrap();
    for label in ["prop:transformer_deterministic_mc", "prop:transformer_general_mc"] {
        let row = rows.iter().find(|row| row["label"] == label).unwrap();
        assert_eq!(row["verdict"], "holds", "{row}");
        assert_eq!(row["command"], "padir lab construct", "{row}");
        assert!(row["remark"].as_str().unwrap().contains("constructed network"), "{row}");
    }
}

#[test]
fn errors_name_what_is_wrong() {
    let directory = tempfile::tempdir().unwrap();
    let cases = [
        ("learn --n 9", "512 states are too many to compare all conditionals; the limit is 256"),
        ("learn --n 2 --k 3", "--k 3 is neither `any` nor 1 to 2"),
        ("learn --n 2 --k some", "--k some is neither `any` nor 1 to 2"),
        ("learn --n 2 --samples 0", "--samples 0 is not between 1 and 10,000,000"),
        ("learn --n 2 --repeats 0", "--repeats 0 leaves nothing to average"),
        ("learn --n 2 --rate -1", "--rate -1 is not above 0 and at most 1"),
        ("learn --n 2 --width 2", "--heads 4 do not fit into --width 2"),
        ("learn --n 2 --law none.toml", "none.toml"),
        ("construct --n 9", "512 states"),
        ("construct --n 2 --k 3", "k = 3 is not between 1 and N = 2"),
        ("construct --n 2 --out network", "--out keeps one network: say which with --k K"),
    ];
    for (arguments, message) in cases {
        let output = padir(directory.path(), arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{arguments} succeeded");
        assert!(stderr.contains(message), "{arguments}: {stderr}");
        assert!(!stderr.contains("panicked"), "{arguments}: {stderr}");
    }
}

#[test]
fn help_shows_examples() {
    for command in ["learn", "construct"] {
        let output = padir(tempfile::tempdir().unwrap().path(), &format!("{command} --help"));
        assert!(String::from_utf8_lossy(&output.stdout).contains(&format!("padir lab {command}")));
    }
}
