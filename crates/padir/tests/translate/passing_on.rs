//! Models that are made smaller and passed on.

use std::fs;

use serde_json::Value;

use crate::house::{House, SENTENCES, text};

#[test]
fn a_quantised_model_translates_like_the_original_in_8_bits() {
    let house = House::build();
    for model in ["ar", "padir"] {
        let made = house.run_any(&["quantize", model, "--output", "small", "--json"], b"");
        assert!(made.status.success(), "{}", text(&made.stderr));
        let report: Value = serde_json::from_slice(&made.stdout).unwrap();
        let bytes = |key: &str| report[key].as_u64().unwrap();
        assert!(3 * bytes("bytes") < bytes("bytes_before"), "{report}");
        let whole = house.translate(&["--model", model, "--int8"], SENTENCES);
        assert_eq!(house.translate(&["--model", "small", "--int8"], SENTENCES), whole, "{model}");
        assert_eq!(
            house.translate(&["--model", "small"], SENTENCES),
            whole,
            "{model}, as it is kept"
        );
        assert_eq!(house.translate(&["--model", "small", "--f32"], SENTENCES).lines().count(), 6);
        let taken = house.run_any(&["quantize", model, "--output", "small"], b"");
        assert!(text(&taken.stderr).contains("small exists\nhint: --force"), "{model}");
        fs::remove_dir_all(house.path("small")).unwrap();
    }
}

#[test]
fn a_model_is_passed_on_with_a_card() {
    let house = House::build();
    fs::write(house.path("test.a"), "one two\nthree four five\n").unwrap();
    fs::write(house.path("test.b"), "two one\nfive four three\n").unwrap();
    let evaluated = house.run_any(
        &[
            "evaluate",
            "--model",
            "padir",
            "test.a",
            "test.b",
            "--steps",
            "2",
            "--lengths",
            "1",
            "--set",
            "length_penalty=1.5",
            "--int8",
            "--json",
        ],
        b"",
    );
    assert!(evaluated.status.success(), "{}", text(&evaluated.stderr));
    fs::write(house.path("test.json"), &evaluated.stdout).unwrap();
    let single = text(&evaluated.stdout).replace("\"int8\"", "\"f32\"");
    fs::write(house.path("single.json"), single).unwrap();
    let words = "title = \"Numbers\"\nlanguages = [\"en\"]\ntraining_data = \"none\"\nattribution = \"nobody\"\n\
        licence = \"CC0-1.0\"\nlimits = \"It is random.\"\ntest_set = \"two lines\"\n";
    fs::write(house.path("card.toml"), words).unwrap();
    let pack = |more: &[&str]| {
        let output = if more.contains(&"--output") { &[][..] } else { &["--output", "small"] };
        let all = ["quantize", "padir", "--force", "--card", "card.toml"];
        house.run_any(&[&all, output, more].concat(), b"")
    };
    let scored = ["--evaluation", "test.json", "--set", "lengths=1", "--set"];
    let done = pack(&[&scored[..], &["steps=2"], &["--set", "length_penalty=1.5"]].concat());
    assert!(done.status.success(), "{}", text(&done.stderr));
    let card = fs::read_to_string(house.path("small/README.md")).unwrap();
    for expected in
        ["# Numbers", "nobody", "| two lines, steps2.lengths1, int8 | BLEU | ", "It is random."]
    {
        assert!(card.contains(expected), "{expected}\n{card}");
    }
    let settings = fs::read_to_string(house.path("small/generation_config.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    assert_eq!(settings["padir"]["length_penalty"], 1.5);
    // The model decodes with what it carries.
    let asked = ["--steps", "2", "--lengths", "1", "--set", "length_penalty=1.5"];
    let asked: Vec<&str> = ["--model", "padir", "--int8"].iter().chain(&asked).copied().collect();
    let carried = house.translate(&["--model", "small", "--int8"], SENTENCES);
    assert_eq!(carried, house.translate(&asked, SENTENCES));
    let cases = [
        (vec!["--set", "stepps=2"], "refine has no setting `stepps`; is `steps` meant?"),
        (vec!["--set", "steps"], "is not of the form key=value"),
        (vec!["--set", "steps=many"], "steps"),
        ([&scored[..], &["steps=9"]].concat(), "was not made with the settings of this model"),
        ([&scored[..], &["steps=2"]].concat(), "was not made with the settings of this model"),
        (vec!["--set", "eos_token_id=7"], "refine has no setting `eos_token_id`"),
        (vec!["--evaluation", "card.toml"], "is not an evaluation"),
        (vec!["--evaluation", "single.json"], "was made f32, as the new model does not compute"),
        ([&scored[..], &["max_length=9"]].concat(), "was not made with the settings of this model"),
        (vec!["--output", "./padir"], "./padir is both read and written"),
    ];
    fs::write(
        house.path("other.json"),
        text(&evaluated.stdout).replacen("model.safetensors", "x", 1),
    )
    .unwrap();
    let other = ["--evaluation", "other.json", "--set", "lengths=1", "--set", "steps=2"];
    let other = (other.to_vec(), "is about another model");
    for (more, expected) in cases.into_iter().chain([other]) {
        let failed = pack(&more);
        assert_eq!(failed.status.code(), Some(1), "{more:?}");
        assert!(text(&failed.stderr).contains(expected), "{}", text(&failed.stderr));
    }
}

/// Languages stand in the configuration, where other programs than ours find them too.
#[test]
fn the_languages_of_a_card_become_the_models() {
    let house = House::build();
    let card = |name: &str, languages: &str| {
        let words = format!(
            "title = \"Numbers\"\nlanguages = {languages}\ntraining_data = \"none\"\nattribution = \"nobody\"\n\
             licence = \"CC0-1.0\"\nlimits = \"It is random.\"\n"
        );
        fs::write(house.path(name), words).unwrap();
    };
    card("card.toml", "[\"en\", \"de\"]");
    card("other.toml", "[\"de\", \"en\"]");
    card("bad.toml", "[\"e n\", \"de\"]");
    let pack = |from: &str, to: &str, card: &str| {
        house.run_any(&["quantize", from, "--output", to, "--card", card], b"")
    };
    let made = pack("padir", "small", "card.toml");
    assert!(made.status.success(), "{}", text(&made.stderr));
    let config = fs::read_to_string(house.path("small/config.json")).unwrap();
    let config: Value = serde_json::from_str(&config).unwrap();
    assert_eq!(
        (&config["source_language"], &config["target_language"]),
        (&"en".into(), &"de".into())
    );
    for (from, card, expected) in [
        ("small", "other.toml", "the model translates en into de; its card says de into en"),
        ("padir", "bad.toml", "\"e n\" is not the code of a language"),
    ] {
        let failed = pack(from, "again", card);
        assert!(text(&failed.stderr).contains(expected), "{}", text(&failed.stderr));
        assert!(!house.path("again").exists());
    }
}
