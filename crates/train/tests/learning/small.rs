//! Corpora with fewer pairs than a step has batches.

use std::fs;

use padir_train::trainer::{Ending, Start};

use crate::fixture::{config, folder, rows, run};

#[test]
fn empty_batches_add_nothing() {
    let losses = |kind: &str, accumulate: &str| {
        let folder = folder();
        for (name, lines) in
            [("train.x", "1 2\n3 4 5\n6\n"), ("train.y", "um dois\ntres quatro cinco\nseis\n")]
        {
            fs::write(folder.path().join(name), lines).unwrap();
        }
        let flags = [
            "run.max_epochs=5",
            "run.log_every=1",
            "run.decode.lines=0",
            "model.dropout_rate=0.0",
            "objective.z_loss=0.0",
            accumulate,
        ];
        let config = config(folder.path(), kind, &flags);
        assert_eq!(run(&config, Start::Begin).unwrap(), Ending::Epochs);
        let rows = rows(folder.path()).into_iter();
        rows.filter_map(|row| Some((row.tokens, *row.values.get("loss")?))).collect::<Vec<_>>()
    };
    for kind in ["ar", "padir"] {
        let padded = losses(kind, "optimiser.accumulate=8");
        assert_eq!(padded.len(), 5, "{kind}: an epoch is one step: {padded:?}");
        assert!(padded.iter().all(|(_, loss)| loss.is_finite()), "{kind}: {padded:?}");
        if kind == "ar" {
            // Three pairs in three of eight batches, or in one: the same mean.
            let plain = losses(kind, "batch.order=corpus");
            for ((tokens, a), (expected, b)) in padded.iter().zip(&plain) {
                assert_eq!(tokens, expected);
                assert!((a - b).abs() < 1e-3 * b, "{padded:?} {plain:?}");
            }
        }
    }
}
