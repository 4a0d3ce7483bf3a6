//! `padir translate` as a user runs it. The models are random: what they say is nonsense, but always the same.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

mod faults;
mod house;
mod int8;
mod manual;
mod overflow;
mod passing_on;
mod phrases;
mod rerank;
#[cfg(unix)]
mod terminal;

use std::fs;

use padir_checkpoint::{Decoder, DecoderKind, InitialTokens, ModelConfig, Preset, Symbols};
use padir_text::vocab::Vocabulary;
use serde_json::Value;

use house::{House, SENTENCES, text};

#[test]
fn a_line_comes_of_a_line_whatever_the_batch() {
    let house = House::build();
    for model in ["ar", "padir"] {
        for more in [&[][..], &["--int8"][..]] {
            let with = |extra: &[&str]| {
                let all: Vec<&str> =
                    ["--model", model].iter().chain(more).chain(extra).copied().collect();
                house.translate(&all, SENTENCES)
            };
            let whole = with(&[]);
            let lines: Vec<&str> = whole.split('\n').collect();
            assert_eq!(lines.len(), 7, "{whole}");
            assert_eq!((lines[2], lines[6]), ("", ""), "an empty line stays empty");
            assert_eq!(lines[0], lines[5], "what says the same is translated the same");
            assert_eq!(whole, with(&["--batch", "1"]), "{model} {more:?}: batches do not matter");
            assert_eq!(whole, with(&["--threads", "3"]), "{model} {more:?}: threads do not matter");
            let alone = house.translate(
                &["--model", model]
                    .iter()
                    .chain(more)
                    .chain(&["four"])
                    .copied()
                    .collect::<Vec<_>>(),
                "",
            );
            assert_eq!(alone.trim_end_matches('\n'), lines[1], "nor where a text comes from");
        }
    }
}

#[test]
fn lists_scores_records_and_traces_agree() {
    let house = House::build();
    for model in ["ar", "padir"] {
        let plain = house.translate(&["--model", model, "one two three"], "");
        let scored = house.translate(&["--model", model, "--scores", "one two three"], "");
        let (score, same) = scored.split_once('\t').unwrap();
        assert_eq!(same, plain);
        let list = house.translate(&["--model", model, "--nbest", "3", "one two three"], "");
        let first = list.lines().next().unwrap();
        assert_eq!(first, format!("1 ||| {} ||| {score}", plain.trim_end_matches('\n')));
        assert!((1..=3).contains(&list.lines().count()));
        let json = house.translate(
            &["--model", model, "--json", "--force", "--trace", "steps.jsonl", "one two three", ""],
            "",
        );
        let records: Vec<Value> = json.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        assert_eq!(records.len(), 2);
        assert_eq!(records[0]["text"].as_str(), Some(plain.trim_end_matches('\n')));
        assert_eq!(records[0]["source"], "one two three");
        assert_eq!(records[1]["text"], "");
        let trace = fs::read_to_string(house.path("steps.jsonl")).unwrap();
        let steps: Vec<Value> = trace.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let winner = &records[0]["alternatives"][0]["hypotheses"][0];
        assert!(model == "ar" || steps.iter().any(|step| step["hypothesis"] == *winner));
        for step in &steps {
            assert_eq!(step["line"], 1);
            assert_eq!(
                step["tokens"].as_array().unwrap().len(),
                step["pieces"].as_array().unwrap().len()
            );
        }
    }
}

