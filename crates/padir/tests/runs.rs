//! `padir runs` from outside, on made-up runs.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn padir(directory: &Path, arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_padir");
    Command::new(program).current_dir(directory).arg("runs").args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A run as a trainer leaves it; its data need not exist any more.
fn make_run(home: &Path, name: &str, kind: &str, bleu: &[f64]) {
    let directory = home.join("runs").join(name);
    fs::create_dir_all(&directory).unwrap();
    let config = format!(
        "[data]\nvocabulary = \"v.model\"\ntrain = {{ source = \"a\", target = \"b\" }}\n\
         dev.dev = {{ source = \"c\", target = \"d\" }}\n[objective]\nkind = \"{kind}\"\n\
         [run]\ndir = \"runs/{name}\"\nmetric = \"dev.bleu\"\n"
    );
    fs::write(directory.join("config.toml"), config).unwrap();
    let status = r#"{"standing":"finished","parameters":66997760,"reason":"max_steps"}"#;
    fs::write(directory.join("status.json"), status).unwrap();
    let mut metrics = String::new();
    for (i, bleu) in bleu.iter().enumerate() {
        let step = 100 * (i + 1);
        let row = |kind: &str, values: &str| {
            let (seconds, tokens) = (step * 6, step * 1000);
            format!(
                "{{\"step\":{step},\"kind\":\"{kind}\",\"time\":1e9,\"seconds\":{seconds},\
                 \"tokens\":{tokens},{values}}}\n"
            )
        };
        metrics += &row("train", &format!("\"loss\":{}", 5.0 / step as f64));
        metrics +=
            &row("eval", &format!("\"dev.loss\":{},\"dev.bleu\":{bleu}", 3.0 - bleu / 100.0));
    }
    metrics += "{\"step\":400,\"ki";
    fs::write(directory.join("metrics.jsonl"), metrics).unwrap();
}

fn fixture() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    make_run(home.path(), "ar", "ar", &[10.0, 30.5, 29.0]);
    make_run(home.path(), "deep/padir, long", "padir", &[5.0, 20.25]);
    home
}

#[test]
fn runs_are_listed() {
    let home = fixture();
    let output = padir(home.path(), &[]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let expected = "\
run              kind  parameters  steps  tokens  dev set  best loss  best BLEU  selected by  time  state
ar                 ar       67.0M    300  300.0k  dev  2.695  30.50  dev.bleu 30.50 at 200  30m00s  finished
deep/padir, long  padir       67.0M    200  200.0k  dev  2.797  20.25  dev.bleu 20.25 at 200  20m00s  finished
";
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(squeeze(&text(&output.stdout)), squeeze(expected));
}

#[test]
fn json_has_all_there_is_to_know() {
    let home = fixture();
    let output = padir(home.path(), &["runs", "runs/ar", "--json"]);
    let runs: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(runs.as_array().unwrap().len(), 2, "a run named twice is listed once");
    let run = &runs[0];
    assert_eq!((&run["name"], &run["kind"]), (&"ar".into(), &"ar".into()));
    assert_eq!((&run["parameters"], &run["steps"]), (&66_997_760.into(), &300.into()));
    assert_eq!(run["best"]["dev.bleu"], serde_json::json!({ "value": 30.5, "step": 200 }));
    assert_eq!((&run["state"], &run["reason"]), (&"finished".into(), &"max_steps".into()));
}

#[test]
fn curves_are_drawn_with_their_numbers_beside() {
    let home = fixture();
    let arguments = ["--plot", "out.svg", "--metric", "dev.bleu", "--against", "minutes"];
    let output = padir(home.path(), &arguments);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("wrote out.svg and out.csv"));
    assert!(fs::read_to_string(home.path().join("out.svg")).unwrap().starts_with("<svg"));
    let numbers = fs::read_to_string(home.path().join("out.csv")).unwrap();
    let expected = "\
run,step,tokens,minutes,dev.bleu
ar,100,100000,10,10
ar,200,200000,20,30.5
ar,300,300000,30,29
\"deep/padir, long\",100,100000,10,5
\"deep/padir, long\",200,200000,20,20.25
";
    assert_eq!(numbers, expected);
    let taken = padir(home.path(), &["--plot", "out.png"]);
    assert!(text(&taken.stderr).contains("error: out.csv exists"), "{}", text(&taken.stderr));
    assert!(padir(home.path(), &["--plot", "out.png", "--force"]).status.success());
    assert!(fs::read(home.path().join("out.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn failures_say_what_is_there() {
    let home = fixture();
    fs::create_dir(home.path().join("empty")).unwrap();
    let cases: [(&[&str], &str); 4] = [
        (&["absent"], "cannot read absent"),
        (&["empty"], "there are no runs in empty"),
        (
            &["--plot", "x.svg", "--metric", "dev.taste"],
            "hint: there are: dev.bleu, dev.loss, loss",
        ),
        (&["--plot", "x.gif"], "x.gif is neither .svg nor .png"),
    ];
    for (arguments, expected) in cases {
        let output = padir(home.path(), arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(text(&output.stderr).contains(expected), "{}", text(&output.stderr));
    }
}

#[test]
fn a_broken_run_does_not_hide_the_others() {
    let home = fixture();
    fs::write(home.path().join("runs/ar/config.toml"), "[batch]\ntokenz = 1\n").unwrap();
    let output = padir(home.path(), &[]);
    assert!(output.status.success());
    assert!(text(&output.stderr).contains("left out runs/ar: "), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("deep/padir, long"));
}
