//! Work that is interrupted, damaged, changed or impossible.

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use padir_base::random::Seed;
use padir_checkpoint::DecoderKind;

use super::house::{EMPTY, House, PAIRS, command, parts, report, sentence, text};

#[test]
fn a_killed_run_goes_on_where_it_was() {
    let house = House::build();
    // Long enough to be caught in the middle.
    let many = |name: &str| {
        let text = house.read(name).repeat(6);
        house.write(
            name,
            text.split_inclusive('\n').take(120).collect::<Vec<_>>().concat().as_str(),
        );
    };
    many("train.en");
    many("train.de");
    let slow = ["--part", "4", "--beam", "12", "--threads", "1"];
    house.distil("ar", "whole", &slow);
    let arguments = command("ar", "new", &slow);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let directory = house.path("new.de.parts");
    let mut child = house.command(&arguments).stderr(Stdio::null()).spawn().unwrap();
    let started = Instant::now();
    while parts(&directory) < 3 {
        assert!(started.elapsed() < Duration::from_mins(1), "no parts come");
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = parts(&directory);
    assert!((3..30).contains(&left), "{left}");
    assert!(!house.path("new.en").exists() && !house.path("new.de").exists());
    // One that is lost is made again; one that is not is not.
    fs::remove_file(directory.join("part-000002.jsonl")).unwrap();
    let kept = fs::metadata(directory.join("part-000001.jsonl")).unwrap().modified().unwrap();
    house.distil("ar", "new", &[&slow[..], &["--shard", "1/30"]].concat());
    let same = fs::metadata(directory.join("part-000001.jsonl")).unwrap().modified().unwrap();
    assert_eq!(kept, same);
    let again = house.try_run(&arguments);
    assert!(again.status.success(), "{}", text(&again.stderr));
    let said = text(&again.stderr);
    assert!(said.contains(&format!("{} of 30 parts are done already", left - 1)), "{said}");
    for side in ["en", "de"] {
        assert_eq!(house.read(&format!("new.{side}")), house.read(&format!("whole.{side}")));
    }
    assert!(!directory.exists());
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_to_go_on() {
    let house = House::build();
    let lines: String = (0..3000).map(|i| sentence(i, 6) + "\n").collect();
    house.write("train.en", &lines);
    house.write("train.de", &lines);
    let arguments = command("ar", "new", &["--part", "8", "--beam", "8"]);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let child = house.command(&arguments).stderr(Stdio::piped()).spawn().unwrap();
    let started = Instant::now();
    while parts(&house.path("new.de.parts")) < 1 {
        assert!(started.elapsed() < Duration::from_mins(1), "no parts come");
        std::thread::sleep(Duration::from_millis(2));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let errors = text(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "nothing that needs the files may go on: {errors}");
    assert!(errors.contains("error: stopped with") && errors.contains("hint: the same command"));
    assert!(parts(&house.path("new.de.parts")) >= 1);
    assert!(!house.path("new.de").exists());
}

#[test]
fn work_is_only_continued_by_the_same_work() {
    let house = House::build();
    house.make_model("other", DecoderKind::Causal, Seed(6));
    house.distil("ar", "new", &["--part", "4", "--shard", "1/2"]);
    let cases: [(&str, &str, &[&str], &str); 6] = [
        ("beam", "ar", &["--part", "4", "--beam", "4"], "decoding.num_beams is 5 there and 4 here"),
        ("part", "ar", &["--part", "5"], "part is 4 there and 5 here"),
        ("nbest", "ar", &["--part", "4", "--nbest", "2"], "nbest is 1 there and 2 here"),
        ("int8", "ar", &["--part", "4", "--int8"], "precision is \"f32\" there and \"int8\" here"),
        ("model", "other", &["--part", "4"], "model.model.safetensors is"),
        ("decoder", "parallel", &["--part", "4"], "decoding.method is \"beam\" there"),
    ];
    for (name, model, more, expected) in cases {
        let error = house.fail(model, "new", more);
        assert!(error.contains(expected) && error.contains("hint: "), "{name}: {error}");
    }
    let references = house.read("train.de");
    house.write("train.de", &references.replacen("one", "two", 1));
    let error = house.fail("ar", "new", &["--part", "4"]);
    assert!(error.contains("text is "), "another corpus: {error}");
    // What the work is not about may change: the names of files, what is done with empty lines, batches, shares.
    house.write("train.de", &references);
    for side in ["en", "de"] {
        fs::rename(house.path(&format!("train.{side}")), house.path(&format!("t.{side}"))).unwrap();
    }
    let same =
        "distil --model ar --part 4 t.en t.de -o new.en -o new.de --on-empty empty --batch 2";
    house.run(&same.split(' ').collect::<Vec<_>>());
    assert_eq!(house.lines("new.de")[EMPTY], "");
}

#[test]
fn finished_work_is_not_done_again() {
    let house = House::build();
    let first = report(&house.distil("ar", "new", &["--json"]));
    let written = |name: &str| fs::metadata(house.path(name)).unwrap().modified().unwrap();
    let time = written("new.de");
    assert_eq!(report(&house.distil("ar", "new", &["--json"])), first);
    assert_eq!(written("new.de"), time);
    let whole = house.read("new.de");
    // What a process leaves that is killed while it removes parts.
    fs::create_dir(house.path("new.de.parts")).unwrap();
    house.write("new.de.parts/part-000001.jsonl", "whatever\n");
    assert_eq!(report(&house.distil("ar", "new", &["--json"])), first);
    assert!(!house.path("new.de.parts").exists());
    // Damaged or missing files are made again, and so are those that were asked for differently.
    house.write("new.de", "damaged\n");
    house.distil("ar", "new", &[]);
    assert_eq!(house.read("new.de"), whole);
    fs::remove_file(house.path("new.en")).unwrap();
    house.distil("ar", "new", &[]);
    assert_eq!(house.read("new.en"), house.read("train.en"));
    house.distil("ar", "new", &["--on-empty", "drop"]);
    assert!(house.lines("new.de").len() < PAIRS);
}

#[test]
fn what_cannot_work_is_said_before_any_work() {
    let house = House::build();
    house.write("short.de", "one\n");
    house.write("nothing", "");
    house.write("tab.en", "one\ttwo\n");
    fs::create_dir(house.path("mine.de.parts")).unwrap();
    house.write("mine.de.parts/thesis.txt", "…");
    house.write("taken.de", "mine\n");
    let cases: [(&str, &str, &str); 15] = [
        (
            "unequal files",
            "train.en short.de -o a -o b",
            "train.en has 23 lines, but short.de has 1",
        ),
        ("no pairs", "nothing nothing -o a -o b", "nothing + nothing is empty"),
        ("no corpus", "-o a -o b", "no corpus is named"),
        ("no such file", "nowhere train.de -o a -o b", "nowhere"),
        ("stdout", "train.en train.de -o -", "--output -"),
        ("itself", "train.en train.de -o new.en -o ./train.de", "both read and written"),
        ("twice", "train.en train.de -o a -o a", "a is named twice"),
        ("somebody's", "train.en train.de -o a -o taken.de", "taken.de exists\nhint: --force"),
        ("no directory", "train.en train.de -o no/a -o no/b", "no/a: there is no such directory"),
        ("a tab", "tab.en short.de -o a.tsv", "contains a tab"),
        (
            "steps of a beam",
            "train.en train.de -o a -o b --steps 2",
            "--steps is for a parallel model",
        ),
        ("no such setting", "train.en train.de -o a -o b --set x=1", "beam has no setting `x`"),
        ("no beam", "train.en train.de -o a -o b --beam 0", "no 1 translations"),
        ("foreign files", "train.en train.de -o mine.en -o mine.de", "thesis.txt"),
        ("wrong groups", "train.en train.de -o a -o b --set groups=3", "groups"),
    ];
    for (name, rest, expected) in cases {
        let arguments = format!("distil --model ar {rest}");
        let output = house.try_run(&arguments.split(' ').collect::<Vec<_>>());
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{name}: {errors}");
        assert!(errors.starts_with("error: ") && errors.contains(expected), "{name}: {errors}");
        assert!(!house.path("a").exists() && !house.path("b").exists(), "{name}");
    }
    // Settings that failed at once do not stand in the way of better ones.
    house.run(&["distil", "--model", "ar", "train.en", "train.de", "-o", "a", "-o", "b"]);
    assert_eq!(house.lines("b").len(), PAIRS);
    for shard in ["0/2", "3/2", "2", "x/y"] {
        let error = house.try_run(&[
            "distil", "--model", "ar", "train.en", "train.de", "-o", "c", "-o", "d", "--shard",
            shard,
        ]);
        assert_eq!(error.status.code(), Some(2), "{shard}");
    }
}

#[test]
fn a_damaged_part_is_named_and_made_again_once_removed() {
    let house = House::build();
    house.distil("ar", "whole", &["--part", "6"]);
    house.distil("ar", "new", &["--part", "6", "--shard", "1/2"]);
    let part = house.path("new.de.parts/part-000003.jsonl");
    fs::write(&part, "{\"sources\":6}\n").unwrap();
    let error = house.fail("ar", "new", &["--part", "6"]);
    assert!(error.contains("part-000003.jsonl is not usable"), "{error}");
    assert!(error.contains("hint: remove it"), "{error}");
    assert!(!house.path("new.de").exists());
    fs::remove_file(part).unwrap();
    house.distil("ar", "new", &["--part", "6"]);
    assert_eq!(house.read("new.de"), house.read("whole.de"));
}
