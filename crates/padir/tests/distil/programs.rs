//! Programs as teachers.

use std::fs;

use crate::house::{BLANK, EMPTY, House, PAIRS, names, report, text};

const OUTPUTS: [&str; 6] = ["train.en", "train.de", "-o", "new.en", "-o", "new.de"];

fn distil<'a>(program: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["distil", "--command", program, "--part", "4"][..], more, &OUTPUTS].concat()
}

#[test]
fn any_program_can_teach() {
    for workers in ["1", "3"] {
        let house = House::build();
        house.run(&distil("tr a-z A-Z", &["--workers", workers]));
        assert_eq!(house.read("new.en"), house.read("train.en"), "sources stay");
        let references = house.lines("train.de");
        let expected: Vec<String> =
            house.lines("train.en").iter().map(|s| s.to_uppercase()).collect();
        for (line, (found, expected)) in house.lines("new.de").iter().zip(&expected).enumerate() {
            let kept = [EMPTY, BLANK].contains(&line);
            let expected = if kept { &references[line] } else { expected };
            assert_eq!(found.trim(), expected.trim(), "line {line}, {workers} workers");
        }
        assert!(!house.path("new.de.parts").exists());
        let report = report(&house.read("new.de.report.json"));
        assert_eq!(report["pairs"], PAIRS);
        assert_eq!(report["manifest"]["config"]["command"], "tr a-z A-Z");
    }
}

#[test]
fn what_a_program_has_done_is_kept() {
    let house = House::build();
    // Fails at the third part, once.
    let flaky = "n=$(($(cat count 2>/dev/null || echo 0) + 1)); echo $n > count; [ $n != 3 ] || exit 9; cat";
    let failed = house.try_run(&distil(flaky, &["--retries", "0"]));
    let errors = text(&failed.stderr);
    assert!(!failed.status.success());
    for part in ["failed at part 3", "exit status: 9", "goes on from there"] {
        assert!(errors.contains(part), "{part}: {errors}");
    }
    assert!(!house.path("new.de").exists());
    let done = names(&house.path("new.de.parts"));
    assert_eq!(done.iter().filter(|name| name.starts_with("part-")).count(), 2, "{done:?}");
    let resumed = house.try_run(&distil(flaky, &["--retries", "0"]));
    assert!(
        resumed.status.success() && text(&resumed.stderr).contains("2 of 6 parts are done already"),
        "{}",
        text(&resumed.stderr)
    );
    assert_eq!(house.lines("new.de").len(), PAIRS);
    // Started again by itself.
    fs::remove_file(house.path("count")).unwrap();
    for file in ["new.en", "new.de", "new.de.report.json"] {
        fs::remove_file(house.path(file)).unwrap();
    }
    let repeated = house.try_run(&distil(flaky, &["--retries", "1"]));
    assert!(
        repeated.status.success() && text(&repeated.stderr).contains("started again"),
        "{}",
        text(&repeated.stderr)
    );
}

#[test]
fn programs_that_misbehave_are_named() {
    let house = House::build();
    let cases = [
        ("sed 2d", "lines for"),
        ("sed p", "more than the 4 lines"),
        ("printf '\\377\\n'", "not UTF-8"),
        ("sleep 600", "wrote nothing for 1 s"),
    ];
    for (program, fact) in cases {
        let more = ["--retries", "0", "--timeout", "1"];
        let failed = house.try_run(&distil(program, &more));
        let errors = text(&failed.stderr);
        assert!(!failed.status.success(), "{program}");
        assert!(errors.contains(&format!("`{program}` failed at part 1")), "{program}: {errors}");
        assert!(errors.contains(fact), "{program}: {errors}");
    }
    let refused: [&[&str]; 3] = [&["--beam", "3"], &["--model", "ar"], &["--nbest", "2"]];
    for more in refused {
        let failed = house.try_run(&distil("cat", more));
        assert_eq!(failed.status.code(), Some(2), "{more:?}: {}", text(&failed.stderr));
    }
    let none = [&["distil"][..], &OUTPUTS].concat();
    let none = house.try_run(&none);
    assert!(text(&none.stderr).contains("--model"), "{}", text(&none.stderr));
}