#[test]
fn settings_reach_the_decoder() {
    let house = House::build();
    let events = |arguments: &[&str]| -> Vec<Value> {
        let usual = ["--model", "padir", "--force", "--trace", "t.jsonl", "one two three"];
        house.translate(&[&usual, arguments].concat(), "");
        let text = fs::read_to_string(house.path("t.jsonl")).unwrap();
        text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
    };
    let trace = |arguments: &[&str]| {
        let steps = events(arguments);
        let most = |key: &str| steps.iter().map(|s| s[key].as_u64().unwrap()).max().unwrap();
        (most("step"), most("hypothesis") + 1)
    };
    assert_eq!(trace(&["--steps", "1", "--lengths", "2"]), (1, 2));
    assert_eq!(trace(&["--steps", "3", "--lengths", "1", "--set", "halt.rule=never"]), (3, 1));
    assert_eq!(trace(&["--exact-paper", "--steps", "2", "--lengths", "4"]).1, 4);
    let fast = events(&["--fast", "--lengths", "5", "--set", "halt.rule=never"]);
    let live = |step: u64| fast.iter().filter(|event| event["step"] == step).count();
    assert_eq!([1, 2, 3, 4].map(live), [5, 3, 2, 1], "of five three go on, then two, then one");
    let watch = ["translate", "--model", "padir", "--watch", "--lengths", "2", "one two"];
    let watched = house.run_any(&watch, b"");
    let shown = text(&watched.stderr);
    assert!(watched.status.success(), "{shown}");
    let told = house.run_any(&[&watch[..], &["--json"]].concat(), b"");
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let steps = told["refinement"].as_array().unwrap();
    assert_eq!(steps.len() as u64, told["alternatives"][0]["steps"].as_u64().unwrap());
    for (at, (shown, told)) in shown.lines().zip(steps).enumerate() {
        let (number, line) = shown.trim_start().split_once(' ').unwrap_or((shown.trim(), ""));
        assert_eq!((number, line.trim_start()), (&*(at + 1).to_string(), told.as_str().unwrap()));
    }
    assert_eq!(shown.lines().count(), steps.len(), "{shown}");
    let refused = house.fail(&["--model", "ar", "--watch", "one two"], b"").1;
    assert!(refused.contains("--watch shows refinement"), "{refused}");
    let exact = [
        "--model",
        "padir",
        "--exact-paper",
        "--set",
        "prune.rule=keep",
        "--set",
        "prune.most=2",
        "one",
    ];
    let refused = house.fail(&exact, b"").1;
    assert!(refused.contains("`prune` is not part"), "{refused}");
}

/// A model that has learnt to doubt, and starts from a mask for each position.
#[test]
fn doubt_and_masks_by_position_reach_the_decoder() {
    let house = House::build();
    let vocabulary = Vocabulary::load(house.path("vocab/spiece.model")).unwrap();
    let mut config = ModelConfig::preset(Preset::Tiny, vocabulary.size(), DecoderKind::Parallel);
    config.symbols = Symbols::of_vocabulary(vocabulary.size(), vocabulary.pieces());
    let Decoder::Parallel(parallel) = &mut config.decoder else { panic!() };
    (parallel.confidence_head, parallel.initial) = (true, InitialTokens::NumberedMask);
    house.save_model("doubting", config, &vocabulary);
    // A random network with one table for both ends says what it reads, and would be done at once.
    let learned = |below: &'static str| {
        ["--set", "halt.rule=never", "--set", "rejecter.rule=learned", "--set", below]
    };
    let first = |model: &str, below: &'static str| -> Value {
        let usual =
            ["--model", model, "--force", "--trace", "t.jsonl", "--lengths", "1", "one two three"];
        house.translate(&[&usual[..], &learned(below)].concat(), "");
        let text = fs::read_to_string(house.path("t.jsonl")).unwrap();
        serde_json::from_str(text.lines().next().unwrap()).unwrap()
    };
    for precision in ["doubting", "doubting-8"] {
        if precision == "doubting-8" {
            let made = house.run_any(&["quantize", "doubting", "--output", "doubting-8"], b"");
            assert!(made.status.success(), "{}", text(&made.stderr));
        }
        let everything = first(precision, "rejecter.below=1.0");
        let (tokens, rejected) = (&everything["tokens"], &everything["rejected"]);
        let count = tokens.as_array().unwrap().len();
        assert_eq!(rejected.as_array().unwrap().len(), count, "nothing is certain");
        // The first position is a mask of its own again, the second another one.
        let mask = vocabulary.size() as u64 - 4;
        assert_eq!(tokens[0], mask);
        assert!(count > 2 && tokens[1] == mask - 1, "{tokens}");
        let nothing = first(precision, "rejecter.below=0.0");
        assert_eq!(nothing["rejected"].as_array().unwrap().len(), 0, "{nothing}");
    }
    let keep = |model: &str| {
        let set = ["--set", "rejecter.rule=learned", "--output", "kept", "--force"];
        house.run_any(&[&["quantize", model][..], &set].concat(), b"")
    };
    assert!(keep("doubting").status.success());
    let kept = fs::read_to_string(house.path("kept/generation_config.json")).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept["padir"]["remask"], serde_json::json!({"rule": "confidence", "below": 0.5}));
    let refused = text(&keep("padir").stderr);
    assert!(refused.contains("the model has no confidence head"), "{refused}");
    let asked = [&["--model", "padir", "one"][..], &learned("rejecter.below=0.5")].concat();
    let refused = house.fail(&asked, b"").1;
    assert!(refused.contains("no confidence head"), "{refused}");
}

