//! Somebody else has the last word.

use std::fs;

use padir_checkpoint::DecoderKind;
use serde_json::Value;

use crate::house::{House, SENTENCES, text};

/// Score, tokens and text of an alternative.
type One = (f64, u64, String);

/// The five best of each line.
fn five_best(house: &House, arguments: &[&str]) -> Vec<Vec<One>> {
    let more = ["--nbest", "5", "--json"];
    let said = house.translate(&[arguments, &more].concat(), SENTENCES);
    let records = said.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let read = |one: &Value| {
        let text = one["text"].as_str().unwrap().to_owned();
        (one["score"].as_f64().unwrap(), one["tokens"].as_u64().unwrap(), text)
    };
    records
        .map(|line| line["alternatives"].as_array().unwrap().iter().map(read).collect())
        .collect()
}

/// What is drawn is scored token by token; whoever judges does it in one pass. Both must come to the same, but for what was cut off at
/// the greatest length: the reranker misses its end.
#[test]
fn a_judge_scores_what_was_scored_token_by_token() {
    let house = House::build();
    for precision in ["--f32", "--int8"] {
        let alone = ["--model", "ar", "--sample", "--set", "length_penalty=1.5", precision];
        let found = five_best(&house, &alone).concat();
        let reranked = ["--rerank", "ar", "--rerank-penalty", "1.5"];
        let again = five_best(&house, &[&alone[..], &reranked].concat()).concat();
        let short: Vec<_> = found.iter().filter(|(_, tokens, _)| *tokens < 6).collect();
        assert!(short.iter().any(|(_, tokens, _)| *tokens > 1), "{found:?}");
        for found in short {
            let same = |again: &&One| (found.1, &found.2) == (again.1, &again.2);
            let close = |again: &One| (found.0 - again.0).abs() < 1e-4;
            assert!(again.iter().filter(same).any(close), "{precision}: {found:?} {again:?}");
        }
    }
}

#[test]
fn a_judge_changes_the_order_and_nothing_else() {
    let house = House::build();
    let model = ["--model", "padir", "--lengths", "5"];
    // Networks that have learnt nothing agree that little said is little wrong; this reranker wants much.
    let reranker = ["--rerank", "ar", "--rerank-penalty", "6"];
    let (own, reranked) =
        (five_best(&house, &model), five_best(&house, &[&model[..], &reranker].concat()));
    for line in &reranked {
        assert!(line.is_sorted_by(|(a, _, _), (b, _, _)| a >= b), "best first: {line:?}");
    }
    let texts = |all: &[Vec<One>]| -> Vec<Vec<String>> {
        all.iter().map(|line| line.iter().map(|(_, _, text)| text.clone()).collect()).collect()
    };
    let (mut own, mut others) = (texts(&own), texts(&reranked));
    assert_ne!(own, others, "another order");
    own.iter_mut().chain(&mut others).for_each(|line| line.sort());
    assert_eq!(own, others, "of the same texts");
    for more in [["--batch", "1"], ["--threads", "3"]] {
        let alike = five_best(&house, &[&model[..], &reranker, &more].concat());
        assert_eq!(reranked, alike, "{more:?}");
    }
}

#[test]
fn what_cannot_rerank_is_refused() {
    let house = House::build();
    let made = house
        .run_any(&["vocab", "train", "corpus", "--size", "25", "--output", "other-vocab"], b"");
    assert!(made.status.success(), "{}", text(&made.stderr));
    fs::rename(house.path("vocab"), house.path("first-vocab")).unwrap();
    fs::rename(house.path("other-vocab"), house.path("vocab")).unwrap();
    house.make_model("stranger", DecoderKind::Causal);
    let cases = [
        (vec!["--rerank", "padir"], "reranking needs an autoregressive model"),
        (vec!["--rerank", "stranger"], "the reranker has another vocabulary than the model"),
        (vec!["--rerank", "nobody"], "nobody cannot rerank"),
        (vec!["--rerank", "ar", "--rerank-penalty", "inf"], "length penalty is inf"),
    ];
    for (more, expected) in cases {
        let (_, errors) = house.fail(&[&["--model", "padir", "one two"], &more[..]].concat(), b"");
        assert!(errors.contains(expected), "{more:?}: {errors}");
    }
}

#[test]
fn evaluations_name_the_reranker() {
    let house = House::build();
    fs::write(house.path("test.a"), "one two\nthree four five\n").unwrap();
    let arguments =
        ["evaluate", "--model", "padir", "test.a", "test.a", "--rerank", "ar", "--int8", "--json"];
    let output = house.run_any(&arguments, b"");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["reranker"]["directory"], "ar");
    assert!(found["reranker"]["files"]["model.safetensors"].is_string());
    assert_eq!(found["reranker"]["length_penalty"], 0.6);
}
