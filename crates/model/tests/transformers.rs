//! Autoregressive networks against T5 and Marian of Hugging Face's transformers.
//!
//! `reference/model/t5_logits.py` and `marian_logits.py` made the models and wrote down what transformers computes with them. Any other
//! autoregressive T5 checkpoint, such as a trained one, is compared by
//!
//! ```console
//! $ PADIR_MODEL=runs/en-de/best PADIR_PYTHON=python3 cargo test -p padir-model --test transformers -- --ignored
//! ```
#![expect(clippy::unwrap_used, reason = "a panic in a test is its failure message")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use padir_base::TokenId;
use padir_base::random::{Purpose, Seed};
use padir_checkpoint::Checkpoint;
use padir_model::ops::Targets;
use padir_model::{Device, Network, Pass, Sentences};
use serde_json::Value;

fn folder(model: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../reference/model").join(model)
}

fn json(model: &str, name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder(model).join(name)).unwrap()).unwrap()
}

fn sentences(rows: &Value) -> Vec<Vec<u32>> {
    serde_json::from_value(rows.clone()).unwrap()
}

fn network(folder: &Path) -> Network {
    let checkpoint = Checkpoint::open(folder).unwrap();
    let device = Device::flex().autodiff();
    Network::build(checkpoint.config(), &device, |_, parameter| {
        checkpoint.tensor(&parameter.name).unwrap().into_owned()
    })
    .unwrap()
}

/// Shifted to the right, behind the start token.
fn inputs(targets: &[Vec<u32>], start: TokenId) -> Sentences {
    let shift = |row: &Vec<u32>| {
        let mut row = row.clone();
        row.rotate_right(1);
        row[0] = start.0;
        row
    };
    let shifted: Vec<Vec<u32>> = targets.iter().map(shift).collect();
    Sentences::new(shifted.iter().map(Vec::as_slice))
}

#[test]
fn logits_loss_and_gradients_are_those_of_transformers() {
    for model in ["t5_tiny", "marian_tiny/shared", "marian_tiny/separate"] {
        eprintln!("{model}");
        let (given, wanted) = (json(model, "inputs.json"), json(model, "outputs.json"));
        compare(&network(&folder(model)), &given, &wanted, 2e-5);
    }
}

/// An evaluation has no graph, whichever operations run.
#[test]
fn evaluations_give_the_same_logits_as_training() {
    for model in ["marian_tiny/shared", "marian_tiny/separate"] {
        let (network, given) = (network(&folder(model)), json(model, "inputs.json"));
        let (sources, targets) = (sentences(&given["source"]), sentences(&given["target"]));
        let classes: Vec<u32> = targets.concat();
        let wanted = Arc::new(Targets { weights: vec![1.0; classes.len()], classes });
        let run = |pass: &Pass| {
            let sources = Sentences::new(sources.iter().map(Vec::as_slice));
            let encoded = network.encode(pass, &sources);
            let inputs = inputs(&targets, network.config().symbols.start);
            let states = network.decode(pass, &inputs, &encoded);
            let (_, outcome) = network.token_loss(pass, &states, &wanted, 0.1, 0.0);
            (network.logits(&states), outcome.loss)
        };
        let (logits, loss) = run(&Pass::training(true, None, Arc::new(network.gradients())));
        for fused in [true, false] {
            let (others, other) = run(&Pass::evaluation(fused));
            let apart = logits.iter().zip(&others).map(|(a, b)| (a - b).abs());
            assert!(apart.fold(0.0, f32::max) < 1e-5, "{model}, fused {fused}");
            assert!((loss - other).abs() < 1e-4, "{model}, fused {fused}: {loss} {other}");
        }
    }
}

#[test]
#[ignore = "needs Python with transformers, and a checkpoint named by PADIR_MODEL"]
fn any_other_checkpoint_computes_what_transformers_computes() {
    let Ok(model) = std::env::var("PADIR_MODEL") else {
        eprintln!("skipped: PADIR_MODEL names no checkpoint");
        return;
    };
    let network = network(Path::new(&model));
    let mut chance = Seed(11).stream(Purpose::Synthesis, 0);
    let pieces = network.config().symbols.pieces as u64;
    let mut rows = |lengths: &[u32]| -> Vec<Vec<u32>> {
        let mut ids = |n: u32| (1..n).map(|_| 4 + chance.below(pieces - 4) as u32).collect();
        let end = |mut row: Vec<u32>| {
            row.push(TokenId::EOS.0);
            row
        };
        lengths.iter().map(|&n| end(ids(n))).collect()
    };
    let given = serde_json::json!({"source": rows(&[9, 1, 30]), "target": rows(&[12, 5, 28])});
    let python = std::env::var("PADIR_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut child = Command::new(python)
        .arg(folder("t5_logits.py"))
        .arg(&model)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    write!(child.stdin.take().unwrap(), "{given}").unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    compare(&network, &given, &serde_json::from_slice(&output.stdout).unwrap(), 5e-4);
}

/// Both sets of operations against what transformers made of the same model and sentences.
fn compare(network: &Network, given: &Value, wanted: &Value, tolerance: f32) {
    let (sources, targets) = (sentences(&given["source"]), sentences(&given["target"]));
    let start = network.config().symbols.start;
    for fused in [true, false] {
        let store = Arc::new(network.gradients());
        let pass = Pass::training(fused, None, Arc::clone(&store));
        let encoded = network.encode(&pass, &Sentences::new(sources.iter().map(Vec::as_slice)));
        let states = network.decode(&pass, &inputs(&targets, start), &encoded);

        let expected: Vec<Vec<Vec<f32>>> =
            serde_json::from_value(wanted["logits"].clone()).unwrap();
        let expected: Vec<f32> = expected.into_iter().flatten().flatten().collect();
        let logits = network.logits(&states);
        assert_eq!(logits.len(), expected.len());
        let mut worst = 0.0_f32;
        for (at, (ours, theirs)) in logits.iter().zip(&expected).enumerate() {
            let apart = (ours - theirs).abs();
            assert!(apart < tolerance, "fused {fused}, logit {at}: {ours} and {theirs}");
            worst = worst.max(apart);
        }
        eprintln!("fused {fused}: {} logits within {worst:.1e}", logits.len());

        let classes: Vec<u32> = targets.concat();
        let count = classes.len() as f64;
        let weights = vec![1.0 / classes.len() as f32; classes.len()];
        let targets = Arc::new(Targets { classes, weights });
        let (total, outcome) = network.token_loss(&pass, &states, &targets, 0.0, 0.0);
        let loss = wanted["loss"].as_f64().unwrap();
        assert!(
            (outcome.loss - loss).abs() < 2e-6 * loss.max(1.0),
            "fused {fused}: {} and {loss}",
            outcome.loss
        );
        assert!((outcome.entropy * count / outcome.weight / count - loss).abs() < 2e-5);

        network.backward(&pass, total);
        drop((pass, states, encoded));
        for (index, parameter) in network.config().parameters().iter().enumerate() {
            let square: f64 = store.read(index).iter().map(|&g| f64::from(g).powi(2)).sum();
            let norm = wanted["gradient_norms"][&parameter.name].as_f64().unwrap();
            // Biases of keys move all scores of a query alike: what is left of their gradients is rounding.
            let least = if parameter.name.ends_with("k_proj.bias") { 1e-2 } else { 1e-6 };
            let error = (square.sqrt() - norm).abs() / norm.max(least);
            assert!(
                error < 1e-3,
                "fused {fused}, {}: {} and {norm}",
                parameter.name,
                square.sqrt()
            );
        }
    }
}
