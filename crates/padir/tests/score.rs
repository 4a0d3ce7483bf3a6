//! `padir score` as a user runs it: against what sacrebleu prints, and against bad input.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

fn padir(directory: &Path, arguments: &[&str]) -> Output {
    run(directory, arguments, b"")
}

fn run(directory: &Path, arguments: &[&str], stdin: &[u8]) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .arg("score")
        .args(arguments)
        .current_dir(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("padir starts");
    // A command that fails early does not read its input.
    let _ = child.stdin.take().expect("a pipe").write_all(stdin);
    child.wait_with_output().expect("padir ends")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn files(pairs: &[(&str, &[u8])]) -> TempDir {
    let directory = TempDir::new().expect("a directory");
    for (name, content) in pairs {
        std::fs::write(directory.path().join(name), content).expect("a file");
    }
    directory
}

/// Stdout of a command that succeeds.
fn succeed(directory: &Path, arguments: &[&str]) -> String {
    let output = padir(directory, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// Stderr of a command that fails, and prints nothing on stdout.
fn fail(directory: &Path, arguments: &[&str]) -> String {
    let output = padir(directory, arguments);
    assert!(!output.status.success(), "{arguments:?} succeeded");
    assert_eq!(text(&output.stdout), "", "{arguments:?}");
    text(&output.stderr)
}

#[test]
fn prints_what_sacrebleu_prints() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/score/cli.json");
    let golden: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let contents = golden["files"].as_object().unwrap();
    let pairs: Vec<(&str, &[u8])> = contents
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str().unwrap().as_bytes()))
        .collect();
    let directory = files(&pairs);
    let version = format!("padir-{}", env!("CARGO_PKG_VERSION"));
    for case in golden["cases"].as_array().unwrap() {
        let arguments: Vec<&str> =
            case["padir"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect();
        let own = succeed(directory.path(), &arguments).replace(&version, "2.6.0");
        let expected = case["stdout"].as_str().unwrap();
        if arguments.contains(&"--paired") && arguments.contains(&"--json") {
            // Raw numbers: a last digit may differ where logarithms are summed another way.
            assert_near(&own, expected);
        } else {
            assert_eq!(own, expected, "{} {arguments:?}", case["name"]);
        }
    }
}

fn assert_near(own: &str, expected: &str) {
    fn compare(own: &Value, expected: &Value) {
        match (own, expected) {
            (Value::Array(a), Value::Array(b)) => {
                assert_eq!(a.len(), b.len());
                a.iter().zip(b).for_each(|(a, b)| compare(a, b));
            }
            (Value::Object(a), Value::Object(b)) => {
                assert!(a.keys().eq(b.keys()), "{own} {expected}");
                a.values().zip(b.values()).for_each(|(a, b)| compare(a, b));
            }
            (Value::Number(a), Value::Number(b)) => {
                let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
            _ => assert_eq!(own, expected),
        }
    }
    compare(&parse(own), &parse(expected));
}

fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn reads_stdin_and_compressed_files() {
    let gzip = include_bytes!("data/score_ref.gz");
    let directory = files(&[("ref.gz", gzip), ("hyp", b"the cat sat\non the mat\n")]);
    let by_name = succeed(directory.path(), &["ref.gz", "hyp", "-b", "-m", "chrf"]);
    assert_eq!(by_name, "100.0\n");
    for arguments in [&["ref.gz", "-", "-b", "-m", "chrf"][..], &["ref.gz", "-b", "-m", "chrf"]] {
        let output = run(directory.path(), arguments, b"the cat sat\r\non the mat");
        assert_eq!(text(&output.stdout), by_name, "{arguments:?}");
    }
}

#[test]
fn the_metrics_of_our_own() {
    let directory = files(&[
        ("ref", b"the cat sat\nvery very good\n"),
        ("hyp", b"the the cat sat\nvery very good\n"),
    ]);
    let own = succeed(directory.path(), &["ref", "hyp", "-m", "stutter,length,exact,repetition"]);
    let lines: Vec<&str> = own.lines().map(str::trim_start).collect();
    assert!(lines[0].starts_with("exact|nrefs:1|case:mixed|version:padir-"), "{own}");
    assert!(lines[0].ends_with(" = 50.0 (1 of 2)"), "{own}");
    assert!(lines[1].ends_with(" = 116.7 (ratio = 1.167 hyp_len = 7 ref_len = 6)"), "{own}");
    assert!(lines[2].ends_with(" = 28.6 (2 of 7 tokens)"), "{own}");
    assert!(
        lines[3].ends_with(
            " = 142.9 per 1000 words (per_sentence = 0.5000 sentences = 50.00% stutters = 1 \
             repetitions = 2 words = 7)"
        ),
        "{own}"
    );
    let json: Value = serde_json::from_str(&succeed(
        directory.path(),
        &["ref", "hyp", "-m", "stutter", "--json"],
    ))
    .unwrap();
    assert_eq!(json["name"], "stutter");
    assert_eq!(json["per_sentence"], 0.5);
    assert_eq!(json["stutters"], 1.0);
}

#[test]
fn segments_of_several_systems() {
    let directory = files(&[("ref", b"a b\nc d\n"), ("x", b"a b\nc c\n"), ("y", b"a\nc d\n")]);
    let own = succeed(directory.path(), &["ref", "x", "y", "--sentence", "-m", "exact,length"]);
    let expected = "segment\tsystem\texact\tlength\n1\tx\t100.0\t100.0\n1\ty\t0.0\t50.0\n\
                    2\tx\t0.0\t100.0\n2\ty\t100.0\t100.0\n";
    assert_eq!(own, expected);
    let json = succeed(directory.path(), &["ref", "x", "y", "--sentence", "-m", "exact", "--json"]);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 4);
    assert_eq!(json[1]["system"], "y");
    assert_eq!(json[1]["exact"], 0.0);
}

#[test]
fn results_do_not_depend_on_threads() {
    let line = |i: usize| format!("word{} the cat, sat {} on the mat.\n", i % 17, i % 5);
    let reference: String = (0..500).map(line).collect();
    let hypothesis: String = (0..500).map(|i| line(i * 7 / 3)).collect();
    let directory = files(&[("ref", reference.as_bytes()), ("hyp", hypothesis.as_bytes())]);
    let arguments = ["ref", "hyp", "-m", "bleu,chrf,ter,stutter", "--confidence", "-w", "12"];
    let one = succeed(directory.path(), &[&arguments[..], &["--threads", "1"]].concat());
    let four = succeed(directory.path(), &[&arguments[..], &["--threads", "4"]].concat());
    assert_eq!(one, four);
}

#[test]
fn bad_input_is_explained() {
    let directory = files(&[
        ("two", b"a\nb\n"),
        ("other", b"c\nd\n"),
        ("three", b"a\nb\nc\n"),
        ("empty", b""),
        ("latin1", b"good\nM\xfcnchen\n"),
        ("cut.gz", &include_bytes!("data/score_ref.gz")[..30]),
    ]);
    for (name, arguments, expected) in [
        ("unequal", &["two", "three"][..], "two has 2 lines, but three has 3"),
        ("unequal references", &["two", "-r", "three", "two"], "two has 2 lines, but three has 3"),
        ("empty", &["empty", "empty"], "empty is empty: there is nothing to score"),
        ("empty output", &["two", "empty"], "two has 2 lines, but empty has 0"),
        ("not UTF-8", &["two", "latin1"], "latin1, line 2: invalid UTF-8"),
        ("absent", &["two", "nowhere"], "cannot open nowhere"),
        ("truncated", &["cut.gz", "two"], "cut.gz"),
        ("stdin twice", &["-", "-"], "only one of the files can be read from stdin"),
        ("same system twice", &["two", "other", "other"], "other is given twice"),
        ("lonely pair", &["two", "other", "--paired", "bs"], "a paired test needs two systems"),
        (
            "columns",
            &["two", "other", "--num-refs", "2"],
            "two, line 1: expected 2 references, found 1",
        ),
        (
            "smoothing",
            &["two", "other", "--smooth-value", "1"],
            "--smooth-value has a meaning only",
        ),
        ("metric twice", &["two", "other", "-m", "bleu,bleu"], "BLEU is asked for twice"),
        ("no metric", &["two", "other", "-m", "blue"], "invalid value 'blue'"),
        ("no tokeniser", &["two", "other", "--tokenize", "14a"], "invalid value '14a'"),
        (
            "chrF of nothing",
            &["two", "other", "-m", "chrf", "--chrf-char-order", "0"],
            "chrF needs",
        ),
        ("sentences", &["two", "other", "--sentence", "--confidence"], "cannot be used with"),
    ] {
        let error = fail(directory.path(), arguments);
        assert!(error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn nul_bytes_and_odd_line_ends_are_text() {
    let directory = files(&[("ref", b"a\0b c d e\r\n\r\n"), ("hyp", b"a\0b c d e\n\n")]);
    assert_eq!(succeed(directory.path(), &["ref", "hyp", "-b"]), "100.0\n");
}

/// The 21 published outputs, if the data is there: `cargo test -p padir --test score -- --ignored`.
#[test]
#[ignore = "needs bleu-cases and wmt-tests below ../shared/data or $PADIR_DATA"]
fn published_scores_to_four_decimals() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let data = std::env::var_os("PADIR_DATA").map_or(root.join("../shared/data"), PathBuf::from);
    let Ok(table) = std::fs::read_to_string(data.join("bleu-cases/expected_bleu.tsv")) else {
        println!("{} is absent: nothing was checked", data.join("bleu-cases").display());
        return;
    };
    let mut rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let column = |name: &str| header.iter().position(|h| *h == name).expect("a column");
    let mut checked = 0;
    for row in rows {
        let system = row[column("system")];
        let folder = match system.split('/').next().expect("a folder") {
            "wmt16-en-ro" | "wmt16-ro-en" => "ro-en",
            "wmt17-en-de" => "en-de-wmt17",
            _ => "zh-en",
        };
        let reference =
            data.join("wmt-tests").join(folder).join(format!("{}.gz", row[column("reference")]));
        let hypothesis = data.join("bleu-cases").join(format!("{system}.gz"));
        let score = |extra: &[&str]| {
            let files = [reference.to_str().expect("a name"), hypothesis.to_str().expect("a name")];
            succeed(&root, &[&files[..], &["-b", "-w", "4"], extra].concat())
        };
        for (name, arguments) in [
            ("sacrebleu_2.6.0", &["--tokenize", row[column("tok")]][..]),
            ("sacrebleu_intl", &["--tokenize", "intl"]),
            ("sacrebleu_chrf", &["-m", "chrf"]),
        ] {
            let expected = row.get(column(name)).copied().unwrap_or_default();
            if !expected.is_empty() {
                assert_eq!(score(arguments).trim_end(), expected, "{system} {name}");
                checked += 1;
            }
        }
    }
    println!("{checked} scores agree");
    assert!(checked >= 21);
}

/// A script written for sacrebleu says the same here.
#[test]
fn habits_of_sacrebleu_work() {
    let directory = files(&[
        ("ref.zh", "我们都是好朋友。\n今天天气很好。\n".as_bytes()),
        ("ref2.zh", "大家都是好朋友。\n今天天气不错。\n".as_bytes()),
        ("out.zh", "我们都是朋友。\n今天天气很好。\n".as_bytes()),
    ]);
    let same = |typed: &[&str], usual: &[&str]| {
        let (typed, usual) = (succeed(directory.path(), typed), succeed(directory.path(), usual));
        assert_eq!(typed, usual);
    };
    let usual = ["ref.zh", "out.zh", "--tokenize", "zh", "--lowercase", "--metrics", "bleu,chrf"];
    same(&["ref.zh", "-i", "out.zh", "-tok", "zh", "-lc", "-m", "bleu", "chrf"], &usual);
    same(&["ref.zh", "-i", "out.zh", "-l", "en-zh", "-lc", "-m", "bleu", "chrf"], &usual);
    let two = ["ref.zh", "out.zh", "--ref", "ref2.zh", "--tokenize", "zh"];
    same(&["ref.zh", "ref2.zh", "-tok", "zh", "-i", "out.zh"], &two);
    let japanese = fail(directory.path(), &["ref.zh", "out.zh", "-l", "en-ja"]);
    assert!(japanese.contains("MeCab") && japanese.contains("hint: --tokenize char"), "{japanese}");
}

#[test]
fn a_tokeniser_that_does_not_fit_the_script_is_named() {
    let directory = files(&[
        ("zh", "我们都是好朋友。\n".as_bytes()),
        ("de", "Wir sind alle gute Freunde.\n".as_bytes()),
    ]);
    let notes = |arguments: &[&str]| text(&padir(directory.path(), arguments).stderr);
    let note = "note: zh: 100 % of the letters are of a script without spaces between words";
    assert!(notes(&["zh", "zh"]).contains(note), "{}", notes(&["zh", "zh"]));
    assert!(notes(&["de", "de", "--tokenize", "zh"]).contains("there is no Chinese character"));
    for fitting in [
        &["zh", "zh", "--tokenize", "zh"][..],
        &["zh", "zh", "--tokenize", "char"],
        &["zh", "zh", "--metrics", "chrf"],
        &["de", "de"],
    ] {
        assert_eq!(notes(fitting), "", "{fitting:?}");
    }
}
