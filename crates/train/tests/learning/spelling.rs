//! Networks that learn to spell numbers.

use std::sync::atomic::AtomicBool;

use padir_train::trainer::{Start, train};

use crate::scene::{Witness, config, folder};

/// Trains until numbers are spelled right; gives the share of exact matches at the end.
fn spell(kind: &str, steps: u32) -> f64 {
    let folder = folder();
    let stop = AtomicBool::new(false);
    let flags = [
        format!("run.max_steps={steps}"),
        format!("optimiser.schedule.steps={steps}"),
        "run.save_every=100000".to_owned(),
        "model.dropout_rate=0.0".to_owned(),
        "run.decode.lines=500".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let mut witness = Witness::default();
    train(&config(folder.path(), kind, &flags), Start::Begin, &mut witness, &stop).unwrap();
    witness.exact.last().copied().unwrap_or(f64::NAN)
}

#[test]
fn the_autoregressive_twin_learns_to_spell() {
    let exact = spell("ar", 350);
    assert!(exact >= 95.0, "{exact} % exact matches");
}

#[test]
fn refinement_learns_to_spell() {
    let exact = spell("padir", 500);
    assert!(exact >= 95.0, "{exact} % exact matches");
}
