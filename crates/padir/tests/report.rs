//! A recipe from nothing to a page of results: every kind of stage, with networks that learn for moments.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use padir_base::hash::hash_bytes;
use serde_json::Value;
use tempfile::TempDir;

const RECIPE: &str = r#"
dir = "out"

[data]
dev_de = "shelf/dev.de"
dev_en = "shelf/dev.en"

[values]
peak = 0.01

[files]
"ar.toml" = '''
[data]
vocabulary = "vocab/spiece.model"
[data.train]
source = "corpus/train.de"
target = "corpus/train.en"
[data.dev.dev]
source = "{data.dev_de}"
target = "{data.dev_en}"
[model]
preset = "tiny"
[objective]
kind = "ar"
[optimiser.schedule]
peak = 0.01
warmup = 2
[batch]
tokens = 256
[run]
dir = "teacher"
max_steps = 4
eval_every = 2
metric = "dev.bleu"
[run.decode]
lines = 4
'''
"padir.toml" = '''
[data]
vocabulary = "vocab/spiece.model"
[data.train]
source = "distilled.de"
target = "distilled.en"
[data.dev.dev]
source = "{data.dev_de}"
target = "{data.dev_en}"
[model]
preset = "tiny"
start_from = "teacher/best"
[objective]
kind = "padir"
[optimiser.schedule]
peak = {values.peak}
warmup = 2
[batch]
tokens = 256
[run]
dir = "padir"
max_steps = 4
eval_every = 2
metric = "dev.bleu"
[run.decode]
lines = 4
'''

[[stage]]
name = "corpus"
run = ["data", "make", "numbers", "--out-dir", "corpus", "--train", "60", "--dev", "10", "--test", "12"]
outputs = ["corpus"]

[[stage]]
name = "vocabulary"
run = ["vocab", "train", "corpus/train.en", "corpus/train.de", "--size", "100", "--output", "vocab"]
outputs = ["vocab"]

[[stage]]
name = "teacher"
run = ["train", "ar.toml", "--resume-or-begin"]

[[stage]]
name = "distil"
run = ["distil", "--model", "teacher/best", "corpus/train.de", "corpus/train.en", "--output=distilled.de", "--output=distilled.en"]
outputs = ["distilled.de", "distilled.en"]
work = ["distilled.en.parts", "distilled.en.report.json"]

[[stage]]
name = "padir"
each = { seed = [1, 2] }
run = ["train", "padir.toml", "--resume-or-begin", "--set", "run.dir=padir-seed{seed}", "--set", "run.seed={seed}"]

[[stage]]
name = "tune"
run = [
    "evaluate", "--model", "padir-seed1/best", "corpus/dev.de", "corpus/dev.en", "--steps", "3", "--lengths", "2",
    "--length-penalty", "1,2.5", "--also", "prune.rule=keep,prune.most=1", "--json",
]
stdout = "dev.json"

[[stage]]
name = "evaluate-teacher"
run = ["evaluate", "--model", "teacher/best", "corpus/test.de", "corpus/test.en", "--beam", "1,2", "--outputs", "test/teacher", "--json"]
outputs = ["test/teacher"]
stdout = "test/teacher.json"

[[stage]]
name = "evaluate-padir"
each = { seed = [1, 2] }
run = [
    "evaluate", "--model", "padir-seed{seed}/best", "corpus/test.de", "corpus/test.en", "--steps", "1,3", "--lengths", "1,2",
    "--outputs", "test/padir{seed}", "--json",
]
outputs = ["test/padir{seed}"]
stdout = "test/padir{seed}.json"

[[stage]]
name = "plain"
run = ["evaluate", "--model", "teacher/best", "corpus/test.de", "corpus/test.en"]
stdout = "plain.txt"

[[stage]]
name = "latency"
run = [
    "bench", "decode", "--ar", "teacher/best", "--padir", "padir-seed1/best", "--texts", "corpus/test.de", "--length", "4",
    "--sentences", "2", "--steps", "1", "--lengths", "1", "--batches", "0", "--json",
]
stdout = "latency.json"

[[stage]]
name = "samples"
run = ["translate", "--model", "padir-seed1/best", "--watch", "--json", "--steps", "2", "one", "forty-two"]
stdout = "samples.jsonl"
"#;

fn padir(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_padir")).current_dir(folder).args(arguments).output().unwrap()
}

