//! What is built in: licences and sources as `deny.toml` allows, and a translator without the heavy crates.
//!
//! `cargo deny check` says more, where it is installed; this runs wherever the tests do.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// What cargo prints, run at the root of the workspace.
fn cargo(arguments: &[&str]) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output =
        Command::new(env!("CARGO")).args(arguments).current_dir(root).output().expect("cargo runs");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {}: {complaint}", arguments.join(" "));
    String::from_utf8(output.stdout).expect("cargo prints UTF-8")
}

/// Whether a licence expression (SPDX, or the old form A/B) is satisfied by allowed licences.
///
/// AND binds more tightly than OR; parentheses group.
fn is_satisfied(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (satisfied, rest) = any(&words, allowed);
    assert!(rest.is_empty(), "{expression}: {rest:?} is left");
    satisfied
}

fn any<'w>(words: &'w [&'w str], allowed: &[String]) -> (bool, &'w [&'w str]) {
    let (mut satisfied, mut rest) = all(words, allowed);
    while let ["OR", tail @ ..] = rest {
        let (next, after) = all(tail, allowed);
        (satisfied, rest) = (satisfied | next, after);
    }
    (satisfied, rest)
}

fn all<'w>(words: &'w [&'w str], allowed: &[String]) -> (bool, &'w [&'w str]) {
    let (mut satisfied, mut rest) = one(words, allowed);
    while let ["AND", tail @ ..] = rest {
        let (next, after) = one(tail, allowed);
        (satisfied, rest) = (satisfied & next, after);
    }
    (satisfied, rest)
}

fn one<'w>(words: &'w [&'w str], allowed: &[String]) -> (bool, &'w [&'w str]) {
    match words {
        ["(", tail @ ..] => {
            let (satisfied, rest) = any(tail, allowed);
            let [")", rest @ ..] = rest else { panic!("a parenthesis is open before {rest:?}") };
            (satisfied, rest)
        }
        [licence, "WITH", exception, rest @ ..] => {
            (allowed.contains(&format!("{licence} WITH {exception}")), rest)
        }
        [licence, rest @ ..] => (allowed.iter().any(|known| known == licence), rest),
        [] => panic!("a licence is missing"),
    }
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0", "Zlib"].map(str::to_owned);
    let cases = [
        ("MIT", true),
        ("GPL-3.0", false),
        ("GPL-3.0 OR MIT", true),
        ("GPL-3.0 AND MIT", false),
        ("MIT/Apache-2.0", true),
        ("(GPL-3.0 OR Zlib) AND MIT", true),
        ("(GPL-3.0 OR BSL-1.0) AND MIT", false),
        ("Zlib OR GPL-3.0 AND LGPL-3.0", true),
        ("Apache-2.0 WITH LLVM-exception", false),
    ];
    for (expression, expected) in cases {
        assert_eq!(is_satisfied(expression, &allowed), expected, "{expression}");
    }
}

#[test]
fn licences_and_sources_are_allowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let rules: toml::Table =
        std::fs::read_to_string(root.join("deny.toml")).unwrap().parse().unwrap();
    let allowed: Vec<String> = rules["licenses"]["allow"].clone().try_into().unwrap();
    let exceptions = rules["licenses"]["exceptions"].as_array().unwrap();
    let banned: Vec<&str> = rules["bans"]["deny"]
        .as_array()
        .unwrap()
        .iter()
        .map(|crate_| crate_["name"].as_str().unwrap())
        .collect();
    let tree = cargo(&[
        "tree",
        "--workspace",
        "--locked",
        "--offline",
        "-e",
        "normal,build",
        "--prefix",
        "none",
        "--format",
        "{p}|{l}|",
    ]);
    let crates: BTreeSet<&str> = tree.lines().filter(|line| !line.is_empty()).collect();
    assert!(crates.len() > 100, "{} crates", crates.len());
    for line in crates {
        // `name v1.2.3|licence|`, with the place of a crate that does not come from the registry after its version.
        let [package, licence, ..] = line.split('|').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let name = package.split(' ').next().unwrap_or_default();
        let excepted = exceptions.iter().any(|exception| {
            exception["name"].as_str() == Some(name)
                && exception["allow"].as_array().is_some_and(|all| all.contains(&licence.into()))
        });
        assert!(
            excepted || is_satisfied(licence, &allowed),
            "{name} has the licence {licence:?}; deny.toml does not allow it"
        );
        let is_known = name.starts_with("padir") || !package.contains("://");
        assert!(is_known, "{package} does not come from the registry");
        assert!(!banned.contains(&name), "{name} is banned by deny.toml");
    }
}

/// What neither a translator nor a server needs.
const HEAVY: [&str; 7] =
    ["burn", "gemm", "parquet", "faer", "padir-train", "padir-model", "padir-lab"];

#[test]
fn a_translator_is_built_without_the_heavy_crates() {
    let tree = cargo(&[
        "tree",
        "--locked",
        "--offline",
        "-p",
        "padir",
        "--no-default-features",
        "--features",
        "translate",
        "-e",
        "normal",
        "--prefix",
        "none",
    ]);
    let crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains(&"padir-translate"), "{tree}");
    let server = ["axum", "hyper", "tokio", "padir-serve"];
    for heavy in HEAVY.into_iter().chain(server) {
        assert!(!crates.contains(&heavy), "{heavy} is part of the translator:\n{tree}");
    }
}

#[test]
fn a_server_is_built_without_the_heavy_crates() {
    let features = ["--no-default-features", "--features", "translate,serve"];
    let start =
        ["tree", "--locked", "--offline", "-p", "padir", "-e", "normal", "--prefix", "none"];
    let tree = cargo(&[&start[..], &features[..]].concat());
    let crates: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    assert!(crates.contains(&"padir-serve"), "{tree}");
    for heavy in HEAVY {
        assert!(!crates.contains(&heavy), "{heavy} is part of the server:\n{tree}");
    }
}
