//! The autoregressive twin against T5 of Hugging Face's transformers.
//!
//! `reference/model/t5_logits.py` made the model and wrote down what transformers computes with it.
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use padir_base::TokenId;
use padir_checkpoint::Checkpoint;
use padir_model::ops::Targets;
use padir_model::{Device, Network, Pass, Sentences};
use serde_json::Value;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/model/t5_tiny")
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder().join(name)).unwrap()).unwrap()
}

fn sentences(rows: &Value) -> Vec<Vec<u32>> {
    serde_json::from_value(rows.clone()).unwrap()
}

fn network() -> Network {
    let checkpoint = Checkpoint::open(folder()).unwrap();
    let device = Device::flex().autodiff();
    Network::build(checkpoint.config(), &device, |_, parameter| {
        checkpoint.tensor(&parameter.name).unwrap().into_owned()
    })
    .unwrap()
}

/// Shifted to the right, behind the start token.
fn inputs(targets: &[Vec<u32>]) -> Sentences {
    let shift = |row: &Vec<u32>| {
        let mut row = row.clone();
        row.rotate_right(1);
        row[0] = TokenId::PAD.0;
        row
    };
    let shifted: Vec<Vec<u32>> = targets.iter().map(shift).collect();
    Sentences::new(shifted.iter().map(Vec::as_slice))
}

#[test]
fn logits_loss_and_gradients_are_those_of_transformers() {
    let (given, wanted) = (json("inputs.json"), json("outputs.json"));
    let (sources, targets) = (sentences(&given["source"]), sentences(&given["target"]));
    let network = network();
    for fused in [true, false] {
        let store = Arc::new(network.gradients());
        let pass = Pass::training(fused, None, Arc::clone(&store));
        let encoded = network.encode(&pass, &Sentences::new(sources.iter().map(Vec::as_slice)));
        let states = network.decode(&pass, &inputs(&targets), &encoded);

        let expected: Vec<Vec<Vec<f32>>> =
            serde_json::from_value(wanted["logits"].clone()).unwrap();
        let expected: Vec<f32> = expected.into_iter().flatten().flatten().collect();
        let logits = network.logits(&states);
        assert_eq!(logits.len(), expected.len());
        for (at, (ours, theirs)) in logits.iter().zip(&expected).enumerate() {
            assert!((ours - theirs).abs() < 2e-5, "fused {fused}, logit {at}: {ours} and {theirs}");
        }

        let classes: Vec<u32> = targets.concat();
        let count = classes.len() as f64;
        let weights = vec![1.0 / classes.len() as f32; classes.len()];
        let targets = Arc::new(Targets { classes, weights });
        let (total, outcome) = network.token_loss(&pass, &states, &targets, 0.0, 0.0);
        let loss = wanted["loss"].as_f64().unwrap();
        assert!((outcome.loss - loss).abs() < 2e-6, "fused {fused}: {} and {loss}", outcome.loss);
        assert!((outcome.entropy * count / outcome.weight / count - loss).abs() < 2e-5);

        network.backward(&pass, &total);
        drop((pass, total, states, encoded));
        let mut store = Arc::into_inner(store).unwrap();
        for (index, parameter) in network.config().parameters().iter().enumerate() {
            let square: f64 = store.read(index).iter().map(|&g| f64::from(g).powi(2)).sum();
            let norm = wanted["gradient_norms"][&parameter.name].as_f64().unwrap();
            let error = (square.sqrt() - norm).abs() / norm.max(1e-6);
            assert!(
                error < 1e-3,
                "fused {fused}, {}: {} and {norm}",
                parameter.name,
                square.sqrt()
            );
        }
    }
}