fn succeed(folder: &Path, arguments: &[&str]) -> String {
    let output = padir(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn fail(folder: &Path, arguments: &[&str]) -> String {
    let output = padir(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_recipe_becomes_a_page() {
    let folder = TempDir::new().unwrap();
    let home = folder.path();
    fs::write(home.join("recipe.toml"), RECIPE).unwrap();
    let make = [
        "data",
        "make",
        "numbers",
        "--out-dir",
        "shelf",
        "--train",
        "10",
        "--dev",
        "10",
        "--test",
        "10",
    ];
    succeed(home, &make);
    succeed(home, &["run", "recipe.toml"]);
    compare(home);

    let place = home.join("out");
    succeed(home, &["report", place.to_str().unwrap(), "--output", "docs/page.md"]);
    let page = fs::read_to_string(home.join("docs/page.md")).unwrap();
    for expected in [
        "Made by `padir report out --output docs/page.md` from ",
        "## out",
        "| teacher | ar | ",
        "| padir-seed2 | padir | ",
        "| stutter per 1000 words | ",
        "| teacher | beam 2 | f32 | ",
        "| padir | steps 3, lengths 2 | f32 | ",
        "#### dev.de, dev.en, 10 pairs (`",
        "| padir | steps 3, lengths 2, α 2.5 | f32 | ",
        "| padir | steps 3, lengths 2, α 2.5, prune.rule=keep,prune.most=1 | f32 | ",
        " ± ",
        "![BLEU by steps](page/out-steps.svg)",
        "### Latency",
        "| AR beam 5 f32 | ",
        "| PaDIR 1 × 1 int8 | ",
        "What padir-seed1/best makes of some texts, step by step",
        "\n\nforty-two\n  1  ",
        "<details><summary>padir-seed1</summary>",
        "| PaDIR, 4 steps, 5 lengths | 33.49 | ",
    ] {
        assert!(page.contains(expected), "{expected}\n{page}");
    }
    assert!(!page.contains(home.to_str().unwrap()), "a path of this machine\n{page}");
    for figure in ["out-learning", "out-steps"] {
        for form in ["svg", "png", "csv"] {
            assert!(home.join(format!("docs/page/{figure}.{form}")).is_file(), "{figure}.{form}");
        }
    }
    // The settings of dev have one number of steps, so that nothing else has to tell curves apart.
    let curves = fs::read_to_string(home.join("docs/page/out-steps.csv")).unwrap();
    assert!(curves.contains("\"padir, lengths 2\",3,"), "{curves}");
    let again_and_again = fail(home, &["report", "out", "--output", "docs/page.md"]);
    assert!(again_and_again.contains("error: docs/page.md, "), "{again_and_again}");
    succeed(home, &["report", "out", "--output", "docs/page.md", "--force"]);
    let made_again = fs::read_to_string(home.join("docs/page.md")).unwrap();
    assert_eq!(made_again, page, "by the command that it names");
    // What is kept has no texts and no weights, and is enough for the same page.
    succeed(home, &["report", "out", "--output", "docs/page.md", "--keep", "kept", "--force"]);
    assert!(!home.join("kept/out/teacher/best").exists() && !home.join("kept/out/vocab").exists());
    succeed(home, &["report", "kept/out", "--output", "docs/page.md", "--force"]);
    let kept = fs::read_to_string(home.join("docs/page.md")).unwrap();
    assert_eq!(kept.replace("kept/out", "out"), page, "of what was kept");
    let manifest = fs::read_to_string(home.join("kept/out/teacher/manifest.json")).unwrap();
    assert!(!manifest.contains(home.to_str().unwrap()), "a path of this machine\n{manifest}");
    retrain(home);
    again(home);
}

/// What was measured is what other commands find in the translations.
fn compare(home: &Path) {
    let json = fs::read_to_string(home.join("out/test/padir1.json")).unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    let names: Vec<&str> =
        json["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    let expected = ["steps1.lengths1", "steps1.lengths2", "steps3.lengths1", "steps3.lengths2"];
    assert_eq!(names, expected);
    for row in json["rows"].as_array().unwrap() {
        let hypotheses = format!("out/test/padir1/{}.txt", row["name"].as_str().unwrap());
        let scored = succeed(
            home,
            &[
                "score",
                "out/corpus/test.en",
                &hypotheses,
                "--metrics",
                "bleu,chrf,stutter",
                "--json",
            ],
        );
        let scored: Value = serde_json::from_str(&scored).unwrap();
        for (at, name) in ["bleu", "chrf", "stutter"].into_iter().enumerate() {
            let (ours, theirs) = (&row["figures"][name], &scored[at]["score"]);
            let difference = ours.as_f64().unwrap() - theirs.as_f64().unwrap();
            assert!(difference.abs() < 0.051, "{name}: {ours} {theirs}");
        }
        let figures = &row["figures"];
        let (first, any) = (&figures["length_accuracy"], &figures["length_accuracy_at_k"]);
        assert!(first.as_f64().unwrap() <= any.as_f64().unwrap(), "{row}");
        assert!(row["figures"]["steps"].as_f64().unwrap() <= 3.0, "{row}");
    }
}

/// What was measured of a model that has been trained again is left out, until it is measured again.
fn retrain(home: &Path) {
    let report = || {
        let output = padir(home, &["report", "out", "--json"]);
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        let chapters: Value = serde_json::from_slice(&output.stdout).unwrap();
        let counts = ["trainings", "distillations", "evaluations", "latencies", "samples"]
            .map(|kind| chapters[0][kind].as_array().unwrap().len());
        (counts, notes)
    };
    let (counts, notes) = report();
    assert_eq!(counts, [3, 1, 4, 1, 1], "{notes}");
    assert_eq!(notes.matches("left out").count(), 1, "{notes}");
    assert!(notes.contains("out: plain is left out: it keeps no JSON"), "{notes}");

    let run = ["run", "recipe.toml", "--only", "padir-1", "--set", "values.peak=0.02"];
    succeed(home, &run);
    let (counts, notes) = report();
    assert_eq!(counts, [3, 1, 2, 0, 0], "{notes}");
    for stage in ["tune", "evaluate-padir-1", "latency", "samples"] {
        let note = format!(
            "out: {stage} is left out: padir-seed1/best is not what it read; `padir run` with --only {stage} makes it again"
        );
        assert!(notes.contains(&note), "{note}\n{notes}");
    }

    succeed(home, &["run", "recipe.toml", "--only", "evaluate-padir-1"]);
    let (counts, notes) = report();
    assert_eq!(counts, [3, 1, 3, 0, 0], "{notes}");
}

/// Scores that no stage wrote.
fn touch(home: &Path) {
    let path = home.join("out/test/teacher.json");
    let written = fs::read_to_string(&path).unwrap();
    let mut better: Value = serde_json::from_str(&written).unwrap();
    better["rows"][0]["figures"]["bleu"] = Value::from(99.9_f64);
    for (case, text) in [("a better score", better.to_string()), ("none", "{}".to_owned())] {
        fs::write(&path, text).unwrap();
        let error = fail(home, &["report", "out"]);
        let fact = "teacher.json is not what stage evaluate-teacher wrote";
        assert!(error.contains(fact), "{case}: {error}");
        assert!(error.contains("--from evaluate-teacher makes it again"), "{case}: {error}");
    }
    // The stage wrote this, but nothing that can be read: another version did, say.
    let stages = home.join("out/stages.json");
    let mut record: Value = serde_json::from_str(&fs::read_to_string(&stages).unwrap()).unwrap();
    let outputs = &mut record["stages"]["evaluate-teacher"]["outputs"];
    outputs["test/teacher.json"] = Value::from(hash_bytes(b"{}").to_string());
    fs::write(&stages, record.to_string()).unwrap();
    let error = fail(home, &["report", "out"]);
    assert!(error.contains("teacher.json is not what stage evaluate-teacher writes"), "{error}");
}

/// What goes wrong, once there are results.
fn again(home: &Path) {
    let error = fail(home, &["report", "elsewhere"]);
    assert!(error.contains("elsewhere holds no finished stage"), "{error}");
    assert!(fail(home, &["report", "out", "-o", "page"]).contains("has no extension"));
    let error = fail(home, &["report", "out", "out"]);
    assert!(error.contains("two directories have the same name"), "{error}");
    touch(home);
    let model =
        ["evaluate", "--model", "out/teacher/best", "out/corpus/test.de", "out/corpus/test.en"];
    let with = |more: &[&str]| fail(home, &[&model, more].concat());
    assert!(with(&["--steps", "2"]).contains("--steps is for a parallel model"));
    let late = with(&["--beam", "1,0"]);
    assert!(late.contains("`num_beams` is 0") && !late.contains("BLEU"), "before any work: {late}");
    assert!(with(&["--fast"]).contains("--fast is about refinement"));
    let error = fail(
        home,
        &[
            "evaluate",
            "--model",
            "out/padir-seed1/best",
            "out/corpus/test.de",
            "out/corpus/test.en",
            "--beam",
            "3",
        ],
    );
    assert!(error.contains("--beam is for an autoregressive model"), "{error}");
}

#[test]
fn the_page_in_docs_is_what_its_command_makes_of_the_records() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    let kept = fs::read_to_string(root.join("docs/results.md")).unwrap();
    let command = kept.split('`').nth(1).unwrap();
    let scratch = TempDir::new().unwrap();
    copy_all(&root.join("results"), &scratch.path().join("results"));
    fs::create_dir(scratch.path().join("docs")).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(command.split(' ').skip(1))
        .current_dir(scratch.path())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let made = fs::read_to_string(scratch.path().join("docs/results.md")).unwrap();
    let differs = made.lines().zip(kept.lines()).find(|(made, kept)| made != kept);
    assert!(made == kept, "{command} makes something else of results: {differs:?}");
    let figures = fs::read_dir(scratch.path().join("docs/results")).unwrap().map(Result::unwrap);
    for figure in figures.filter(|figure| figure.path().extension().is_some_and(|e| e == "csv")) {
        let kept = fs::read(root.join("docs/results").join(figure.file_name())).unwrap();
        assert!(fs::read(figure.path()).unwrap() == kept, "{:?} is another one", figure.path());
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &to);
        } else {
            fs::copy(entry.path(), to).unwrap();
        }
    }
}