#[test]
fn autoregressive_models_draw_on_request() {
    let house = House::build();
    let draw = |more: &[&str]| {
        let all = ["--model", "ar", "--sample", "--nbest", "3", "--set"];
        house.translate(&[&all, more].concat(), "one two three\n")
    };
    let cold = draw(&["sampling.temperature=0", "--set", "samples=1"]);
    let greedy =
        house.translate(&["--model", "ar", "--beam", "1", "--nbest", "1"], "one two three\n");
    let words = |lines: &str| lines.split(" ||| ").nth(1).unwrap().to_owned();
    assert_eq!(words(&cold), words(&greedy));
    let hot = draw(&["sampling.temperature=5"]);
    assert_eq!(hot.lines().count(), 3, "{hot}");
    assert_eq!(hot, draw(&["sampling.temperature=5"]), "the seed is the same");
    assert_ne!(hot, draw(&["sampling.temperature=5", "--set", "seed=1"]));
    let refused = house.fail(&["--model", "padir", "--sample", "one"], b"").1;
    assert!(refused.contains("--set temperature=1"), "{refused}");
}

#[test]
fn alternatives_differ_and_repeated_lines_are_traced_alike() {
    let house = House::build();
    let lines = "one two three\nfour\none two three\n";
    let list = house.translate(&["--model", "padir", "--lengths", "8", "--nbest", "8"], lines);
    let mut seen = std::collections::HashSet::new();
    for line in list.lines() {
        let (start, _) = line.rsplit_once(" ||| ").unwrap();
        assert!(seen.insert(start.to_owned()), "twice: {line}");
    }
    let trace = |batch: &str| {
        let options = ["--model", "padir", "--force", "--trace", "t.jsonl", "--batch", batch];
        house.translate(&options, lines);
        let text = fs::read_to_string(house.path("t.jsonl")).unwrap();
        let mut lines: Vec<String> = text.lines().map(ToOwned::to_owned).collect();
        lines.sort();
        lines
    };
    let apart = trace("1");
    assert!(apart.iter().any(|line| line.starts_with("{\"line\":3,")), "{apart:?}");
    assert_eq!(trace("64"), apart);
}

#[test]
fn long_texts_are_cut_and_nothing_is_too_strange() {
    let house = House::build();
    let long = "one two three. ".repeat(2500);
    let json = house.translate(
        &["--model", "padir", "--no-split", "--steps", "1", "--lengths", "1", "--json"],
        &long,
    );
    let record: Value = serde_json::from_str(&json).unwrap();
    let parts = record["parts"].as_u64().unwrap() as usize;
    assert!(parts > 50, "{parts}");
    // Equal parts say the same, and each is there.
    let repeated = |times: usize, arguments: &[&str]| {
        house.translate(
            &[&["--model", "padir", "--no-split"], arguments].concat(),
            &"one two three. ".repeat(times),
        )
    };
    let fits = |&times: &usize| {
        let record: Value = serde_json::from_str(&repeated(times, &["--json"])).unwrap();
        record["parts"] == 1
    };
    let most = (1..100).take_while(fits).last().unwrap();
    let part = repeated(most, &[]).trim().to_owned();
    assert!(!part.is_empty());
    assert_eq!(repeated(3 * most, &[]).trim(), [&part[..], &part, &part].join(" "));
    let cut = house.translate(&["--model", "ar", "--no-split", "--beam", "1", "--json"], &long);
    assert!(serde_json::from_str::<Value>(&cut).unwrap()["parts"].as_u64().unwrap() > 50, "{cut}");
    // A shorter target has shorter sources, so that nothing is cut off.
    let short = [
        "--model",
        "padir",
        "--no-split",
        "--set",
        "max_length=24",
        "--steps",
        "1",
        "--lengths",
        "1",
        "--json",
    ];
    let record: Value = serde_json::from_str(&house.translate(&short, &long)).unwrap();
    assert!(record["parts"].as_u64().unwrap() as usize > 2 * parts, "{}", record["parts"]);
    let strange =
        "\u{7f}\u{1}\u{fffd}\u{202e}one\u{200d}\u{0301} 𝒳𝓎𝓏 \u{e000}\n\u{a0}\u{3000}\n💩💩💩\n";
    for model in ["ar", "padir"] {
        let lines = house.translate(&["--model", model], strange);
        assert_eq!(lines.split('\n').count(), 4, "{lines:?}");
    }
}

