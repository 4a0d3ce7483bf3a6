//! The causal decoder against T5 and Marian of Hugging Face's transformers.
//!
//! `reference/model/t5_logits.py` and `marian_logits.py` made the models and wrote down what transformers computes with them.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::{Path, PathBuf};

use padir_base::TokenId;
use padir_base::causal::{CausalModel, DecodeStep};
use padir_checkpoint::{Checkpoint, CheckpointWriter, Extras};
use padir_engine::{Engine, Isa, Precision, Target, Threads};
use serde_json::Value;

const MODELS: [&str; 3] = ["t5_tiny", "marian_tiny/shared", "marian_tiny/separate"];

fn folder(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/model").join(model)
}

fn json(folder: &Path, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

fn sentences(rows: &Value) -> Vec<Vec<TokenId>> {
    serde_json::from_value(rows.clone()).unwrap()
}

/// The largest error of a log-probability, all tokens of all positions of all sentences.
fn worst(folder: &Path, engine: &Engine) -> f64 {
    let (given, wanted) = (json(folder, "inputs.json"), json(folder, "outputs.json"));
    let start = engine.config().symbols.start;
    let (sources, targets) = (sentences(&given["source"]), sentences(&given["target"]));
    let expected: Vec<Vec<Vec<f64>>> = serde_json::from_value(wanted["logits"].clone()).unwrap();
    let mut session = engine.session(Threads::new(2));
    let sources: Vec<&[TokenId]> = sources.iter().map(Vec::as_slice).collect();
    session.encode(&sources).unwrap();
    let mut live: Vec<usize> = (0..targets.len()).collect();
    session.begin(&live).unwrap();
    let vocabulary_size = session.vocabulary_size();
    let (mut worst, mut answers): (f64, _) = (0.0, Vec::new());
    for step in 0.. {
        // Sentences that have ended are dropped; the others follow their rows.
        let rows: Vec<DecodeStep> = (live.iter().enumerate())
            .filter(|&(_, &sentence)| step < targets[sentence].len())
            .map(|(parent, &sentence)| DecodeStep {
                parent,
                token: if step == 0 { start } else { targets[sentence][step - 1] },
            })
            .collect();
        live.retain(|&sentence| step < targets[sentence].len());
        if live.is_empty() {
            return worst;
        }
        session.decode_step(&rows, vocabulary_size, &mut answers).unwrap();
        for (&sentence, answers) in live.iter().zip(answers.chunks_exact(vocabulary_size)) {
            let logits = &expected[sentence][step];
            let log_z = logits.iter().map(|z| z.exp()).sum::<f64>().ln();
            assert!(answers.is_sorted_by(|a, b| a.log_prob >= b.log_prob));
            for one in answers {
                worst = worst.max((one.log_prob - (logits[one.token.index()] - log_z)).abs());
            }
        }
    }
    unreachable!("targets end")
}

#[test]
fn probabilities_are_those_of_transformers() {
    for model in MODELS {
        let folder = folder(model);
        let checkpoint = Checkpoint::open(&folder).unwrap();
        for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
            let engine = Engine::load_for(&checkpoint, Precision::F32, isa).unwrap();
            let error = worst(&folder, &engine);
            assert!(error < 2e-5, "{model}, {isa:?}: {error}");
            let engine = Engine::load_for(&checkpoint, Precision::Int8, isa).unwrap();
            let error = worst(&folder, &engine);
            // Marian's fixtures are rougher: 16 numbers wide, with weights three times as large.
            let most = if model == "t5_tiny" { 0.4 } else { 1.5 };
            assert!(error < most && error > 1e-4, "{model}, {isa:?}, int8: {error}");
        }
    }
}

#[test]
fn forced_decoding_gives_the_probabilities_of_transformers() {
    for model in MODELS {
        let folder = folder(model);
        let (given, wanted) = (json(&folder, "inputs.json"), json(&folder, "outputs.json"));
        let expected: Vec<f64> = serde_json::from_value(wanted["losses"].clone()).unwrap();
        let (sources, targets) = (sentences(&given["source"]), sentences(&given["target"]));
        let checkpoint = Checkpoint::open(&folder).unwrap();
        let engine = Engine::load(&checkpoint, Precision::F32).unwrap();
        let mut session = engine.session(Threads::new(2));
        let sources: Vec<&[TokenId]> = sources.iter().map(Vec::as_slice).collect();
        session.encode(&sources).unwrap();
        let all: Vec<Target<'_>> = (targets.iter().enumerate())
            .map(|(context, tokens)| Target { context, tokens })
            .collect();
        let mut log_probs = Vec::new();
        session.score_targets(&all, &mut log_probs).unwrap();
        let mut rest = log_probs.as_slice();
        for (target, loss) in targets.iter().zip(expected) {
            let (own, others) = rest.split_at(target.len());
            rest = others;
            let mean = -own.iter().sum::<f64>() / target.len() as f64;
            assert!((mean - loss).abs() < 2e-5, "{model}: {mean} {loss}");
        }
    }
}

