//! `padir phrases`: the share of accepted translations.

use std::fs;

use serde_json::Value;

use crate::house::{House, text};

#[test]
fn accepted_translations_are_counted() {
    let house = House::build();
    let said = house.translate(&["--model", "padir", "one two"], "");
    let said = said.trim();
    assert!(!said.is_empty() && !said.contains(['|', '{', '[']), "{said}");
    let list = format!(
        "# a comment\none two => something else | {}!\nthree => no such answer\n",
        said.to_uppercase()
    );
    fs::write(house.path("list.txt"), list).unwrap();
    let asked = ["phrases", "--model", "padir", "list.txt"];
    let shown = house.run_any(&asked, b"");
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    let shown = text(&shown.stdout);
    assert!(shown.ends_with("list.txt: 1 of 2 accepted (50.0 %)\n"), "{shown}");
    assert!(
        shown.starts_with("three\t") && shown.contains("(accepted: no such answer)"),
        "{shown}"
    );
    let json = house.run_any(&[&asked[..], &["--json", "--at-least", "50"]].concat(), b"");
    assert!(json.status.success(), "{}", text(&json.stderr));
    let report: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&report[0]["sources"], &report[0]["accepted"]), (&2.into(), &1.into()));
    assert_eq!(report[0]["rejected"][0]["source"], "three");
}

#[test]
fn too_few_and_bad_lists_are_errors() {
    let house = House::build();
    fs::write(house.path("list.txt"), "one => no such answer\n").unwrap();
    fs::write(house.path("bad.txt"), "one => two\nthree\n").unwrap();
    fs::write(house.path("empty.txt"), "# nothing\n").unwrap();
    for (more, expected) in [
        (vec!["list.txt", "--at-least", "95"], "list.txt: 0.0 % are accepted, less than 95 %"),
        (vec!["list.txt", "--at-least", "101"], "--at-least 101 is not from 0 to 100"),
        (
            vec!["bad.txt"],
            "bad.txt is not a list of phrases: line 2: no `source => answer`\nhint: ",
        ),
        (vec!["empty.txt"], "empty.txt is empty"),
        (vec!["missing.txt"], "cannot read missing.txt"),
    ] {
        let all: Vec<&str> = ["phrases", "--model", "ar"].into_iter().chain(more).collect();
        let failed = house.run_any(&all, b"");
        assert_eq!(failed.status.code(), Some(1), "{all:?}");
        assert!(text(&failed.stderr).contains(expected), "{}", text(&failed.stderr));
    }
}
