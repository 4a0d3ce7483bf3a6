//! The paper's recipes, from their first stage to their last: on toy corpora, with a tiny network and two steps.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The recipe, the languages of its files, its dev set and its test set.
const CASES: [(&str, [&str; 2], &str, &str); 6] = [
    ("wmt14-en-de", ["en", "de"], "newstest2013", "newstest2014"),
    ("wmt14-de-en", ["en", "de"], "newstest2013", "newstest2014"),
    ("wmt16-en-ro", ["en", "ro"], "newsdev2016", "newstest2016"),
    ("wmt16-ro-en", ["en", "ro"], "newsdev2016", "newstest2016"),
    ("wmt17-en-zh", ["en", "zh"], "newsdev2017", "newstest2017"),
    ("wmt17-zh-en", ["en", "zh"], "newsdev2017", "newstest2017"),
];

/// What makes a recipe small.
const SMALL: [&str; 7] = [
    "data.train=.",
    "data.tests=.",
    "values.preset=tiny",
    "values.vocab_size=0",
    "values.pieces=200",
    "values.steps=2",
    "values.warmup=1",
];

fn padir(folder: &Path, arguments: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", arguments.join(" "));
    output.stdout
}

#[test]
fn every_stage_of_the_papers_recipes_runs() {
    for (recipe, [source, target], dev, test) in CASES {
        let folder = tempfile::tempdir().unwrap();
        for (seed, name, pairs) in [("1", "train", "48"), ("2", dev, "3"), ("3", test, "3")] {
            let [a, b] = [source, target].map(|side| format!("{name}.{side}.gz"));
            let make = ["data", "make", "mixed", "--seed", seed, "--pairs", pairs];
            padir(folder.path(), &[&make[..], &["-o", &a, "-o", &b]].concat());
        }
        let path = format!("{}/../../recipes/{recipe}.toml", env!("CARGO_MANIFEST_DIR"));
        let mut arguments = vec!["run", &path, "--json", "--set", "dir=out"];
        arguments.extend(SMALL.iter().flat_map(|value| ["--set", value]));
        let report: Value = serde_json::from_slice(&padir(folder.path(), &arguments)).unwrap();
        let stages = report["stages"].as_array().unwrap();
        assert!(stages.len() >= 10, "{recipe}: {report}");
        assert!(stages.iter().all(|stage| stage["action"] == "ran"), "{recipe}: {report}");
        for model in ["teacher", "ar", "padir", "padir-raw"] {
            let scores = folder.path().join(format!("out/test/{model}.json"));
            let scores: Value = serde_json::from_slice(&std::fs::read(scores).unwrap()).unwrap();
            assert!(!scores["rows"].as_array().unwrap().is_empty(), "{recipe}, {model}");
        }
    }
}
