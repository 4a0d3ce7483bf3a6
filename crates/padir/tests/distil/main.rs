//! `padir distil` as a user runs it. The teachers are random: what they say is nonsense, but always the same.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod faults;
mod house;
#[cfg(unix)]
mod programs;

use std::fs;
use std::process::Stdio;

use house::{BLANK, EMPTY, House, PAIRS, command, report, text};

#[test]
fn targets_are_what_the_teacher_says_line_by_line() {
    let house = House::build();
    let references: Vec<String> = house.lines("train.de");
    let cases: [(&str, &[&str], &[&str]); 4] = [
        ("ar", &[], &["--beam", "5"]),
        ("ar", &["--beam", "2", "--int8"], &["--beam", "2", "--int8"]),
        ("ar", &["--set", "num_beams=3"], &["--beam", "3"]),
        ("parallel", &["--steps", "2", "--lengths", "2"], &["--steps", "2", "--lengths", "2"]),
    ];
    for (model, distil, translate) in cases {
        let mut expected = house.translate(&[&[model], translate].concat());
        assert!(expected[EMPTY].is_empty() && expected[BLANK].is_empty());
        let full = expected.iter().filter(|text| !text.is_empty()).count();
        assert!(full >= 10, "{model}: a teacher of few words shows little: {expected:?}");
        for (text, reference) in expected.iter_mut().zip(&references) {
            if text.is_empty() {
                text.clone_from(reference);
            }
        }
        house.distil(model, "new", &[distil, &["--part", "5"]].concat());
        assert_eq!(house.read("new.en"), house.read("train.en"), "{model}: sources stay");
        assert_eq!(house.lines("new.de"), expected, "{model} {distil:?}");
        assert!(!house.path("new.de.parts").exists());
    }
}

#[test]
fn neither_batches_nor_parts_nor_threads_show() {
    let house = House::build();
    for model in ["ar", "parallel"] {
        house.distil(model, "plain", &[]);
        let ways: [&[&str]; 4] = [
            &["--part", "1"],
            &["--part", "7", "--batch", "1"],
            &["--batch", "3"],
            &["--threads", "3", "--part", "4"],
        ];
        for (number, way) in ways.iter().enumerate() {
            let name = format!("way{number}");
            house.distil(model, &name, way);
            for side in ["en", "de"] {
                let (plain, other) =
                    (house.read(&format!("plain.{side}")), house.read(&format!("{name}.{side}")));
                assert_eq!(plain, other, "{model} {way:?}");
            }
        }
    }
}