/// Matrices that were rounded on disk are rounded to the same numbers again.
#[test]
fn a_marian_that_was_quantised_on_disk_is_the_same() {
    let folder = folder("marian_tiny/shared");
    let checkpoint = Checkpoint::open(&folder).unwrap();
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("int8");
    let writer = CheckpointWriter::create(&place, checkpoint.config(), &Extras::default()).unwrap();
    writer.quantised_tensors(|p| checkpoint.tensor(&p.name).ok()).unwrap();
    writer.commit().unwrap();
    let quantised = Checkpoint::open(&place).unwrap();
    assert!(quantised.is_quantised());
    assert_eq!(quantised.config().symbols.eos, TokenId(0));
    let [one, other] = [&checkpoint, &quantised]
        .map(|model| worst(&folder, &Engine::load(model, Precision::Int8).unwrap()));
    assert!((one - other).abs() < 1e-6, "{one} {other}");
}

/// With the start, the end and the positions that the configuration says.
#[test]
fn greedy_search_generates_the_tokens_of_transformers() {
    for model in ["marian_tiny/shared", "marian_tiny/separate"] {
        let folder = folder(model);
        let sources = sentences(&json(&folder, "inputs.json")["source"]);
        let expected = sentences(&json(&folder, "outputs.json")["greedy"]);
        let checkpoint = Checkpoint::open(&folder).unwrap();
        let engine = Engine::load(&checkpoint, Precision::F32).unwrap();
        let symbols = &engine.config().symbols;
        let mut session = engine.session(Threads::new(1));
        for (source, expected) in sources.iter().zip(&expected) {
            session.encode(&[source]).unwrap();
            session.begin(&[0]).unwrap();
            let (mut found, mut best) = (Vec::new(), Vec::new());
            let mut token = symbols.start;
            while found.len() < expected.len() && found.last() != Some(&symbols.eos) {
                session.decode_step(&[DecodeStep { parent: 0, token }], 1, &mut best).unwrap();
                token = best[0].token;
                found.push(token);
            }
            assert_eq!(&found, expected, "{model}");
        }
    }
}

#[test]
fn sentences_without_positions_are_refused() {
    let checkpoint = Checkpoint::open(folder("marian_tiny/separate")).unwrap();
    let engine = Engine::load(&checkpoint, Precision::F32).unwrap();
    let mut session = engine.session(Threads::new(1));
    let refused = "a row has 25 tokens; the model has 24 positions";
    let long = vec![TokenId(7); 25];
    assert_eq!(session.encode(&[&long]).unwrap_err().to_string(), refused);
    // The source has 60 tokens, the target 50.
    let error = session.encode(&[&[TokenId(60)]]).unwrap_err().to_string();
    assert_eq!(error, "token 60 lies outside of the vocabulary of 60");
    session.encode(&[&[TokenId(59)], &long[1..]]).unwrap();
    let target = Target { context: 0, tokens: &long };
    assert_eq!(session.score_targets(&[target], &mut Vec::new()).unwrap_err().to_string(), refused);
    session.begin(&[1]).unwrap();
    let mut answers = Vec::new();
    for _ in 0..24 {
        session
            .decode_step(&[DecodeStep { parent: 0, token: TokenId(7) }], 1, &mut answers)
            .unwrap();
    }
    let next = [DecodeStep { parent: 0, token: TokenId(7) }];
    assert_eq!(session.decode_step(&next, 1, &mut answers).unwrap_err().to_string(), refused);
    session.begin(&[1]).unwrap();
    let next = [DecodeStep { parent: 0, token: TokenId(50) }];
    let error = session.decode_step(&next, 1, &mut answers).unwrap_err().to_string();
    assert_eq!(error, "token 50 lies outside of the vocabulary of 50");
}

/// A shortlist of all tokens is no shortlist, and its biases are those of its tokens.
#[test]
fn shortlists_have_their_biases() {
    let checkpoint = Checkpoint::open(folder("marian_tiny/shared")).unwrap();
    let engine = Engine::load(&checkpoint, Precision::F32).unwrap();
    let mut session = engine.session(Threads::new(1));
    session.encode(&[&[TokenId(7), TokenId(9), TokenId(0)]]).unwrap();
    let mut ask = |tokens: Option<&[TokenId]>, depth: usize| {
        session.set_shortlist(0, tokens).unwrap();
        session.begin(&[0]).unwrap();
        let mut answers = Vec::new();
        let start = [DecodeStep { parent: 0, token: TokenId(49) }];
        session.decode_step(&start, depth, &mut answers).unwrap();
        answers
    };
    let all = ask(None, 50);
    let some: Vec<TokenId> = (0..50).step_by(3).map(TokenId).collect();
    let listed = ask(Some(&some), some.len());
    let log_prob = |token: TokenId| all.iter().find(|one| one.token == token).unwrap().log_prob;
    for pair in listed.windows(2) {
        let truth = log_prob(pair[0].token) - log_prob(pair[1].token);
        assert!((pair[0].log_prob - pair[1].log_prob - truth).abs() < 1e-5, "{pair:?}");
    }
}
