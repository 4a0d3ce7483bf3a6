//! `padir run` from outside, with stages that take moments.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod faults;
mod fixture;
mod stopping;

use std::fs;
use std::path::Path;

use fixture::{RECIPE, change, errors, fixture, listed, ran, run};
use serde_json::Value;

const ALL: [&str; 5] = ["hypotheses-copy-3", "hypotheses-sort-3", "score", "corpus", "vocabulary"];

#[test]
fn stages_run_once_in_an_order_that_serves_all() {
    let folder = fixture(RECIPE);
    assert_eq!(ran(folder.path(), &[]), ALL);
    let scores = fs::read_to_string(folder.path().join("out/scores/all.json")).unwrap();
    assert!(scores.contains("sort.3.a"), "{scores}");
    assert!(folder.path().join("out/vocab/spiece.model").is_file());
    assert_eq!(ran(folder.path(), &[]), [""; 0], "nothing changed");
    let record = fs::read(folder.path().join("out/stages.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let vocabulary = &record["stages"]["vocabulary"];
    assert_eq!(vocabulary["state"], "done");
    assert_eq!(vocabulary["command"][5], "100");
    let inputs: Vec<&String> = vocabulary["inputs"].as_object().unwrap().keys().collect();
    assert_eq!(inputs, ["corpus/train.de", "corpus/train.en"]);
    assert!(vocabulary["seconds"].as_f64().unwrap() > 0.0);
    let inputs = record["stages"]["score"]["inputs"].as_object().unwrap();
    assert!(inputs.contains_key("{data.reference}"), "{inputs:?}");
}

#[test]
fn side_by_side_the_same_is_made() {
    let made = |arguments: &[&str]| {
        let folder = fixture(RECIPE);
        assert_eq!(ran(folder.path(), arguments), ALL);
        let read = |file: &str| fs::read(folder.path().join("out").join(file)).unwrap();
        let files = ["scores/all.json", "vocab/spiece.model", "copy.3.a", "corpus/train.en"];
        let made = files.map(read);
        assert_eq!(ran(folder.path(), arguments), [""; 0], "nothing changed");
        made
    };
    assert!(made(&["--jobs", "3"]) == made(&[]));
}

#[test]
fn changes_run_what_they_touch_and_no_more() {
    let folder = fixture(RECIPE);
    let home = folder.path();
    ran(home, &[]);

    fs::write(home.join("shelf/ref.de"), "a b c d\ne f g h\nx y z x\n").unwrap();
    assert_eq!(ran(home, &[]), ["score"], "another reference");

    change(home, "recipe.toml", "\"300\"", "\"301\"");
    assert_eq!(
        listed(home, &[])[3..],
        ["corpus run its command changed", "vocabulary maybe if corpus comes out otherwise",]
    );
    assert_eq!(ran(home, &[]), ["corpus", "vocabulary"], "another command");
    let old = fs::read_to_string(home.join("out/replaced/corpus.1/corpus/train.en")).unwrap();
    assert_eq!(old.lines().count(), 300, "what was made before is kept");

    change(home, "recipe.toml", "\"--dev\", \"10\"", "\"--dev\", \"10\", \"--seed\", \"1\"");
    assert_eq!(ran(home, &[]), ["corpus"], "the corpus came out as before");

    change(home, "out/sort.3.a", "", " ");
    assert_eq!(listed(home, &[])[1], "hypotheses-sort-3 run sort.3.a is not what it made");
    assert_eq!(ran(home, &[]), ["hypotheses-sort-3"], "its output came out as before");

    fs::remove_dir_all(home.join("out/vocab")).unwrap();
    assert_eq!(listed(home, &[])[4], "vocabulary run vocab is gone");
    assert_eq!(ran(home, &[]), ["vocabulary"]);
}

#[test]
fn data_may_move() {
    let folder = fixture(RECIPE);
    ran(folder.path(), &[]);
    fs::rename(folder.path().join("shelf"), folder.path().join("cellar")).unwrap();
    assert_eq!(ran(folder.path(), &["--set", "data.shelf=cellar"]), [""; 0]);
}

#[test]
fn values_and_the_directory_can_be_set() {
    let folder = fixture(RECIPE);
    let elsewhere = ["--set", "dir=elsewhere"];
    assert_eq!(ran(folder.path(), &elsewhere), ALL);
    let other = ["--set", "dir=elsewhere", "--set", "values.size=90"];
    assert_eq!(ran(folder.path(), &other), ["vocabulary"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn stages_can_be_chosen() {
    let folder = fixture(RECIPE);
    let home = folder.path();
    assert_eq!(ran(home, &["--only", "hypotheses"]), ALL[..2]);
    assert_eq!(ran(home, &["--only", "hypotheses-copy-3"]), [""; 0]);
    let output = run(home, &["recipe.toml", "--only", "vocabulary"]);
    let text = errors(&output);
    assert!(text.contains("corpus/train.en (stage vocabulary)"), "{text}");
    assert!(text.contains("hint: made by: corpus"), "{text}");
    ran(home, &[]);
    assert_eq!(ran(home, &["--from", "corpus"]), ["corpus", "vocabulary"]);
    let output = run(home, &["recipe.toml", "--from", "corpora"]);
    assert!(errors(&output).contains("there is no stage \"corpora\""), "{}", errors(&output));
}

#[test]
fn a_list_says_why() {
    let folder = fixture(RECIPE);
    let home = folder.path();
    let before = listed(home, &[]);
    assert_eq!(
        before,
        [
            "hypotheses-copy-3 run not run yet",
            "hypotheses-sort-3 run not run yet",
            "score run not run yet, after hypotheses-copy-3",
            "corpus run not run yet",
            "vocabulary run not run yet, after corpus",
        ]
    );
    assert!(!home.join("out").exists(), "a list changes nothing");
    ran(home, &[]);
    assert!(listed(home, &[]).iter().all(|line| line.ends_with(" skip unchanged")));
    assert_eq!(listed(home, &["--from", "corpus"])[3], "corpus run asked for");
    fs::remove_file(home.join("shelf/ref.de")).unwrap();
    let missing = &listed(home, &[])[2];
    assert!(missing.starts_with("score cannot there is no /"), "{missing}");
}

#[test]
fn missing_data_is_told_before_anything_runs() {
    let folder = fixture(
        &RECIPE.replace("[\"corpus\"]", "[\"corpus\"]\ninputs = [\"{data.shelf}/x\", \"y\"]"),
    );
    fs::remove_file(folder.path().join("shelf/ref.de")).unwrap();
    let output = run(folder.path(), &["recipe.toml"]);
    let text = errors(&output);
    for expected in ["shelf/ref.de (stage score)", "shelf/x (stage corpus)", "  y (stage corpus)"] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
    assert!(text.contains("hint: ask the librarian for /"), "{text}");
    assert!(!folder.path().join("out").exists(), "nothing ran");
}

#[test]
fn a_failure_names_its_stage_and_the_next_run_goes_on_there() {
    // Three references, two hypotheses.
    let folder = fixture(&RECIPE.replace("n = [3]", "n = [2]"));
    let home = folder.path();
    let output = run(home, &["recipe.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let text = errors(&output);
    let expected =
        "error: stage \"score\" ended with exit code 1: padir score {data.reference} copy.2.a";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("has 3 lines, but copy.2.a has 2"), "its own words: {text}");
    assert!(!home.join("out/scores/all.json").exists());
    assert_eq!(fs::read_dir(home.join("out/scores")).unwrap().count(), 0, "no half of a file");
    assert_eq!(listed(home, &[])[2], "score run failed, is tried again");
    fs::write(home.join("shelf/ref.de"), "a b c d\ne f g h\n").unwrap();
    assert_eq!(ran(home, &[]), ALL[2..]);
}

#[test]
fn an_output_that_is_not_made_is_a_failure() {
    let folder =
        fixture(&RECIPE.replace("outputs = [\"vocab\"]", "outputs = [\"vocab\", \"vocab2\"]"));
    let output = run(folder.path(), &["recipe.toml"]);
    let text = errors(&output);
    assert!(text.contains("stage \"vocabulary\" ended without making vocab2"), "{text}");
}

/// Data that is called by the beginning of its name, a directory that two stages fill, a command that writes nowhere twice.
const CORPORA: &str = r#"
dir = "out"
[data]
part = "shelf/part"
[[stage]]
name = "copy"
each = { n = [1, 2] }
run = ["data", "convert", "{data.part}{n}.en", "{data.part}{n}.de", "-o", "parts/{n}.tsv"]
outputs = ["parts/{n}.tsv"]
[[stage]]
name = "all"
run = ["data", "convert", "parts/1.tsv", "parts/2.tsv", "-o", "all.en", "-o", "all.de"]
inputs = ["parts"]
outputs = ["all.en", "all.de"]
[[stage]]
name = "vocabulary"
run = ["vocab", "train", "all.en", "all.de", "--size", "10", "--output", "vocab"]
outputs = ["vocab"]
[[stage]]
name = "shards"
run = ["data", "encode", "all.en", "all.de", "--vocab", "vocab", "--output", "shards"]
outputs = ["shards"]
"#;

#[test]
fn whatever_is_read_is_known_and_what_cannot_go_on_begins_anew() {
    let folder = fixture(CORPORA);
    let home = folder.path();
    for (file, text) in
        [("1.en", "ab\nba\n"), ("1.de", "cd\ndc\n"), ("2.en", "a\n"), ("2.de", "c\n")]
    {
        fs::write(home.join(format!("shelf/part{file}")), text).unwrap();
    }
    assert_eq!(ran(home, &[]), ["copy-1", "copy-2", "all", "vocabulary", "shards"]);
    fs::write(home.join("shelf/part2.en"), "b\n").unwrap();
    assert_eq!(listed(home, &[])[1], "copy-2 run {data.part}2.en changed");
    assert_eq!(ran(home, &[])[..2], ["copy-2", "all"]);
    // Killed after it had made everything, and before that was written down.
    change(home, "out/stages.json", "\"state\": \"done\"", "\"state\": \"begun\"");
    assert_eq!(ran(home, &[]).len(), 5);
    assert_eq!(ran(home, &[]), [""; 0]);
    // A stage by another name takes over what the old one made.
    change(home, "recipe.toml", "name = \"shards\"", "name = \"numbers\"");
    assert_eq!(ran(home, &[]), ["numbers"]);
    let record = fs::read_to_string(home.join("out/stages.json")).unwrap();
    let record: Value = serde_json::from_str(&record).unwrap();
    let names: Vec<&String> = record["stages"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["all", "copy-1", "copy-2", "numbers", "vocabulary"]);
    // Nobody makes this again, and that is said.
    fs::remove_file(home.join("shelf/part1.en")).unwrap();
    let text = errors(&run(home, &["recipe.toml"]));
    assert!(text.contains("part1.en (stage copy-1)"), "{text}");
}

#[test]
fn a_shortlist_is_read_where_it_is_used() {
    let stage = |more: &str| {
        format!(
            "dir = \"out\"\n[data]\nshelf = \"shelf\"\n[[stage]]\nname = \"test\"\nstdout = \"test.json\"\n\
             run = [\"evaluate\", \"--model\", \"{{data.shelf}}/m\", \"{{data.shelf}}/ref.de\", \"{{data.shelf}}/ref.de\"{more}]\n"
        )
    };
    for (more, expected) in [("", false), (", \"--shortlist\"", true)] {
        let folder = fixture(&stage(more));
        let text = errors(&run(folder.path(), &["recipe.toml"]));
        assert!(text.contains("shelf/m (stage test)"), "{text}");
        assert_eq!(text.contains("shelf/m/vmap.txt (stage test)"), expected, "{text}");
    }
}

/// Everything in `recipes` that has stages.
#[test]
fn recipes_are_in_order() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    let mut number = 0;
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let text = fs::read_to_string(&path).unwrap_or_default();
        if !text.contains("[[stage]]") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), &[path.to_str().unwrap(), "--check"]);
        assert!(output.status.success(), "{}", errors(&output));
        number += 1;
    }
    assert!(number >= 8, "there are only {number}");
}

/// The manual's recipe is one that can be run, and all options are explained.
#[test]
fn the_manual_has_a_complete_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let output = run(folder.path(), &["--manual"]);
    assert!(output.status.success(), "{}", errors(&output));
    let manual = String::from_utf8(output.stdout).unwrap();
    let recipe = manual.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    fs::write(folder.path().join("recipe.toml"), recipe.unwrap()).unwrap();
    let checked = run(folder.path(), &["recipe.toml", "--check"]);
    assert!(checked.status.success(), "{}", errors(&checked));
    let options =
        ["--set", "--from", "--only", "--jobs", "--list", "--check", "--json", "--threads"];
    for option in options {
        assert!(manual.contains(&format!("`{option}")), "the manual lacks {option}");
    }
}