#[test]
fn decoding_can_be_measured() {
    let house = House::build();
    let arguments = "bench decode --random tiny --vocabulary 300 --length 4 --sentences 2 --steps 2 \
                     --lengths 1 --batches 2 --only greedy,PaDIR --plot p.svg --json";
    let output = house.run_any(&arguments.split_whitespace().collect::<Vec<_>>(), b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let latencies = report["latencies"].as_array().unwrap();
    let names: Vec<&str> = latencies.iter().map(|l| l["system"].as_str().unwrap()).collect();
    assert_eq!(names, ["AR greedy f32", "PaDIR 2 × 1 f32", "AR greedy int8", "PaDIR 2 × 1 int8"]);
    for latency in latencies {
        assert!(latency["p50"].as_f64().unwrap() > 0.0);
        assert!(latency["p99"].as_f64() >= latency["p50"].as_f64());
    }
    assert!(fs::read_to_string(house.path("p.csv")).unwrap().lines().count() > 1);
    let texts = house.path("texts");
    fs::write(&texts, SENTENCES).unwrap();
    let arguments = "bench decode --ar ar --padir padir --texts texts --sentences 2 --steps 1 --batches 1 --only 5";
    let output = house.run_any(&arguments.split_whitespace().collect::<Vec<_>>(), b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("PaDIR 1 × 5 pruned int8"), "{}", text(&output.stdout));
}

#[test]
fn a_shortlist_restricts_what_can_be_said_and_nothing_else() {
    let house = House::build();
    let learn = |model: &str, best: &str, frequent: &str| {
        let arguments = ["shortlist", "--model", model, "corpus", "corpus", "--json"];
        let sizes = ["--best", best, "--frequent", frequent];
        let all: Vec<&str> = arguments.iter().chain(&sizes).copied().collect();
        let output = house.run_any(&all, b"");
        assert!(output.status.success(), "{}", text(&output.stderr));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    for model in ["ar", "padir"] {
        let plain = house.translate(&["--model", model], SENTENCES);
        // Everything that was seen is listed: then pairs of the corpus can be said whole.
        let report = learn(model, "1000", "1000");
        assert_eq!(report["learnt"]["pairs"], 294, "{report}");
        assert_eq!(report["held_out"]["pairs"], 6, "{report}");
        let seen = &report["learnt"];
        assert_eq!(seen["target_tokens"], seen["target_tokens_listed"], "{report}");
        // Only a piece that it never says is listed, and the end: now it says nothing else.
        let vocabulary = Vocabulary::load(house.path(model)).unwrap();
        let said = vocabulary.encode(&plain);
        let pieces = (4..vocabulary.pieces() as u32).map(padir_base::TokenId);
        let other = pieces.into_iter().find(|id| !said.contains(id)).unwrap();
        let piece = vocabulary.piece(other).unwrap().into_owned();
        fs::write(house.path(model).join("vmap.txt"), format!("\t</s> {piece}\n")).unwrap();
        let short = house.translate(&["--model", model, "--shortlist"], SENTENCES);
        assert_eq!(short.lines().count(), plain.lines().count());
        let allowed = piece.trim_start_matches('▁');
        assert_eq!(short.replace(allowed, "").trim(), "", "{model}: {short}");
        let int8 = house.translate(&["--model", model, "--shortlist", "--int8"], SENTENCES);
        assert_eq!(int8.lines().count(), plain.lines().count());
        // A list of all pieces changes nothing.
        let ids = (0..vocabulary.size() as u32).map(padir_base::TokenId);
        let all: Vec<String> = ids.map(|id| vocabulary.piece(id).unwrap().into_owned()).collect();
        fs::write(house.path(model).join("vmap.txt"), format!("\t{}\n", all.join(" "))).unwrap();
        assert_eq!(house.translate(&["--model", model, "--shortlist"], SENTENCES), plain);
    }
}

#[test]
fn models_are_found_by_their_languages() {
    let house = House::build();
    let nothing = house.fail(&["--from", "xx", "--to", "yy", "one"], b"").1;
    assert!(nothing.contains("no model translates from xx into yy"), "{nothing}");
    fs::create_dir_all(house.path("models")).unwrap();
    fs::rename(house.path("padir"), house.path("models/toy-de-en")).unwrap();
    let named = house.translate(&["--model", "models/toy-de-en", "one two"], "");
    assert_eq!(house.translate(&["--from", "de", "--to", "en", "one two"], ""), named);
    for one in [["--from", "de"], ["--to", "en"]] {
        assert_eq!(house.translate(&[&one[..], &["one two"]].concat(), ""), named, "{one:?}");
    }
    let other = house.fail(&["--from", "xx", "one"], b"").1;
    assert!(other.contains("no model translates from xx"), "{other}");
    assert!(other.contains("models has toy-de-en"), "{other}");
    fs::rename(house.path("ar"), house.path("models/toy-de-fr")).unwrap();
    let unclear = house.fail(&["--from", "de", "one"], b"").1;
    assert!(unclear.contains("models has toy-de-en and toy-de-fr"), "{unclear}");
    let languages_alone = house.path("models/de-en");
    fs::rename(house.path("models/toy-de-en"), &languages_alone).unwrap();
    assert_eq!(house.translate(&["--from", "de", "--to", "en", "one two"], ""), named);
    fs::rename(&languages_alone, house.path("models/toy-de-en")).unwrap();
    let both =
        house.run_any(&["translate", "--model", "models/toy-de-en", "--to", "en", "one"], b"");
    assert_eq!(both.status.code(), Some(2), "{}", text(&both.stderr));
}

/// What a model says of itself counts more than what its directory is called.
#[test]
fn models_are_found_by_what_they_say_of_themselves() {
    let house = House::build();
    fs::create_dir_all(house.path("models")).unwrap();
    fs::rename(house.path("padir"), house.path("models/best")).unwrap();
    let config = house.path("models/best/config.json");
    let plain = fs::read_to_string(&config).unwrap();
    let named = house.translate(&["--model", "models/best", "one two"], "");
    let unknown = house.fail(&["--from", "it", "one"], b"").1;
    assert!(unknown.contains("models has best;"), "{unknown}");
    // The card knows.
    let card = "---\nlanguage: [\"fr\",\"en\"]\n---\n";
    fs::write(house.path("models/best/README.md"), card).unwrap();
    assert_eq!(house.translate(&["--from", "fr", "one two"], ""), named);
    // The configuration knows better, and case does not matter.
    let mut json: Value = serde_json::from_str(&plain).unwrap();
    (json["source_language"], json["target_language"]) = ("it".into(), "pt-BR".into());
    fs::write(&config, json.to_string()).unwrap();
    assert_eq!(house.translate(&["--from", "it", "--to", "PT-br", "one two"], ""), named);
    let other = house.fail(&["--from", "fr", "one"], b"").1;
    assert!(other.contains("models has best (it-pt-BR)"), "{other}");
    // A name that says otherwise is a name and no more.
    fs::rename(house.path("models/best"), house.path("models/toy-fr-en")).unwrap();
    assert_eq!(house.translate(&["--from", "it", "one two"], ""), named);
    let other = house.fail(&["--from", "fr", "one"], b"").1;
    assert!(other.contains("toy-fr-en (it-pt-BR)"), "{other}");
    // Who makes a model smaller passes on what it translates.
    let made = house.run_any(&["quantize", "models/toy-fr-en", "--output", "small"], b"");
    assert!(made.status.success(), "{}", text(&made.stderr));
    let small = fs::read_to_string(house.path("small/config.json")).unwrap();
    let small: Value = serde_json::from_str(&small).unwrap();
    assert_eq!(
        (&small["source_language"], &small["target_language"]),
        (&"it".into(), &"pt-BR".into())
    );
}
