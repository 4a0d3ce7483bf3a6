//! What goes wrong, and what is said about it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use padir_checkpoint::DecoderKind;

use crate::house::{House, text};

/// Something that happens to a model's directory.
type Damage<'a> = &'a dyn Fn(&Path);

#[test]
fn bad_input_is_named_by_file_and_line() {
    let house = House::build();
    let (out, error) = house.fail(&["--model", "padir", "--steps", "1"], b"one\n\xff\xfe\ntwo\n");
    assert!(error.contains("line 2"), "{error}");
    assert_eq!(out.lines().count(), 1, "what came before it is translated: {out:?}");
    assert!(error.contains("hint: the lines before it were translated"), "{error}");
    let (_, error) = house.fail(&["--model", "padir", "--file", "nowhere"], b"");
    assert!(!error.contains("were translated"), "there were none: {error}");
    let (_, error) = house.fail(&["--model", "padir", "--trace", "no/where", "x"], b"");
    assert_eq!(error.matches("cannot write no/where").count(), 1, "{error}");
    let cases: [(&str, &[&str], &str); 10] = [
        ("no model", &["--model", "nowhere", "x"], "nowhere"),
        ("no file", &["--model", "ar", "--file", "nowhere"], "nowhere"),
        (
            "steps of a beam",
            &["--model", "ar", "--steps", "2", "x"],
            "--steps is for a parallel model",
        ),
        (
            "a beam of steps",
            &["--model", "padir", "--beam", "2", "x"],
            "is --steps or --lengths meant?",
        ),
        ("the paper's beam", &["--model", "ar", "--exact-paper", "x"], "--exact-paper"),
        ("no such setting", &["--model", "padir", "--set", "stepps=1", "x"], "is `steps` meant?"),
        ("no value", &["--model", "padir", "--set", "steps", "x"], "key=value"),
        ("no steps", &["--model", "padir", "--steps", "0", "x"], "`steps` is 0"),
        ("no steps for nothing", &["--model", "padir", "--steps", "0"], "`steps` is 0"),
        ("a trace nowhere", &["--model", "padir", "--trace", "no/where", "x"], "no/where"),
    ];
    for (name, arguments, expected) in cases {
        let (_, error) = house.fail(arguments, b"");
        assert!(error.starts_with("error: ") && error.contains(expected), "{name}: {error}");
    }
}

#[test]
fn damaged_models_are_refused() {
    let house = House::build();
    let spoil = |name: &str, change: Damage<'_>| {
        let _ = fs::remove_dir_all(house.path("spoilt"));
        house.make_model("spoilt", DecoderKind::Parallel);
        change(&house.path("spoilt"));
        let (out, error) = house.fail(&["--model", "spoilt", "one"], b"");
        assert_eq!(out, "", "{name}");
        error
    };
    let cases: [(&str, Damage<'_>, &str); 5] = [
        ("truncated", &|d| shorten(&d.join("model.safetensors")), "model.safetensors"),
        (
            "no weights",
            &|d| fs::remove_file(d.join("model.safetensors")).unwrap(),
            "model.safetensors",
        ),
        ("no config", &|d| fs::remove_file(d.join("config.json")).unwrap(), "config.json"),
        (
            "another vocabulary",
            &|d| {
                fs::remove_file(d.join("tokenizer.json")).unwrap();
                let mut bytes = fs::read(d.join("spiece.model")).unwrap();
                let place = bytes.windows(3).position(|three| three == b"one").unwrap();
                bytes[place..place + 3].copy_from_slice(b"eno");
                fs::write(d.join("spiece.model"), bytes).unwrap();
            },
            "not the one this model was trained with",
        ),
        (
            "no vocabulary",
            &|d| {
                fs::remove_file(d.join("tokenizer.json")).unwrap();
                fs::remove_file(d.join("spiece.model")).unwrap();
            },
            "no usable vocabulary",
        ),
    ];
    for (name, change, expected) in cases {
        let error = spoil(name, change);
        assert!(error.contains(expected), "{name}: {error}");
    }
}

fn shorten(path: &Path) {
    let bytes = fs::read(path).unwrap();
    fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
}

#[test]
fn a_bad_shortlist_is_named() {
    let house = House::build();
    let (_, error) = house.fail(&["--model", "ar", "--shortlist"], b"one\n");
    assert!(error.contains("vmap.txt") && error.contains("hint: `padir shortlist"), "{error}");
    let cases = [
        ("\t</s>\none two\n", "line 2: there is no tab"),
        ("\t</s> zwölf\n", "line 1: the vocabulary has no piece \"zwölf\""),
        ("zwölf\t</s>\n", "line 1: the vocabulary has no piece \"zwölf\""),
        ("", "line 1: no line without a source"),
    ];
    for (content, expected) in cases {
        fs::write(house.path("ar/vmap.txt"), content).unwrap();
        let (_, error) = house.fail(&["--model", "ar", "--shortlist"], b"one\n");
        assert!(error.contains(expected), "{content:?}: {error}");
    }
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let house = House::build();
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(["translate", "--model", "ar", "--batch", "1", "--quiet"])
        .current_dir(house.directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut input = child.stdin.take().unwrap();
    let _ = input.write_all("one two\n".repeat(50).as_bytes());
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(text(&output.stderr), "");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_after_what_was_said() {
    use std::io::{BufRead, BufReader};
    let house = House::build();
    let mut child = Command::new(env!("CARGO_BIN_EXE_padir"))
        .args(["translate", "--model", "padir", "--trace", "steps.jsonl"])
        .current_dir(house.directory.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all(b"one\n").unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.ends_with('\n'), "the first line is answered while more may come");
    // Whoever started us in the background may have us ignore interrupts; then nobody waits for one to work.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    let (name, code) = if ignored & 0b10 == 0 { ("-INT", 130) } else { ("-TERM", 143) };
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "{:?}", output.status);
    assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
    let is_trace = |name: &str| name.starts_with(".padir-") || name == "steps.jsonl";
    let files = fs::read_dir(house.directory.path()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().to_string_lossy().into_owned());
    let left: Vec<String> = names.filter(|name| is_trace(name)).collect();
    assert!(left.is_empty(), "what is not whole is not there: {left:?}");
}
