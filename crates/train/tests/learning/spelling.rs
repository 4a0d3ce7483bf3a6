//! Networks that learn to spell numbers.

use std::sync::atomic::AtomicBool;

use padir_train::trainer::{Start, train};

use crate::fixture::{Witness, config, folder};

/// Trains until numbers are spelled right; gives the share of exact matches at the end.
fn spell(kind: &str, steps: u32) -> f64 {
    spell_with(kind, steps, &[])
}

/// The same with other settings.
fn spell_with(kind: &str, steps: u32, more: &[&str]) -> f64 {
    let folder = folder();
    let stop = AtomicBool::new(false);
    let flags = [
        format!("run.max_steps={steps}"),
        format!("optimiser.schedule.steps={steps}"),
        "run.save_every=100000".to_owned(),
        "model.dropout_rate=0.0".to_owned(),
        "run.decode.lines=500".to_owned(),
    ];
    let flags: Vec<&str> = flags.iter().map(String::as_str).chain(more.iter().copied()).collect();
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

/// Words have several pieces, and a short number has few tokens: more slots than usual.
const SLOTS: [&str; 3] =
    ["model.length.factor=4", "model.length.min_slots=16", "batch.max_source=60"];

#[test]
fn alignments_learn_to_spell() {
    let exact = spell_with("ctc", 300, &SLOTS);
    assert!(exact >= 95.0, "{exact} % exact matches");
}

/// Several stages learn to read alignments, and decoding in as many steps is as good.
#[test]
fn alignments_are_refined() {
    let more = [&SLOTS[..], &["objective.stages=2", "run.decode.steps=2"]].concat();
    let exact = spell_with("ctc", 250, &more);
    assert!(exact >= 95.0, "{exact} % exact matches");
}