#[test]
fn shards_in_any_order_make_the_whole() {
    let house = House::build();
    house.distil("ar", "whole", &["--part", "4"]);
    let shard =
        |shard: &str| house.distil("ar", "new", &["--part", "4", "--json", "--shard", shard]);
    for (number, done) in [("3/3", 2), ("1/3", 4)] {
        let said = report(&shard(number));
        assert_eq!((&said["complete"], &said["done"]), (&false.into(), &done.into()), "{said}");
        assert!(!house.path("new.en").exists() && !house.path("new.de").exists());
    }
    let said = report(&shard("2/3"));
    assert_eq!(said["complete"], true);
    assert!(!house.path("new.de.parts").exists());
    for side in ["en", "de"] {
        assert_eq!(house.read(&format!("new.{side}")), house.read(&format!("whole.{side}")));
    }
    // All at once, and one that takes what the others leave.
    let start = |more: &[&str]| {
        let arguments = command("ar", "at-once", &[&["--part", "4"], more].concat());
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = house.command(&arguments);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let workers = ["1/3", "2/3", "3/3"].map(|shard| start(&["--shard", shard]));
    let whole = start(&[]);
    for worker in workers.into_iter().chain([whole]) {
        let output = worker.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
    for side in ["en", "de"] {
        assert_eq!(house.read(&format!("at-once.{side}")), house.read(&format!("whole.{side}")));
    }
    assert!(!house.path("at-once.de.parts").exists());
}

/// What becomes of a pair with this reference.
type Fate = fn(&str) -> Option<String>;

#[test]
fn pairs_without_a_translation_are_kept_emptied_or_dropped() {
    let house = House::build();
    let (sources, references) = (house.lines("train.en"), house.lines("train.de"));
    let said = house.translate(&["ar", "--beam", "5"]);
    let silent = said.iter().filter(|text| text.is_empty()).count();
    let told = house.translate(&["ar", "--beam", "5", "--json"]);
    let cut = told.iter().filter(|line| line.contains("\"cut\":true")).count();
    assert!(silent > 2, "the teacher has nothing to say to some sources with words: {said:?}");
    let cases: [(&str, Fate); 3] = [
        ("keep-reference", |reference| Some(reference.to_owned())),
        ("empty", |_| Some(String::new())),
        ("drop", |_| None),
    ];
    for (what, fate) in cases {
        let found = report(&house.distil("ar", what, &["--on-empty", what, "--json"]));
        let pairs = sources.iter().zip(&references).zip(&said);
        let (left, right): (Vec<String>, Vec<String>) = pairs
            .filter_map(|((source, reference), said)| {
                let target = if said.is_empty() { fate(reference) } else { Some(said.clone()) };
                Some((source.clone(), target?))
            })
            .unzip();
        assert_eq!(house.lines(&format!("{what}.en")), left, "{what}");
        assert_eq!(house.lines(&format!("{what}.de")), right, "{what}");
        assert_eq!(found["written"], left.len(), "{what}: {found}");
        assert_eq!(found["empty_sources"], 2, "{what}: {found}");
        assert_eq!(found["empty_translations"], silent - 2, "{what}: {found}");
        assert_eq!(found["cut_translations"], cut, "{what}: {found}");
    }
}

#[test]
fn several_translations_are_pairs_of_their_own() {
    let house = House::build();
    let more = ["--nbest", "3", "--on-empty", "drop", "--part", "6", "--json"];
    let found = report(&house.distil("ar", "three", &more));
    let (sources, targets) = (house.lines("three.en"), house.lines("three.de"));
    assert_eq!(
        (sources.len(), found["written"].as_u64()),
        (targets.len(), Some(targets.len() as u64))
    );
    let mut expected: Vec<(usize, String)> = Vec::new();
    for line in house.translate(&["ar", "--beam", "5", "--nbest", "3"]) {
        let fields: Vec<&str> = line.split("|||").map(str::trim).collect();
        let pair = (fields[0].parse().unwrap(), fields[1].to_owned());
        if !pair.1.is_empty() && !expected.contains(&pair) {
            expected.push(pair);
        }
    }
    let mut translated: Vec<usize> = expected.iter().map(|(line, _)| *line).collect();
    translated.dedup();
    assert!(expected.len() > translated.len(), "some have several: {expected:?}");
    assert_eq!(
        found["distilled"]["pairs"],
        translated.len(),
        "figures are about the first of each"
    );
    let all = house.lines("train.en");
    let expected: Vec<(String, String)> =
        expected.into_iter().map(|(line, text)| (all[line - 1].clone(), text)).collect();
    assert_eq!(sources.into_iter().zip(targets).collect::<Vec<_>>(), expected);
    let error = house.fail("ar", "six", &["--nbest", "6"]);
    assert!(error.contains("a beam of 5 has no 6") && error.contains("hint: --beam 6"), "{error}");
}

#[test]
fn the_report_says_what_other_commands_say() {
    let house = House::build();
    let printed = report(&house.distil("ar", "new", &["--json", "--on-empty", "empty"]));
    assert_eq!(report(&house.read("new.de.report.json")), printed);
    let number = |path: &str| {
        let value = printed.pointer(path).unwrap_or_else(|| panic!("{path}: {printed}"));
        value.as_f64().unwrap_or_else(|| panic!("{path}: {value}"))
    };
    assert_eq!((number("/pairs"), number("/written")), (PAIRS as f64, PAIRS as f64));
    for (metric, path) in [("bleu", "/bleu/score"), ("chrf", "/chrf/score")] {
        let scored = house.run(&[
            "score",
            "train.de",
            "new.de",
            "--metrics",
            metric,
            "--width",
            "6",
            "--json",
        ]);
        let scored = report(&scored);
        let first = if scored.is_array() { &scored[0] } else { &scored };
        let expected = first["score"].as_f64().unwrap_or_else(|| panic!("{scored}"));
        assert!((number(path) - expected).abs() < 1e-5, "{metric}: {} {expected}", number(path));
    }
    let count = |name: &str| {
        let ids = house.run(&["vocab", "encode", "--vocab", "vocab", name]);
        ids.split_whitespace().count() as f64
    };
    let [source, reference, distilled] = ["train.en", "train.de", "new.de"].map(count);
    let near = |path: &str, expected: f64| {
        assert!((number(path) - expected).abs() < 1e-9, "{path}: {} {expected}", number(path));
    };
    near("/reference/target_tokens", reference);
    near("/distilled/target_tokens", distilled);
    near("/reference/length_ratio", reference / source);
    near("/distilled/length_ratio", distilled / source);
    let (old, new) = (house.lines("train.de"), house.lines("new.de"));
    let changed = old.iter().zip(&new).filter(|(old, new)| old != new).count();
    near("/changed", changed as f64);
    // References have two words; some say one twice.
    let repeated =
        old.iter().filter(|line| line.split(' ').next() == line.split(' ').nth(1)).count();
    near("/reference/stutter", 1000.0 * repeated as f64 / (2 * PAIRS) as f64);
    for path in [
        "/reference/entropy/unigram",
        "/distilled/entropy/unigram",
        "/cost/seconds",
        "/tokens_per_second",
    ] {
        assert!(number(path) > 0.0, "{path}");
    }
    assert!(number("/reference/entropy/bigram") <= number("/reference/entropy/unigram"));
    assert!(number("/reference/entropy/lexical") > 0.0);
    let table = house.distil("ar", "new", &["--on-empty", "empty"]);
    for row in ["reference  distilled", "BLEU", "changed targets", "H(token | token before), bits"]
    {
        assert!(table.contains(row), "{table}");
    }
}

#[test]
fn every_form_of_corpus_is_read_and_written() {
    let house = House::build();
    house.distil("ar", "plain", &["--on-empty", "empty"]);
    house.run(&["data", "convert", "train.en", "train.de", "-o", "train.tsv.gz"]);
    house.run(&["data", "convert", "train.en", "train.de", "-o", "train.parquet"]);
    let cases = [
        "train.tsv.gz -o new.tsv.zst",
        "train.parquet -o new.parquet",
        "train.tsv.gz -o new.xz -o newer.gz",
    ];
    for case in cases {
        let arguments = format!("distil --model ar --on-empty empty --part 9 {case}");
        house.run(&arguments.split(' ').collect::<Vec<_>>());
        let outputs: Vec<&str> = case.split(" -o ").skip(1).collect();
        let back = ["-o", "back.en", "-o", "back.de", "--force"];
        let back = [&["data", "convert"], &outputs[..], &back].concat();
        house.run(&back);
        for side in ["en", "de"] {
            assert_eq!(
                house.read(&format!("back.{side}")),
                house.read(&format!("plain.{side}")),
                "{case}"
            );
        }
    }
    let piped = house
        .command(&[
            "distil",
            "--model",
            "ar",
            "--on-empty",
            "empty",
            "-",
            "-o",
            "piped.en",
            "-o",
            "piped.de",
        ])
        .stdin(fs::File::open(house.path("train.tsv.gz")).unwrap())
        .output()
        .unwrap();
    assert!(piped.status.success(), "{}", text(&piped.stderr));
    assert_eq!(house.read("piped.de"), house.read("plain.de"));
}
