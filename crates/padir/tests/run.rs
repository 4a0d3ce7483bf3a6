//! `padir run` from outside, with stages that take moments.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Numbers made from a seed, a vocabulary, a score; written in an order in which they cannot run.
const RECIPE: &str = r#"
dir = "out"
needs_data = "ask the librarian for {data.shelf}"

[data]
shelf = "shelf"
reference = "{data.shelf}/ref.de"

[values]
size = 100

[[stage]]
name = "score"
run = ["score", "{data.reference}", "{outputs.hypotheses}", "--json"]
stdout = "scores/all.json"

[[stage]]
name = "vocabulary"
run = ["vocab", "train", "corpus/train.en", "corpus/train.de", "--size", "{values.size}", "--output", "vocab"]
outputs = ["vocab"]

[[stage]]
name = "hypotheses"
each = { task = ["copy", "sort"], n = [3] }
run = ["data", "make", "{task}", "--pairs", "{n}", "-o", "{task}.{n}.a", "-o", "{task}.{n}.b"]
outputs = ["{task}.{n}.a"]
work = ["{task}.{n}.b"]

[[stage]]
name = "corpus"
run = ["data", "make", "numbers", "--out-dir", "corpus", "--train", "300", "--dev", "10", "--test", "10"]
outputs = ["corpus"]
"#;

