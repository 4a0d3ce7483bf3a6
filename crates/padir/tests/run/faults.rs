//! Recipes that are none, and flags that set nothing.

use crate::fixture::{RECIPE, errors, fixture, run};

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
                "is `length_penalty` meant?",
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
        let folder = fixture(&format!("dir = \"out\"\n{text}"));
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
    let folder = fixture(RECIPE);
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
