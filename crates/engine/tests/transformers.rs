//! The causal decoder against T5 of Hugging Face's transformers.
//!
//! `reference/model/t5_logits.py` made the model and wrote down what transformers computes with it.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::PathBuf;

use padir_base::TokenId;
use padir_base::continuation::{Advance, Continuer};
use padir_checkpoint::Checkpoint;
use padir_engine::{Engine, Isa, Precision, Threads};
use serde_json::Value;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/model/t5_tiny")
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn sentences(rows: &Value) -> Vec<Vec<TokenId>> {
    serde_json::from_value(rows.clone()).unwrap()
}

/// The largest error of a log-probability, all tokens of all positions of all sentences.
fn worst(engine: &Engine) -> f64 {
    let (given, wanted) = (json("inputs.json"), json("outputs.json"));
    let (sources, targets) = (sentences(&given["source"]), sentences(&given["target"]));
    let expected: Vec<Vec<Vec<f64>>> = serde_json::from_value(wanted["logits"].clone()).unwrap();
    let mut session = engine.session(Threads::new(2));
    let sources: Vec<&[TokenId]> = sources.iter().map(Vec::as_slice).collect();
    session.encode(&sources).unwrap();
    let mut live: Vec<usize> = (0..targets.len()).collect();
    session.begin(&live).unwrap();
    let alphabet = session.alphabet();
    let (mut worst, mut answers): (f64, _) = (0.0, Vec::new());
    for step in 0.. {
        // Sentences that have ended are dropped; the others follow their rows.
        let rows: Vec<Advance> = (live.iter().enumerate())
            .filter(|&(_, &sentence)| step < targets[sentence].len())
            .map(|(parent, &sentence)| Advance {
                parent,
                token: if step == 0 { TokenId::PAD } else { targets[sentence][step - 1] },
            })
            .collect();
        live.retain(|&sentence| step < targets[sentence].len());
        if live.is_empty() {
            return worst;
        }
        session.advance(&rows, alphabet, &mut answers).unwrap();
        for (&sentence, answers) in live.iter().zip(answers.chunks_exact(alphabet)) {
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
    let checkpoint = Checkpoint::open(folder()).unwrap();
    for isa in Isa::ALL.into_iter().filter(|isa| isa.is_available()) {
        let error = worst(&Engine::load_for(&checkpoint, Precision::F32, isa).unwrap());
        assert!(error < 2e-5, "{isa:?}: {error}");
        let error = worst(&Engine::load_for(&checkpoint, Precision::Int8, isa).unwrap());
        assert!(error < 0.4 && error > 1e-4, "{isa:?}, 8 bits: {error}");
    }
}