fn padir(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
    command.current_dir(folder).arg("run").args(arguments);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    padir(folder, arguments).output().unwrap()
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// What became of each stage, in order, as `name action`.
fn outcomes(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = run(folder, &[&["recipe.toml", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let stages = report["stages"].as_array().unwrap().iter();
    let line = |stage: &Value| format!("{} {}", stage["name"], stage["action"]).replace('"', "");
    stages.map(line).collect()
}

/// The names of the stages that ran.
fn ran(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let outcomes = outcomes(folder, arguments);
    outcomes.iter().filter_map(|line| line.strip_suffix(" ran").map(str::to_owned)).collect()
}

/// What `--list` says, word by word.
fn listed(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = run(folder, &[&["recipe.toml", "--list"], arguments].concat());
    assert!(output.status.success(), "{}", errors(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn scene(recipe: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("shelf")).unwrap();
    fs::write(folder.path().join("shelf/ref.de"), "a b c d\ne f g h\ni j k l\n").unwrap();
    fs::write(folder.path().join("recipe.toml"), recipe).unwrap();
    folder
}

fn change(folder: &Path, file: &str, from: &str, to: &str) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(from), "{file} has no {from}");
    fs::write(&path, text.replace(from, to)).unwrap();
}

const ALL: [&str; 5] = ["hypotheses-copy-3", "hypotheses-sort-3", "score", "corpus", "vocabulary"];

#[test]
fn stages_run_once_in_an_order_that_serves_all() {
    let folder = scene(RECIPE);
    assert_eq!(ran(folder.path(), &[]), ALL);
    let scores = fs::read_to_string(folder.path().join("out/scores/all.json")).unwrap();
    assert!(scores.contains("sort.3.a"), "{scores}");
    assert!(folder.path().join("out/vocab/spiece.model").is_file());
    assert_eq!(ran(folder.path(), &[]), [""; 0], "nothing changed");
    let record = fs::read(folder.path().join("out/stages.json")).unwrap();
    let record: Value = serde_json::from_slice(&record).unwrap();
    let vocabulary = &record["stages"]["vocabulary"];
    assert_eq!(vocabulary["standing"], "done");
    assert_eq!(vocabulary["command"][5], "100");
    let inputs: Vec<&String> = vocabulary["inputs"].as_object().unwrap().keys().collect();
    assert_eq!(inputs, ["corpus/train.de", "corpus/train.en"]);
    assert!(vocabulary["seconds"].as_f64().unwrap() > 0.0);
    let inputs = record["stages"]["score"]["inputs"].as_object().unwrap();
    assert!(inputs.contains_key("{data.reference}"), "{inputs:?}");
}

#[test]
fn changes_run_what_they_touch_and_no_more() {
    let folder = scene(RECIPE);
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
    let folder = scene(RECIPE);
    ran(folder.path(), &[]);
    fs::rename(folder.path().join("shelf"), folder.path().join("cellar")).unwrap();
    assert_eq!(ran(folder.path(), &["--set", "data.shelf=cellar"]), [""; 0]);
}

#[test]
fn values_and_the_directory_can_be_set() {
    let folder = scene(RECIPE);
    let elsewhere = ["--set", "dir=elsewhere"];
    assert_eq!(ran(folder.path(), &elsewhere), ALL);
    let other = ["--set", "dir=elsewhere", "--set", "values.size=90"];
    assert_eq!(ran(folder.path(), &other), ["vocabulary"]);
    assert!(!folder.path().join("out").exists());
}

#[test]
fn stages_can_be_chosen() {
    let folder = scene(RECIPE);
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
    let folder = scene(RECIPE);
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
    let folder = scene(
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
    let folder = scene(&RECIPE.replace("n = [3]", "n = [2]"));
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
        scene(&RECIPE.replace("outputs = [\"vocab\"]", "outputs = [\"vocab\", \"vocab2\"]"));
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
    let folder = scene(CORPORA);
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
    change(home, "out/stages.json", "\"standing\": \"done\"", "\"standing\": \"begun\"");
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
        let folder = scene(&stage(more));
        let text = errors(&run(folder.path(), &["recipe.toml"]));
        assert!(text.contains("shelf/m (stage test)"), "{text}");
        assert_eq!(text.contains("shelf/m/vmap.txt (stage test)"), expected, "{text}");
    }
}

/// Recipes that are none: what is wrong with them, and what must be said, line included.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn faults_are_told_with_their_lines() {
    let stage = "[[stage]]\nname = \"a\"\nrun = [\"data\", \"make\", \"copy\", \"--pairs\", \"3\", \"-o\", \"x\"]\n";
    let make = |name: &str, run: &str, rest: &str| {
        format!("[[stage]]\nname = \"{name}\"\nrun = [{run}]\n{rest}\n")
    };
    let good =
        || make("a", r#""data", "make", "copy", "--pairs", "3", "-o", "x""#, "outputs = [\"x\"]");
    let copy = |from: &str, to: &str| format!(r#""data", "convert", "{from}", "-o", "{to}""#);
    let training = |text: &str| {
        let train = make("t", r#""train", "t.toml", "--resume-or-begin""#, "");
        format!("[files]\n\"t.toml\" = '''\n{text}\n'''\n{train}")
    };
    let cases: &[(&str, String, &[&str])] = &[
        ("not TOML", "dir = ".to_owned(), &["recipe.toml:2: "]),
        (
            "an unknown key",
            format!("{}input = []\n", good()),
            &["recipe.toml:6: unknown field `input`"],
        ),
        ("no stage", String::new(), &["there is no [[stage]]"]),
        ("no outputs", stage.to_owned(), &["recipe.toml:3: stage \"a\" makes nothing"]),
        ("two of a name", good() + &good(), &["recipe.toml:7: there are two stages \"a\""]),
        (
            "a setting that no decoder has",
            make(
                "e",
                r#""evaluate", "--model", "m", "a.en", "a.de", "--set", "legth_penalty=2""#,
                "stdout = \"e.json\"",
            ),
            &[
                "recipe.toml:3: stage \"e\": no model decodes like this",
                "unknown field `legth_penalty`",
            ],
        ),
        (
            "two makers",
            good()
                + &make(
                    "b",
                    r#""data", "make", "copy", "--pairs", "3", "-o", "x/y""#,
                    "outputs = [\"./x/y\"]",
                ),
            &["recipe.toml:7: stages \"a\" and \"b\" both make \"./x/y\""],
        ),
        (
            "a cycle",
            make("a", &copy("y.tsv", "x.tsv"), "outputs = [\"x.tsv\"]")
                + &make("b", &copy("x.tsv", "y.tsv"), "outputs = [\"y.tsv\"]"),
            &["recipe.toml:3: stages wait for each other: \"a\" needs \"b\" needs \"a\""],
        ),
        (
            "unknown names",
            good().replace("copy", "{task}") + &make("b", "\"{outputs.c}\"", "outputs = [\"{x}\"]"),
            &[
                "recipe.toml:4: {task} is not known",
                "8: there is no stage \"c\"",
                "9: {x} is not known",
            ],
        ),
        (
            "command lines that are none",
            good().replace("make", "bake") + &make("b", r#""vocab", "train""#, "outputs = [\"v\"]"),
            &[
                "recipe.toml:3: stage \"a\": unrecognized subcommand 'bake'",
                "recipe.toml:7: stage \"b\": the following required arguments were not provided: --output <DIR>",
            ],
        ),
        (
            "outside",
            good().replace("[\"x\"]", "[\"../x\"]"),
            &["recipe.toml:5: \"../x\" is not below `dir`"],
        ),
        ("ours", good().replace("[\"x\"]", "[\"stages.json\"]"), &["keeps for itself"]),
        (
            "no word",
            good().replace("\"a\"", "\"a/b\""),
            &["recipe.toml:3: \"a/b\" is no name of a stage"],
        ),
        (
            "itself",
            make("a", r#""run", "r.toml""#, "outputs = [\"x\"]"),
            &["a recipe cannot run a recipe"],
        ),
        ("nothing to repeat for", good() + "each = { n = [] }\n", &["has 0 combinations"]),
        (
            "a file for nobody",
            format!("[files]\nf = \"\"\n{}", good()),
            &["recipe.toml:3: no stage reads the file \"f\""],
        ),
        (
            "data of itself",
            format!("[data]\na = \"{{data.b}}\"\nb = \"{{data.a}}\"\n{}", good()),
            &["recipe.toml:3: `data.a` is made of {data.b}, which is not known"],
        ),
        (
            "a training configuration",
            training(
                "[data]\nvocabulary = \"v\"\ntrain = { source = \"a\", target = \"b\" }\n[run]\ndir = \"t\"\nstep = 3",
            ),
            &["recipe.toml:9: stage \"t\": ", "step"],
        ),
        (
            "a training that cannot go on",
            training("").replace(", \"--resume-or-begin\"", ""),
            &["add \"--resume-or-begin\""],
        ),
    ];
    for (case, text, expected) in cases {
        let folder = scene(&format!("dir = \"out\"\n{text}"));
        let output = run(folder.path(), &["recipe.toml", "--check"]);
        let found = errors(&output);
        assert_eq!(output.status.code(), Some(1), "{case}: {found}");
        for words in *expected {
            assert!(found.contains(words), "{case}: no {words:?} in {found}");
        }
    }
}

#[test]
fn flags_that_set_nothing_are_refused() {
    let folder = scene(RECIPE);
    let cases = [
        ("data.shelves=x", "[data] has no such name; it has reference, shelf"),
        ("values.n=x", "[values] has no such name; it has size"),
        ("stage.a=x", "what can be set is"),
        ("dir", "no `=`"),
    ];
    for (flag, expected) in cases {
        let output = run(folder.path(), &["recipe.toml", "--set", flag, "--check"]);
        let found = errors(&output);
        assert!(found.contains(&format!("--set {flag}: ")), "{flag}: {found}");
        assert!(found.contains(expected), "{flag}: {found}");
    }
}

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
    let folder = scene(TRAINING);
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
    let folder = scene(RECIPE);
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
    let folder = scene(TRAINING);
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

/// Everything in `recipes` that has stages.
#[test]
fn recipes_are_in_order() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../recipes");
    let mut number = 0;
    for entry in fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        if !fs::read_to_string(&path).unwrap().contains("[[stage]]") {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let output = run(folder.path(), &[path.to_str().unwrap(), "--check"]);
        assert!(output.status.success(), "{}", errors(&output));
        number += 1;
    }
    assert!(number >= 8, "there are only {number}");
}
