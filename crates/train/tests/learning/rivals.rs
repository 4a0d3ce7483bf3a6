//! Other systems' objectives: each learns a made-up language, and decodes by its own method.

use std::sync::atomic::AtomicBool;

use padir_checkpoint::Checkpoint;
use padir_decode::{Abilities, Decoding, Method};
use padir_train::trainer::{Start, train};
use padir_translate::{abilities_of, decoding_of};

use crate::fixture::{Witness, config, folder};

/// Objectives with the method that their models decode by.
const KINDS: [(&str, Method); 6] = [
    ("cmlm", Method::MaskPredict),
    ("smart", Method::MaskPredict),
    ("sundae", Method::Sundae),
    ("nat", Method::Refine),
    ("inat", Method::Refine),
    ("disco", Method::EasyFirst),
];

#[test]
fn rivals_learn_and_are_decoded_by_what_fits() {
    let flags = [
        "run.max_steps=120",
        "run.eval_every=120",
        "run.save_every=120",
        "run.log_every=1",
        "model.length.predictor=pooled",
        "model.length.hidden=32",
        "objective.length_sigma=0.5",
        "run.decode={lines=5, max_length=12}",
    ];
    for (kind, method) in KINDS {
        let folder = folder();
        let mut witness = Witness::default();
        let config = config(folder.path(), kind, &flags);
        train(&config, Start::Begin, &mut witness, &AtomicBool::new(false)).unwrap();
        let mean = |losses: &[(u64, f64)]| {
            losses.iter().map(|(_, loss)| loss).sum::<f64>() / losses.len() as f64
        };
        let (first, last) = (mean(&witness.losses[..10]), mean(&witness.losses[110..]));
        assert!(last < 0.6 * first, "{kind}: the loss fell from {first} to {last} only");
        let evaluation = witness.evaluations.last().unwrap();
        let statistics = &evaluation.statistics;
        let (at_1, at_5) =
            (statistics.length_accuracy().unwrap(), statistics.length_accuracy_at_5().unwrap());
        assert!(at_1 <= at_5 && at_5 > 0.8, "{kind}: {at_1} {at_5}");
        assert!(evaluation.outputs.iter().any(|text| !text.is_empty()), "{kind}");

        let checkpoint = Checkpoint::open(folder.path().join("run/final")).unwrap();
        let decoding = decoding_of(&checkpoint).unwrap();
        assert_eq!(decoding.method(), method, "{kind}");
        let abilities: Abilities = abilities_of(checkpoint.config());
        let wrong = if kind == "sundae" { Method::MaskPredict } else { Method::Sundae };
        let error = Decoding::of(wrong, &abilities).check_for(&abilities).unwrap_err().to_string();
        assert!(error.contains(&format!("trained with the objective \"{kind}\"")), "{error}");
    }
}
