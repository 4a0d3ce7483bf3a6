//! `padir data` as a user meets it: the binary, real files, bad input.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

struct Desk {
    directory: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), bytes).unwrap();
    }

    fn get(&self, name: &str) -> String {
        fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_padir"));
        command.arg("data").args(arguments.split_whitespace()).current_dir(self.path());
        command
    }

    fn run(&self, arguments: &str) -> Output {
        self.command(arguments).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs a command that must succeed, and gives its stdout.
    fn good(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments}: {}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs a command that must fail, and gives its stderr.
    fn bad(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        assert!(!output.status.success(), "{arguments} succeeded");
        let message = stderr(&output);
        assert!(!message.contains("panicked"), "{arguments}: {message}");
        message
    }

    fn pipe(&self, arguments: &str, input: &[u8]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        child.wait_with_output().unwrap()
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn made_corpora_are_reproducible_and_disjoint() {
    let desk = Desk::new();
    let make = "make mixed --train 900 --dev 60 --test 40 --seed 9 --out-dir";
    desk.good(&format!("{make} a --threads 1"));
    desk.good(&format!("{make} b --threads 3"));
    desk.good("make mixed --train 1200 --dev 60 --test 40 --seed 9 --out-dir c");
    let mut sources = Vec::new();
    for (name, lines) in [("train", 900), ("dev", 60), ("test", 40)] {
        for side in ["en", "de"] {
            let text = desk.get(&format!("a/{name}.{side}"));
            assert_eq!(text.lines().count(), lines, "{name}.{side}");
            assert_eq!(text, desk.get(&format!("b/{name}.{side}")), "{name}.{side}");
            assert!(desk.get(&format!("c/{name}.{side}")).starts_with(&text), "{name}.{side}");
        }
        sources.extend(desk.get(&format!("a/{name}.en")).lines().map(str::to_owned));
    }
    sources.sort_unstable();
    sources.dedup();
    assert_eq!(sources.len(), 1000);
}

#[test]
fn small_tasks_run_out_with_an_error() {
    let desk = Desk::new();
    let message = desk.bad("make numbers --max 9 --pairs 11 -o a.tsv");
    assert!(message.contains("no more new sentences after 10"), "{message}");
    assert!(message.contains("hint:"), "{message}");
    assert!(!desk.path().join("a.tsv").exists());
    for arguments in [
        "make numbers --min 5 --max 4 --pairs 1",
        "make numbers --max 1000000000000000 --pairs 1",
        "make sort --symbols 0 --pairs 1",
        "make copy --min-length 5 --max-length 2 --pairs 1",
        "make copy",
        "make copy --pairs 1 --json",
        "make nonsense --pairs 1",
    ] {
        desk.bad(arguments);
    }
}

#[test]
fn conversions_come_back_the_same() {
    let desk = Desk::new();
    desk.good("make everyday --pairs 300 -o a.en -o a.de");
    let steps = [
        "convert a.en a.de -o b.tsv.gz",
        "convert b.tsv.gz -o c.parquet --out-langs en,de",
        "convert c.parquet --langs de,en -o d.de.xz -o d.en.xz",
        "convert d.en.xz d.de.xz -o e.parquet.zst",
        "convert --parquet e.parquet.zst -o f.tsv",
        "convert --tsv f.tsv:2,1 -o g.de -o g.en",
    ];
    for step in steps {
        desk.good(step);
    }
    assert_eq!(desk.get("a.en"), desk.get("g.en"));
    assert_eq!(desk.get("a.de"), desk.get("g.de"));
}

#[test]
fn pipes_work_in_and_out() {
    let desk = Desk::new();
    desk.put("a.en", "one\ntwo\n");
    let output = desk.pipe("convert - -o -", b"\xef\xbb\xbfone\teins\r\ntwo\tzwei");
    assert_eq!(output.stdout, b"one\teins\ntwo\tzwei\n");
    let output = desk.pipe("convert --source a.en --target - -o -", b"eins\nzwei\n");
    assert_eq!(output.stdout, b"one\teins\ntwo\tzwei\n");
}

#[test]
fn bad_lines_stop_or_are_counted() {
    let desk = Desk::new();
    desk.put("a.en", b"one\nt\xffo\nthree\nfour\n");
    desk.put("a.de", b"eins\nzwei\ndr\0i\nvier\n");
    let message = desk.bad("convert a.en a.de -o b.en -o b.de");
    assert!(message.contains("a.en, line 2: invalid UTF-8 at byte 2"), "{message}");
    assert!(message.contains("hint: --on-bad skip"), "{message}");
    assert!(!desk.path().join("b.en").exists(), "nothing is left behind");
    let output = desk.run("convert a.en a.de -o b.en -o b.de --on-bad skip");
    assert!(stderr(&output).contains("skipped 2 (1 invalid UTF-8, 1 NUL)"), "{}", stderr(&output));
    assert_eq!((desk.get("b.en"), desk.get("b.de")), ("one\nfour\n".into(), "eins\nvier\n".into()));
    let json = desk.good("inspect a.en a.de --on-bad skip --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["corpora"][0]["pairs"], 2);
    assert_eq!(json["corpora"][0]["skipped"], 2);
}

#[test]
fn misuse_is_explained() {
    let desk = Desk::new();
    desk.put("a.en", "one\ntwo\nthree\n");
    desk.put("a.de", "eins\nzwei\n");
    desk.put("a.tsv", "one\teins\ntwo\n");
    desk.put("a.parquet", "PAR1 but no more");
    desk.put("a.bz2", b"BZh91AY&SY\0\0\0\0");
    let cases = [
        ("inspect", "no corpus is named"),
        ("inspect a.en", "a.en has no partner"),
        ("inspect a.en a.de", "a.en has 3 lines, but a.de has 2"),
        ("inspect a.en a.de --on-bad skip", "a.en has 3 lines, but a.de has 2"),
        ("inspect a.tsv", "a.tsv, line 2: no column 2 among 1"),
        ("inspect --tsv a.tsv:1", "columns are two numbers"),
        ("inspect a.parquet", "a.parquet is not readable as parquet"),
        ("inspect a.bz2 a.de", "a.bz2: bzip2 data is not supported"),
        ("inspect nowhere.tsv", "cannot open nowhere.tsv"),
        ("inspect . a.de", "cannot read ."),
        ("inspect --source a.en", "--source is given 1 times, but --target 0"),
        ("inspect -- - -", "stdin is named 2 times"),
        ("inspect a.en a.de --max-line 3", "a.de, line 1: longer than 3 bytes"),
        ("convert a.tsv -o out.txt", "the form of out.txt is unknown"),
        ("convert a.tsv -o no/dir.tsv", "cannot write no/dir.tsv"),
        ("convert a.tsv -o a -o b -o c", "one file or two, not 3"),
        ("convert a.tsv -o - --json", "both want to write to stdout"),
        ("filter a.tsv --max-ratio 0.5 -o b.tsv", "must be at least 1"),
        ("split a.tsv --out-dir b", "nothing to hold out"),
        ("split a.tsv --dev 1", "give --out-dir"),
        ("split a.tsv --on-bad skip --dev 5 --out-dir b", "cannot hold out 5 of 1 pairs"),
        ("split a.tsv --on-bad skip --dev 1 --out-dir a.en", "a.en is not a directory"),
    ];
    for (arguments, expected) in cases {
        let message = desk.bad(arguments);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
}

#[test]
fn tabs_cannot_be_lost_silently() {
    let desk = Desk::new();
    desk.put("a.en", "one\ttwo\n");
    desk.put("a.de", "eins\n");
    let message = desk.bad("convert a.en a.de -o b.tsv");
    assert!(message.contains("pair 1: the source contains a tab"), "{message}");
    desk.good("convert a.en a.de -o b.parquet");
    desk.good("convert b.parquet -o c.en -o c.de");
    assert_eq!(desk.get("c.en"), "one\ttwo\n");
}

#[test]
fn filters_count_their_reasons() {
    let desk = Desk::new();
    desk.put("a.tsv", "a b c d\tx\nsame\tsame\na\tb\na\tb\nsecret\tc\nd\te\n\tf\n");
    desk.put("test.tsv", "secret\tgeheim\n");
    let json = desk.good(
        "filter a.tsv --min-words 1 --max-words 3 --drop-identical --unique pair \
         --exclude test.tsv -o b.tsv --json",
    );
    assert_eq!(desk.get("b.tsv"), "a\tb\nd\te\n");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["read"].as_u64(), json["kept"].as_u64()), (Some(7), Some(2)));
    for reason in ["too_short", "too_long", "identical_sides", "overlap", "duplicate"] {
        assert_eq!(json["dropped"][reason], 1, "{reason}");
    }
    assert_eq!(json["dropped"]["length_ratio"], 0);
}

#[test]
fn splits_hold_out_what_was_asked() {
    let desk = Desk::new();
    let lines: Vec<String> = (0..200).map(|i| format!("s{}\tt{i}\n", i % 150)).collect();
    let text = lines.concat();
    desk.put("a.tsv", &text);
    let json =
        desk.good("split a.tsv --dev 10 --test 20 --disjoint --out-dir b --format tsv --json");
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let lines = |name: &str| desk.get(&format!("b/{name}.tsv")).lines().count();
    assert_eq!((lines("dev"), lines("test")), (10, 20));
    assert_eq!(json["train"].as_u64(), Some(lines("train") as u64));
    assert_eq!(json["dropped"].as_u64(), Some(200 - 30 - lines("train") as u64));
    let overlaps = desk.good("inspect b/train.tsv b/dev.tsv b/test.tsv --json");
    let overlaps: serde_json::Value = serde_json::from_str(&overlaps).unwrap();
    for overlap in overlaps["overlaps"].as_array().unwrap() {
        assert_eq!(overlap["sources"], 0, "{overlap}");
    }
    // From a pipe, which is copied to be read twice.
    let output = desk.pipe("split - --dev 3 --by head --out-dir c --format tsv", text.as_bytes());
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(desk.get("c/dev.tsv"), "s0\tt0\ns1\tt1\ns2\tt2\n");
    assert_eq!(desk.get("c/train.tsv").lines().count(), 197);
}

#[test]
fn an_empty_corpus_is_no_error() {
    let desk = Desk::new();
    desk.put("a.tsv", "");
    let text = desk.good("inspect a.tsv");
    assert!(text.contains("pairs"), "{text}");
    let converted = desk.run("convert a.tsv -o b.parquet");
    assert!(stderr(&converted).contains("note: a.tsv is empty"), "{}", stderr(&converted));
    desk.good("inspect b.parquet --json");
    let message = desk.bad("split a.tsv --dev 5 --out-dir d");
    assert_eq!(message, "error: a.tsv is empty\n");
    let message = desk.bad("augment a.tsv --sentences 5");
    assert!(message.contains("error: a.tsv is empty"), "{message}");
}

/// What is piped through leaves no trace in memory.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_stream() {
    let desk = Desk::new();
    let mut command = desk.command("filter - --max-words 100 --threads 1 -o -");
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let sentence = |i| format!("a source sentence {i}\tein Zielsatz {i}\n");
    let block = (0..10_000).map(sentence).collect::<Vec<String>>().concat();
    let mut written = 0;
    while written < 100 << 20 {
        stdin.write_all(block.as_bytes()).unwrap();
        written += block.len();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert!(peak < 40 << 10, "{peak} KiB for {} KiB of text", written >> 10);
}

#[test]
fn every_help_has_examples() {
    let desk = Desk::new();
    for command in ["", "inspect", "filter", "split", "convert", "make", "augment"] {
        let help = desk.good(&format!("{command} --help"));
        assert!(help.contains("Examples:"), "{command}");
    }
}

#[test]
fn sentences_are_imagined() {
    let desk = Desk::new();
    desk.good("make everyday --pairs 800 -o a.en -o a.de");
    let first = desk.good("augment a.en --sentences 200 --seed 4 --threads 1");
    assert_eq!(first, desk.good("augment a.en --sentences 200 --seed 4 --threads 2"));
    assert_ne!(first, desk.good("augment a.en --sentences 200 --seed 5"));
    let text = desk.get("a.en");
    let known: std::collections::HashSet<&str> = text.split_whitespace().collect();
    let read: std::collections::HashSet<&str> = text.lines().collect();
    assert_eq!(first.lines().collect::<std::collections::HashSet<_>>().len(), 200);
    for sentence in first.lines() {
        assert!(!read.contains(sentence), "{sentence} was read");
        assert!(sentence.split(' ').all(|word| known.contains(word)), "{sentence}");
    }
    desk.put("not.txt", first.lines().take(50).collect::<Vec<_>>().join("\n"));
    let other = desk.good("augment a.en --sentences 200 --seed 4 --exclude not.txt");
    assert!(other.starts_with(first.lines().nth(50).unwrap()), "the others move up");
    let report = desk.good("augment a.en --sentences 9 -o b.en.gz --json");
    assert!(report.contains("\"sentences\": 9"), "{report}");
}

#[test]
fn what_cannot_be_imagined_is_explained() {
    let desk = Desk::new();
    desk.put("one.txt", "just one sentence\n");
    desk.put("none.txt", "\n  \n");
    desk.put("bad.txt", b"good line\nbad \xff line\n");
    let cases = [
        ("augment one.txt --sentences 3 -o x.txt", "no more new sentences after 0"),
        ("augment none.txt --sentences 3 -o x.txt", "there are no words to read"),
        ("augment bad.txt --sentences 3 -o x.txt", "bad.txt, line 2"),
        ("augment one.txt --sentences 3 --order 1", "--order"),
        ("augment one.txt --sentences 3 --json", "give --output"),
        ("augment --sentences 3 --exclude -", "stdin is named 2 times"),
        ("augment one.txt --sentences 3 --exclude gone.txt", "gone.txt"),
    ];
    for (arguments, expected) in cases {
        let message = desk.bad(arguments);
        assert!(message.contains(expected), "{arguments}: {message}");
    }
    assert!(!desk.path().join("x.txt").exists(), "nothing is left of what failed");
}

/// What is read stays, and so does what exists, until the user says otherwise.
#[test]
fn nothing_is_overwritten_unasked() {
    let desk = Desk::new();
    desk.good("make everyday --pairs 40 -o a.en -o a.de");
    let (source, target) = (desk.get("a.en"), desk.get("a.de"));
    fs::hard_link(desk.path().join("a.en"), desk.path().join("hard.en")).unwrap();
    let cases = [
        ("convert a.en a.de -o x -o x", "x is named twice as an output"),
        ("convert a.en a.de -o x -o ./x", "./x is named twice as an output"),
        ("filter a.en a.de -o a.en -o z", "a.en is both read and written"),
        ("filter a.en a.de -o hard.en -o z", "hard.en is both read and written"),
        ("filter a.en a.de --exclude x.tsv -o x.tsv", "x.tsv is both read and written"),
        ("augment a.en --sentences 5 -o a.en", "a.en is both read and written"),
        ("make clock --pairs 5 -o x -o x", "x is named twice as an output"),
    ];
    for (arguments, expected) in cases {
        for force in ["", " --force"] {
            let message = desk.bad(&format!("{arguments}{force}"));
            assert!(message.contains(expected), "{arguments}{force}: {message}");
        }
    }
    let twice = [
        "convert a.en a.de -o b.tsv",
        "filter a.en a.de --max-words 9 -o c.en -o c.de",
        "augment a.en --sentences 5 --order 2 --least 1 -o d.en",
        "split a.en a.de --dev 5 --test 5 --out-dir e",
        "make clock --train 9 --dev 2 --test 2 --out-dir .",
        "make clock --pairs 9 -o f.tsv",
    ];
    for arguments in twice {
        desk.good(arguments);
        let message = desk.bad(arguments);
        assert!(message.contains("exist"), "{arguments}: {message}");
        assert!(message.contains("hint: --force replaces "), "{arguments}: {message}");
        desk.good(&format!("{arguments} --force"));
    }
    assert_eq!((desk.get("a.en"), desk.get("a.de")), (source, target));
    let message = desk.bad("split e/train.en e/train.de --dev 5 --out-dir e --force");
    assert!(message.contains("e/train.en is both read and written"), "{message}");
}

/// Whatever ends a command, what is half-written does not stay for ever.
#[cfg(unix)]
#[test]
fn what_is_half_written_goes_with_the_process_or_with_the_next() {
    let desk = Desk::new();
    desk.good("make everyday --pairs 200 -o a.en -o a.de");
    fs::create_dir(desk.path().join("out")).unwrap();
    let parts = || {
        let names = fs::read_dir(desk.path().join("out")).unwrap();
        names.filter(|entry| entry.as_ref().unwrap().file_name() != "other.tsv").count()
    };
    // The end of its input never comes.
    let begin = |signal: &str| {
        let mut command = desk.command("convert - -o out/a.en -o out/a.de");
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(b"one\teins\n").unwrap();
        let start = std::time::Instant::now();
        while parts() < 2 {
            assert!(start.elapsed().as_secs() < 60, "it writes nothing");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        child.wait().unwrap()
    };
    // Whoever started us in the background may have some ignored, and then so have commands.
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        if ignored >> (code - 129) & 1 == 1 {
            continue;
        }
        assert_eq!(begin(signal).code(), Some(code), "{signal}");
        assert_eq!(parts(), 0, "{signal}");
    }
    begin("-KILL");
    assert_eq!(parts(), 2, "nobody could have removed them");
    desk.good("convert a.en a.de -o out/other.tsv");
    assert_eq!(parts(), 0, "abandoned parts");
}
