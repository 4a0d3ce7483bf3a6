//! Learning to tell which predictions are right, beside learning to predict.

use std::path::Path;

use padir_checkpoint::Checkpoint;
use padir_train::record::Kind;
use padir_train::trainer::Start;

use crate::fixture::{config, folder, rows, run};

const SHORT: [&str; 6] = [
    "run.max_steps=60",
    "run.eval_every=60",
    "run.decode.lines=0",
    // A limit on all gradients together would tie what is learnt to what the rejecter learns.
    "optimiser.clip_norm=0.0",
    "model.initial=numbered-mask",
    "objective.corruption.random_prob=0.2",
];

/// All parameters by their names, but those of the rejecter.
fn others(folder: &Path) -> Vec<(String, Vec<f32>)> {
    let checkpoint = Checkpoint::open(folder.join("run/final")).unwrap();
    let names = checkpoint.config().parameters().into_iter().map(|parameter| parameter.name);
    let read = |name: String| {
        let numbers = checkpoint.tensor(&name).unwrap().to_vec();
        (name, numbers)
    };
    names.filter(|name| name != "rejecter.weight").map(read).collect()
}

#[test]
fn a_confidence_head_learns_and_changes_nothing_else() {
    let (with, without) = (folder(), folder());
    run(&config(without.path(), "padir", &SHORT), Start::Begin).unwrap();
    let flags = [&SHORT[..], &["model.rejecter=true"]].concat();
    run(&config(with.path(), "padir", &flags), Start::Begin).unwrap();
    assert!(others(with.path()) == others(without.path()), "the network learnt something else");

    let last = |folder: &Path, measure: &str| {
        let rows = rows(folder);
        let row = rows.iter().rfind(|row| row.kind == Kind::Eval).unwrap();
        row.values.get(measure).copied()
    };
    assert_eq!(last(without.path(), "dev.confidence_accuracy"), None);
    let confidence_accuracy = last(with.path(), "dev.confidence_accuracy").unwrap();
    let accuracy = last(with.path(), "dev.accuracy").unwrap();
    // Who says the same of everything is right as often as the larger of both shares.
    let constant = accuracy.max(1.0 - accuracy);
    assert!(
        confidence_accuracy > constant + 0.01,
        "{confidence_accuracy} is no better than {constant}"
    );
}
